// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// A SharedInformerFactory is client-go's.
type SharedInformerFactory = informers.SharedInformerFactory

// A SharedInformerOption is an Option, by client-go's name.
type SharedInformerOption = Option

type factory struct {
	hub[reflect.Type]
}

// NewSharedInformerFactory makes a factory over informerd's cache. The client is not used: it is there so that
// the call is client-go's.
func NewSharedInformerFactory(client kubernetes.Interface, resync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, resync)
}

// NewFilteredSharedInformerFactory makes a factory of one namespace and of what the function selects.
func NewFilteredSharedInformerFactory(client kubernetes.Interface, resync time.Duration, namespace string,
	tweak internalinterfaces.TweakListOptionsFunc) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, resync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions makes a factory with options.
func NewSharedInformerFactoryWithOptions(_ kubernetes.Interface, resync time.Duration, options ...Option) SharedInformerFactory {
	f := &factory{}
	f.init(resync, options)
	return f
}

// kinds are the types of client-go's scheme, by their resources.
var kinds = sync.OnceValue(func() map[schema.GroupVersionResource]schema.GroupVersionKind {
	all := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		all[plural] = gvk
	}
	return all
})

// InformerFor is the informer of a type of client-go's scheme.
func (f *factory) InformerFor(object runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	known, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		panic(err) // a program's mistake: a type that client-go does not know
	}
	gvr, _ := meta.UnsafeGuessKindToResource(known[0])
	return f.hub.informer(reflect.TypeOf(object), gvr, object)
}

func (f *factory) InformerName() *cache.InformerName { return f.name }

func (f *factory) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return f.waitForCacheSync(wait.ContextForChannel(stop))
}

func (f *factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	result := cache.SyncResult{Synced: f.waitForCacheSync(ctx)}
	for _, synced := range result.Synced {
		if !synced {
			result.Err = context.Cause(ctx)
		}
	}
	return result
}

func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	gvk, ok := kinds()[gvr]
	if !ok {
		return nil, fmt.Errorf("no informer found for %v", gvr)
	}
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	return &generic{f.InformerFor(object, nil), gvr}, nil
}

// A generic is an informer by its resource's name.
type generic struct {
	informer cache.SharedIndexInformer
	gvr      schema.GroupVersionResource
}

func (g *generic) Informer() cache.SharedIndexInformer { return g.informer }

func (g *generic) Lister() cache.GenericLister {
	return cache.NewGenericLister(g.informer.GetIndexer(), g.gvr.GroupResource())
}
