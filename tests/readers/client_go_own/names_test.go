// SPDX-License-Identifier: Apache-2.0

package clientgo

// What client-go's tests of package cache need to be tests of this package: its names, and internals of an informer by
// ours. long/readers_client_go_own.sh puts this file and them into a copy of reader-lib/go/clientgo.

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"informer/clientgo/sim"
)

type (
	DeletedFinalStateUnknown          = cache.DeletedFinalStateUnknown
	HandlerOptions                    = cache.HandlerOptions
	IndexFunc                         = cache.IndexFunc
	Indexer                           = cache.Indexer
	Indexers                          = cache.Indexers
	Reflector                         = cache.Reflector
	ResourceEventHandler              = cache.ResourceEventHandler
	ResourceEventHandlerDetailedFuncs = cache.ResourceEventHandlerDetailedFuncs
	ResourceEventHandlerFuncs         = cache.ResourceEventHandlerFuncs
	ResourceEventHandlerRegistration  = cache.ResourceEventHandlerRegistration
	SharedInformer                    = cache.SharedInformer
	sharedIndexInformer               = sharedInformer
)

var (
	MetaNamespaceKeyFunc = cache.MetaNamespaceKeyFunc
	ShutDownEventHandler = cache.ShutDownEventHandler
	WaitFor              = cache.WaitFor
	WaitForCacheSync     = cache.WaitForCacheSync
)

var sharedProcessorRunHook atomic.Pointer[func()] // its test is not run

func TestMain(m *testing.M) {
	code := m.Run()
	theEnd()
	sim.Close()
	err := error(nil)
	for range 10 {
		goruntime.GC() // closes the handles of informers that nobody has any more, some turns after it found them
		if err = goleak.Find(); err == nil {
			break
		}
	}
	if err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

// NewSharedInformer is of what the source has.
func NewSharedInformer(source *sim.FakeControllerSource, example runtime.Object, resync time.Duration) SharedInformer {
	source.Settle()
	return NewSharedIndexInformer(sim.Pods, example, resync, Indexers{}, WithNamespace(source.Namespace))
}

func eventHandlerCount(i SharedInformer) int {
	s := i.(*sharedInformer)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.handlers)
}

func isStarted(i SharedInformer) bool {
	s := i.(*sharedInformer)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx != nil
}

func isRegistered(i SharedInformer, handle ResourceEventHandlerRegistration) bool {
	s := i.(*sharedInformer)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[handle.(*registration)]
}

// ---- an Indexer of pods that tests write to

type writable struct {
	Indexer
	source *sim.FakeControllerSource
	told   chan string // the versions of which the informer's handler is told; "": a deletion
}

var untilTheEnd, theEnd = context.WithCancel(context.Background())

func NewIndexer(_ cache.KeyFunc, indexers Indexers) Indexer {
	w := &writable{source: sim.NewFakeControllerSource(), told: make(chan string)}
	informer := NewSharedIndexInformer(sim.Pods, &corev1.Pod{}, 0, indexers, WithNamespace(w.source.Namespace))
	informer.AddEventHandler(ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.told <- object.(*corev1.Pod).ResourceVersion },
		UpdateFunc: func(_, object any) { w.told <- object.(*corev1.Pod).ResourceVersion },
		DeleteFunc: func(any) { w.told <- "" },
	})
	go informer.RunWithContext(untilTheEnd)
	w.Indexer = informer.GetIndexer()
	return w
}

// What is written is in the Indexer when the call returns, as it is when a handler is told of it.

func (w *writable) Add(object any) error    { return w.put(object) }
func (w *writable) Update(object any) error { return w.put(object) }

func (w *writable) put(object any) error {
	made := object.(*corev1.Pod).DeepCopy()
	w.source.Add(made)
	return w.await(made.ResourceVersion)
}

func (w *writable) Delete(object any) error {
	w.source.Delete(object.(*corev1.Pod))
	return w.await("")
}

func (w *writable) await(version string) error {
	if told := <-w.told; told != version {
		return fmt.Errorf("the informer told of %q, not %q", told, version)
	}
	return nil
}
