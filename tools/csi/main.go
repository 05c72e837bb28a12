// SPDX-License-Identifier: Apache-2.0

// informer-csi is a CSI driver: an ephemeral volume with the folder of informerd's socket, for Pods that may not use hostPath.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const driverName = "informer" // the name of the CSIDriver, and what Pods write: a DNS name of one label

var version = "unknown" // set by the linker

const help = `usage: informer-csi --allow NAMESPACE/SERVICEACCOUNT [flags]

A CSI driver for the kubelet of this node. It gives Pods the folder of informerd's socket as a read-only volume:

  volumes:
  - {name: informer, csi: {driver: informer, readOnly: true}}

informerd admits by user and group, and each reader sees every cached object. So a Pod also needs a group of informerd's
access.gids, as supplementalGroups.

  --allow LIST             service accounts whose Pods may mount, NAMESPACE/NAME with commas between; * for either part;
                           repeatable; default: none.
                           A user who can create Pods in a namespace can use each account there.
  --source DIR             the folder to mount; default: /run/informer
  --node-id NAME           this node's name; default: $NODE_NAME
  --kubelet-dir DIR        the kubelet's --root-dir; targets must be below DIR/pods; default: /var/lib/kubelet
  --endpoint PATH          this driver's socket, at the path that the kubelet sees; its folder must exist;
                           default: KUBELET_DIR/plugins/informer/csi.sock
  --registration-dir DIR   where the kubelet looks for drivers; default: KUBELET_DIR/plugins_registry
  --help                   this text
  --version                the version

It needs Linux 5.12, CAP_SYS_ADMIN, and KUBELET_DIR/pods with mount propagation "Bidirectional".
It ends with 2 for wrong flags, and with 1 if the kubelet refuses the registration.
`

type settings struct {
	driver
	endpoint, registrationDir string
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	kubeletDir, showVersion := "", false
	flags := flag.NewFlagSet("informer-csi", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Func("allow", "", s.allowed.add)
	flags.StringVar(&s.source, "source", "/run/informer", "")
	flags.StringVar(&s.nodeID, "node-id", os.Getenv("NODE_NAME"), "")
	flags.StringVar(&kubeletDir, "kubelet-dir", "/var/lib/kubelet", "")
	flags.StringVar(&s.endpoint, "endpoint", "", "")
	flags.StringVar(&s.registrationDir, "registration-dir", "", "")
	flags.BoolVar(&showVersion, "version", false, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Print(help)
		}
		return nil, err
	}
	if showVersion {
		fmt.Println("informer-csi", version)
		return nil, flag.ErrHelp
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("what is %q?", flags.Arg(0))
	}
	if s.nodeID == "" {
		return nil, errors.New("--node-id is missing, and NODE_NAME is not set")
	}
	if s.endpoint == "" {
		s.endpoint = filepath.Join(kubeletDir, "plugins", driverName, "csi.sock")
	}
	if s.registrationDir == "" {
		s.registrationDir = filepath.Join(kubeletDir, "plugins_registry")
	}
	s.pods = filepath.Join(kubeletDir, "pods")
	for _, path := range []string{s.source, s.endpoint, s.registrationDir, s.pods} {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("%q is not an absolute path", path)
		}
	}
	return s, nil
}

// listen replaces the socket of a driver that was killed.
func listen(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", path)
}

// registrar answers the kubelet, which finds its socket in the registration folder.
type registrar struct {
	registration.UnsafeRegistrationServer
	endpoint string
	refused  chan<- error
}

func (r *registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: driverName, Endpoint: r.endpoint,
		SupportedVersions: []string{"1.0.0"}}, nil
}

func (r *registrar) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if s.PluginRegistered {
		slog.Info("registered with the kubelet", "driver", driverName)
	} else {
		// the kubelet asks again only a driver that has started again
		select {
		case r.refused <- fmt.Errorf("the kubelet refuses the registration: %s", s.Error):
		default:
		}
	}
	return &registration.RegistrationStatusResponse{}, nil
}

// serve runs until SIGTERM, or until something fails.
func serve(s *settings) error {
	unix.Umask(0o077) // the sockets are root's, and so the kubelet's
	// the driver first: the kubelet calls it as soon as it finds the registrar
	endpoint, err := listen(s.endpoint)
	if err != nil {
		return err
	}
	defer endpoint.Close()
	registry, err := listen(filepath.Join(s.registrationDir, driverName+"-reg.sock"))
	if err != nil {
		return err
	}
	ended := make(chan error, 3)
	server := grpc.NewServer(grpc.UnaryInterceptor(logFailures))
	csi.RegisterIdentityServer(server, &s.driver)
	csi.RegisterNodeServer(server, &s.driver)
	registering := grpc.NewServer()
	registration.RegisterRegistrationServer(registering, &registrar{endpoint: s.endpoint, refused: ended})
	go func() { ended <- server.Serve(endpoint) }()
	go func() { ended <- registering.Serve(registry) }()

	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	registering.GracefulStop()
	server.GracefulStop()
	return err
}

func main() {
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "informer-csi: %v (--help has the flags)\n", err)
		os.Exit(2)
	}
	if len(s.allowed) == 0 {
		slog.Warn("no Pod may mount: --allow is missing")
	}
	if err := serve(s); err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}
