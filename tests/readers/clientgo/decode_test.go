// SPDX-License-Identifier: Apache-2.0

package clientgo

// Objects decoded into the types of k8s.io/api. It needs SOCKET of an informerd; long/readers_clientgo.sh runs it.

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"informer"
)

func attach(t testing.TB) *informer.Informer {
	t.Helper()
	inf, err := informer.Attach(&informer.Options{Socket: os.Getenv("SOCKET")})
	must(t, err)
	t.Cleanup(func() { inf.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	must(t, inf.WaitSynced(ctx, "pods"))
	return inf
}

// scramble changes what a value has or points to, but for times and quantities.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int32, reflect.Int64:
		v.SetInt(^v.Int())
	case reflect.String:
		v.SetString("scrambled")
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		v.Clear()
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scramble(v.Field(i))
			}
		}
	}
}

// sameAsJSON decodes all objects of a resource, and by encoding/json.
func sameAsJSON[T any](t *testing.T, inf *informer.Informer, resource string) {
	t.Helper()
	snap, err := inf.Begin()
	if err != nil {
		t.Error(err)
		return
	}
	defer snap.End()
	n := 0
	for object, err := range snap.All(inf.Resource(resource)) {
		if err != nil {
			t.Errorf("%s: %v", resource, err)
			return
		}
		text, err := object.JSON()
		var ours, theirs T
		if err = errors.Join(err, json.Unmarshal(text, &theirs), object.Decode(&ours)); err != nil {
			t.Errorf("%s: %v: %s", resource, err, text)
			return
		}
		if !reflect.DeepEqual(&ours, &theirs) {
			a, _ := json.Marshal(&ours)
			b, _ := json.Marshal(&theirs)
			t.Errorf("%s\n%s\n%s\n%s", resource, text, a, b)
			return
		}
		scramble(reflect.ValueOf(&ours)) // no other object shares it
		n++
	}
	if n == 0 {
		t.Errorf("no %s", resource)
	}
}

func TestTypesAreAsEncodingJSONHasThem(t *testing.T) {
	inf := attach(t)
	for range 3 { // later from what was remembered
		sameAsJSON[corev1.Pod](t, inf, "pods")
		sameAsJSON[corev1.Node](t, inf, "nodes")
		sameAsJSON[corev1.Service](t, inf, "services")
		sameAsJSON[corev1.Namespace](t, inf, "namespaces")
		sameAsJSON[corev1.ConfigMap](t, inf, "configmaps")
		sameAsJSON[appsv1.Deployment](t, inf, "deployments.apps")
		sameAsJSON[appsv1.ReplicaSet](t, inf, "replicasets.apps")
		sameAsJSON[appsv1.DaemonSet](t, inf, "daemonsets.apps")
		sameAsJSON[batchv1.CronJob](t, inf, "cronjobs.batch")
		sameAsJSON[corev1.Secret](t, inf, "secrets")
		sameAsJSON[policyv1.PodDisruptionBudget](t, inf, "poddisruptionbudgets.policy")
		sameAsJSON[coordinationv1.Lease](t, inf, "leases.coordination.k8s.io")
		sameAsJSON[discoveryv1.EndpointSlice](t, inf, "endpointslices.discovery.k8s.io")
	}
}

func TestManyDecodeWhileObjectsChange(t *testing.T) {
	inf := attach(t)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 10 { // objects change all the time
				sameAsJSON[corev1.Pod](t, inf, "pods")
			}
		})
	}
	readers.Wait()
}

// ---- benchmarks

// pods are all pods of a snapshot, and the same as protobuf. Both stay, so that garbage is collected alike.
func pods(b *testing.B) (list []informer.Object, encoded [][]byte) {
	inf := attach(b)
	snap, err := inf.Begin()
	must(b, err)
	b.Cleanup(snap.End)
	for object, err := range snap.All(inf.Resource("pods")) {
		must(b, err)
		list = append(list, object)
		var pod corev1.Pod
		must(b, object.Decode(&pod))
		pod.APIVersion, pod.Kind = "v1", "Pod"
		text, err := runtime.Encode(coder, &pod)
		must(b, err)
		encoded = append(encoded, text)
	}
	b.Cleanup(func() { list, encoded = nil, nil })
	b.ReportAllocs()
	b.ResetTimer()
	return list, encoded
}

var coder = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func BenchmarkDecodePod(b *testing.B) {
	list, _ := pods(b)
	for i := 0; b.Loop(); i++ {
		var pod corev1.Pod
		must(b, list[i%len(list)].Decode(&pod))
	}
}

func BenchmarkProtobufPod(b *testing.B) {
	_, encoded := pods(b)
	for i := 0; b.Loop(); i++ {
		_, _, err := coder.Decode(encoded[i%len(encoded)], nil, &corev1.Pod{})
		must(b, err)
	}
}

func BenchmarkJSONPod(b *testing.B) {
	list, _ := pods(b)
	for i := 0; b.Loop(); i++ {
		var pod corev1.Pod
		text, err := list[i%len(list)].JSON()
		must(b, err)
		must(b, json.Unmarshal(text, &pod))
	}
}
