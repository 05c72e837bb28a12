// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// accounts are service accounts whose Pods may mount.
type accounts []struct{ namespace, name string }

// add takes a list as --allow has it.
func (a *accounts) add(list string) error {
	for _, one := range strings.Split(list, ",") {
		namespace, name, _ := strings.Cut(one, "/")
		for _, part := range []string{namespace, name} {
			if part == "" || strings.Contains(part, "/") || (strings.Contains(part, "*") && part != "*") {
				return fmt.Errorf("%q is not NAMESPACE/SERVICEACCOUNT, of which either may be *", one)
			}
		}
		*a = append(*a, struct{ namespace, name string }{namespace, name})
	}
	return nil
}

func (a accounts) have(namespace, name string) bool {
	for _, one := range a {
		if (one.namespace == "*" || one.namespace == namespace) && (one.name == "*" || one.name == name) {
			return true
		}
	}
	return false
}

// driver has the calls of a driver whose volumes are all ephemeral, and so needs no controller.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	nodeID  string
	source  string // the folder that is mounted
	pods    string // targets are below
	allowed accounts
	mounts  sync.Mutex // one change of mounts at a time: the kubelet repeats a call that takes long
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName, VendorVersion: version}, nil
}

func (d *driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(d.hasSource())}, nil
}

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.nodeID}, nil
}

func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (d *driver) hasSource() bool {
	info, err := os.Stat(d.source)
	return err == nil && info.IsDir()
}

// checkPublish says why a request is refused; nil: it is not.
func (d *driver) checkPublish(r *csi.NodePublishVolumeRequest) error {
	context, plain := r.GetVolumeContext(), r.GetVolumeCapability().GetMount()
	namespace, account := context["csi.storage.k8s.io/pod.namespace"], context["csi.storage.k8s.io/serviceAccount.name"]
	invalid := func(why string) error { return status.Error(codes.InvalidArgument, why) }
	switch {
	case r.GetVolumeId() == "":
		return invalid("volume_id is missing")
	case r.GetTargetPath() == "":
		return invalid("target_path is missing")
	case plain == nil:
		return invalid("volume_capability: only a mounted volume can be had, not a block device")
	case plain.GetFsType() != "" || len(plain.GetMountFlags()) > 0:
		return invalid("volume_capability: a filesystem and mount options cannot be chosen")
	case context["csi.storage.k8s.io/ephemeral"] != "true":
		return invalid("only ephemeral volumes can be had: write csi: in the Pod's volumes, not a PersistentVolume")
	case !r.GetReadonly():
		// A volume that can be written is the Pod's own to the kubelet, which has it relabelled for SELinux: other Pods would lose the socket.
		return invalid("the volume is read-only: the Pod's volume needs csi.readOnly: true")
	case namespace == "" || account == "":
		return invalid("the request names no Pod: the CSIDriver object needs podInfoOnMount: true")
	case !d.allowed.have(namespace, account):
		return status.Errorf(codes.PermissionDenied, "Pods of service account %s/%s may not mount informer's folder: informer-csi needs --allow=%s/%s",
			namespace, account, namespace, account)
	case !d.hasSource():
		return status.Errorf(codes.Unavailable, "%s is no folder on node %s: does informerd run there?", d.source, d.nodeID)
	}
	return nil
}

func (d *driver) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := d.checkPublish(r); err != nil {
		return nil, err
	}
	d.mounts.Lock()
	defer d.mounts.Unlock()
	if err := d.mount(r.TargetPath); err != nil {
		return nil, asStatus(r.TargetPath, err)
	}
	slog.Info("mounted", "pod", r.VolumeContext["csi.storage.k8s.io/pod.namespace"]+"/"+r.VolumeContext["csi.storage.k8s.io/pod.name"],
		"target", r.TargetPath)
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *driver) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume_id or target_path is missing")
	}
	d.mounts.Lock()
	defer d.mounts.Unlock()
	if err := d.unmount(r.TargetPath); err != nil {
		return nil, asStatus(r.TargetPath, err)
	}
	slog.Info("unmounted", "target", r.TargetPath)
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// asStatus has the code that CSI wants for what was wrong with a target.
func asStatus(target string, err error) error {
	code := codes.Internal
	switch {
	case errors.Is(err, errOutside), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EXDEV):
		code = codes.InvalidArgument
	case errors.Is(err, errOccupied):
		code = codes.AlreadyExists
	}
	return status.Errorf(code, "%s: %v", target, err)
}

// logFailures logs what the kubelet is refused; it tells the Pod's events the same.
func logFailures(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	answer, err := handler(ctx, request)
	if err != nil {
		slog.Warn("refused", "call", info.FullMethod, "code", status.Code(err), "why", status.Convert(err).Message())
	}
	return answer, err
}
