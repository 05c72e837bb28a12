// SPDX-License-Identifier: Apache-2.0

// Package sim is what client-go's own tests write to: informer-sim, or another API server, in the place of client-go's
// fakes and by their names. It needs KUBECONFIG, and INFORMER_SOCKET of an informerd that caches the resources of
// informer-sim and those of long/readers_client_go_own.sh.
package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"informer"
)

const patience = 20 * time.Second

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func config() *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.QPS = -1
	return config
}

// connections to the API server.
var connections = sync.OnceValue(func() *http.Client {
	client, err := rest.HTTPClientFor(config())
	must(err)
	return client
})

// server is a client of the API server.
var server = sync.OnceValue(func() *dynamic.DynamicClient {
	client, err := dynamic.NewForConfigAndClient(dynamic.ConfigFor(config()), connections())
	must(err)
	return client
})

// node is the handle by which the writers see that informerd has what they wrote.
var node = sync.OnceValue(func() *informer.Informer {
	handle, err := informer.Attach(nil)
	must(err)
	return handle
})

// Close ends what this package holds.
func Close() {
	node().Close()
	connections().CloseIdleConnections()
}

var serial atomic.Int64

// Pods is the resource of a FakeControllerSource.
var Pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// A FakeControllerSource is client-go's by its methods. Objects that have no namespace get its own, in which nothing else
// is.
type FakeControllerSource struct {
	ListError error // without a meaning: informerd lists

	Namespace string
	gvr       schema.GroupVersionResource
	mu        sync.Mutex
	last      *unstructured.Unstructured // what was written last
	gone      bool                       // last was deleted
}

func NewFakeControllerSource() *FakeControllerSource { return NewSource(Pods) }

// NewSource is a source of another resource.
func NewSource(gvr schema.GroupVersionResource) *FakeControllerSource {
	return &FakeControllerSource{gvr: gvr, Namespace: fmt.Sprintf("own-%d-%d", os.Getpid(), serial.Add(1))}
}

func (s *FakeControllerSource) Add(object runtime.Object)    { s.put(object) }
func (s *FakeControllerSource) Modify(object runtime.Object) { s.put(object) }
func (s *FakeControllerSource) Shutdown()                    {}

// put creates or replaces an object, which becomes what the API server answers.
func (s *FakeControllerSource) put(object runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content := s.contentOf(object)
	in := server().Resource(s.gvr).Namespace(content.GetNamespace())
	made, err := in.Create(context.Background(), content, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		made, err = in.Get(context.Background(), content.GetName(), metav1.GetOptions{})
		must(err)
		content.SetResourceVersion(made.GetResourceVersion())
		made, err = in.Update(context.Background(), content, metav1.UpdateOptions{})
	}
	must(err)
	s.last, s.gone = made, false
	become(object, made)
}

func (s *FakeControllerSource) Delete(object runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content := s.contentOf(object)
	err := server().Resource(s.gvr).Namespace(content.GetNamespace()).Delete(context.Background(), content.GetName(),
		metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		must(err)
	}
	s.last, s.gone = content, true
}

// contentOf an object, as the API server takes it whatever it has.
func (s *FakeControllerSource) contentOf(object runtime.Object) *unstructured.Unstructured {
	text, err := json.Marshal(object)
	must(err)
	content := &unstructured.Unstructured{}
	must(json.Unmarshal(text, &content.Object))
	if kind, ok := kindOf(object); ok {
		content.SetGroupVersionKind(kind)
	}
	if content.GetNamespace() == "" {
		content.SetNamespace(s.Namespace)
	}
	content.SetResourceVersion("")
	content.SetUID("")
	return content
}

// become makes an object what the API server has, without the managedFields that informerd drops. An object of a type
// with fields has no kind, as in client-go.
func become(object runtime.Object, made *unstructured.Unstructured) {
	made.SetManagedFields(nil)
	text, err := json.Marshal(made)
	must(err)
	into := reflect.ValueOf(object).Elem()
	into.SetZero()
	must(json.Unmarshal(text, object))
	if _, ok := kindOf(object); ok {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
}

// kindOf an object whose type says it.
func kindOf(object runtime.Object) (kind schema.GroupVersionKind, ok bool) {
	if _, any := object.(*unstructured.Unstructured); any {
		return kind, false
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return kind, false
	}
	return kinds[0], true
}

// Settle waits until informerd has what was written: an informer that starts now has it at first.
func (s *FakeControllerSource) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil {
		settled(s.gvr, s.last, s.gone)
	}
}

func settled(gvr schema.GroupVersionResource, state metav1.Object, gone bool) {
	name := gvr.Resource + "." + gvr.Version
	if gvr.Group != "" {
		name += "." + gvr.Group
	}
	resource := node().Resource(name)
	waitFor(name+" "+state.GetName(), func() bool {
		var there bool
		err := node().View(func(snap informer.Snapshot) error {
			o, err := snap.Get(resource, state.GetNamespace(), state.GetName())
			if there = err == nil; !there || gone {
				return err
			}
			version, err := o.ResourceVersion()
			there = version == state.GetResourceVersion()
			return err
		})
		return there != gone && (err == nil || errors.Is(err, informer.ErrNotFound))
	})
}

func waitFor(what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			panic("informerd has not got " + what)
		}
	}
}

// Empty deletes all objects of a resource, and waits until informerd has none.
func Empty(gvr schema.GroupVersionResource) {
	list, err := server().Resource(gvr).List(context.Background(), metav1.ListOptions{})
	must(err)
	must(meta.EachListItem(list, func(o runtime.Object) error {
		object := o.(*unstructured.Unstructured)
		err := server().Resource(gvr).Namespace(object.GetNamespace()).Delete(context.Background(), object.GetName(),
			metav1.DeleteOptions{})
		if err == nil {
			settled(gvr, object, true)
		}
		return err
	}))
}
