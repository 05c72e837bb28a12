// SPDX-License-Identifier: Apache-2.0

// kubelet says to a CSI driver what the kubelet of Kubernetes 1.36 says (pkg/kubelet/pluginmanager, pkg/volume/csi), one call a run:
//
//	kubelet register SOCKET             what the driver is; the endpoint is the last line
//	kubelet refuse SOCKET               its registration is refused
//	kubelet probe SOCKET
//	kubelet publish SOCKET TARGET [NAME=VALUE...]   of an inline volume, changed by these (see change)
//	kubelet unpublish SOCKET TARGET
//	kubelet restricted                  whether the Pod on standard input complies with Pod Security's "restricted"
//
// It prints the answer, or the gRPC code and message, and then exits 1.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const info = "csi.storage.k8s.io/"

func end(err error) {
	if err == nil {
		return
	}
	s := status.Convert(err)
	fmt.Println(s.Code(), s.Message())
	os.Exit(1)
}

// inline is the kubelet's request for spec.volumes[].csi with readOnly: true.
func inline(target string) *csi.NodePublishVolumeRequest {
	return &csi.NodePublishVolumeRequest{VolumeId: "csi-0123456789abcdef", TargetPath: target, Readonly: true,
		VolumeCapability: &csi.VolumeCapability{
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}},
		VolumeContext: map[string]string{info + "pod.name": "agent-x", info + "pod.namespace": "agents", info + "pod.uid": "0-1",
			info + "serviceAccount.name": "agent", info + "ephemeral": "true"}}
}

// change is another Pod's or volume's request: readonly, block, fstype, or what podInfoOnMount tells, which is left out without a value.
func change(r *csi.NodePublishVolumeRequest, name, value string) {
	switch name {
	case "readonly":
		r.Readonly = value == "true"
	case "block":
		r.VolumeCapability.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
	case "fstype":
		r.VolumeCapability.GetMount().FsType = value
	default:
		r.VolumeContext[info+name] = value
		if value == "" {
			delete(r.VolumeContext, info+name)
		}
	}
}

func register(ctx context.Context, c grpc.ClientConnInterface) error {
	i, err := registration.NewRegistrationClient(c).GetInfo(ctx, &registration.InfoRequest{})
	if err != nil {
		return err
	}
	driver, err := grpc.NewClient("unix:"+i.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer driver.Close()
	plugin, err := csi.NewIdentityClient(driver).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
	if err != nil {
		return err
	}
	node, err := csi.NewNodeClient(driver).NodeGetInfo(ctx, &csi.NodeGetInfoRequest{})
	if err != nil {
		return err
	}
	fmt.Printf("%s %s %v\n%s %s\n%s\n%s\n", i.Type, i.Name, i.SupportedVersions, plugin.Name, plugin.VendorVersion, node.NodeId, i.Endpoint)
	return notify(ctx, c, &registration.RegistrationStatus{PluginRegistered: true})
}

func notify(ctx context.Context, c grpc.ClientConnInterface, s *registration.RegistrationStatus) error {
	_, err := registration.NewRegistrationClient(c).NotifyRegistrationStatus(ctx, s)
	return err
}

func call(c grpc.ClientConnInterface, what string, args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	node := csi.NewNodeClient(c)
	switch what {
	case "register":
		return register(ctx, c)
	case "refuse":
		return notify(ctx, c, &registration.RegistrationStatus{Error: "another driver has this name"})
	case "probe":
		answer, err := csi.NewIdentityClient(c).Probe(ctx, &csi.ProbeRequest{})
		fmt.Println("ready:", answer.GetReady().GetValue())
		return err
	case "publish":
		r := inline(args[0])
		for _, arg := range args[1:] {
			name, value, _ := strings.Cut(arg, "=")
			change(r, name, value)
		}
		_, err := node.NodePublishVolume(ctx, r)
		return err
	case "unpublish":
		_, err := node.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{VolumeId: "csi-0123456789abcdef", TargetPath: args[0]})
		return err
	}
	return fmt.Errorf("unknown: %s", what)
}

func restricted() error {
	var pod corev1.Pod
	if err := json.NewDecoder(os.Stdin).Decode(&pod); err != nil {
		return err
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	if result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
		return fmt.Errorf("%s: %s", result.ForbiddenReason(), result.ForbiddenDetail())
	}
	return nil
}

func main() {
	if os.Args[1] == "restricted" {
		end(restricted())
		return
	}
	c, err := grpc.NewClient("unix:"+os.Args[2], grpc.WithTransportCredentials(insecure.NewCredentials()))
	end(err)
	end(call(c, os.Args[1], os.Args[3:]))
}
