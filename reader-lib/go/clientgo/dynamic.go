// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"
)

// A byResource is a factory whose informers have one Go type for all resources.
type byResource struct {
	hub[schema.GroupVersionResource]
	example runtime.Object
	lister  listerOf
}

// A listerOf makes client-go's lister over an indexer.
type listerOf func(cache.Indexer, schema.GroupVersionResource) cache.GenericLister

func newByResource(example runtime.Object, lister listerOf, resync time.Duration, options []Option) *byResource {
	f := &byResource{example: example, lister: lister}
	f.init(resync, options)
	return f
}

func (f *byResource) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	return &listed{generic{f.hub.informer(gvr, gvr, f.example), gvr}, f.lister}
}

func (f *byResource) WaitForCacheSync(stop <-chan struct{}) map[schema.GroupVersionResource]bool {
	return f.waitForCacheSync(wait.ContextForChannel(stop))
}

// A listed is a generic whose lister is client-go's for its Go type.
type listed struct {
	generic
	lister listerOf
}

func (l *listed) Lister() cache.GenericLister { return l.lister(l.informer.GetIndexer(), l.gvr) }

// NewDynamicSharedInformerFactory makes informers of any resource, custom ones too, whose objects are
// *unstructured.Unstructured. The client is not used.
func NewDynamicSharedInformerFactory(_ dynamic.Interface, resync time.Duration,
	options ...Option) dynamicinformer.DynamicSharedInformerFactory {
	return newByResource(&unstructured.Unstructured{}, listUnstructured, resync, options)
}

func listUnstructured(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
	return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(indexer, gvr))
}

// NewFilteredDynamicSharedInformerFactory is NewDynamicSharedInformerFactory for one namespace and what the
// function selects.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, resync time.Duration, namespace string,
	tweak dynamicinformer.TweakListOptionsFunc) dynamicinformer.DynamicSharedInformerFactory {
	return NewDynamicSharedInformerFactory(client, resync, WithNamespace(namespace),
		WithTweakListOptions(internalinterfaces.TweakListOptionsFunc(tweak)))
}

// NewMetadataSharedInformerFactory makes informers whose objects are *metav1.PartialObjectMetadata. The client
// is not used.
func NewMetadataSharedInformerFactory(_ metadata.Interface, resync time.Duration,
	options ...Option) metadatainformer.SharedInformerFactory {
	return newByResource(&metav1.PartialObjectMetadata{}, listMetadata, resync, options)
}

// NewFilteredMetadataSharedInformerFactory is NewMetadataSharedInformerFactory for one namespace and what the
// function selects.
func NewFilteredMetadataSharedInformerFactory(client metadata.Interface, resync time.Duration, namespace string,
	tweak metadatainformer.TweakListOptionsFunc) metadatainformer.SharedInformerFactory {
	return NewMetadataSharedInformerFactory(client, resync, WithNamespace(namespace),
		WithTweakListOptions(internalinterfaces.TweakListOptionsFunc(tweak)))
}

func listMetadata(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
	return metadatalister.NewRuntimeObjectShim(metadatalister.New(indexer, gvr))
}
