// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	"informer"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// settings of a factory.
type settings struct {
	handle       *informer.Informer
	watches      *handles
	socket       string
	cacheBytes   int
	kept         *kept
	namespace    string
	tweak        internalinterfaces.TweakListOptionsFunc
	resync       time.Duration
	customResync map[reflect.Type]time.Duration
	transform    cache.TransformFunc
	name         *cache.InformerName
}

// newSettings has a handle and kept values of its own where no option has them.
func newSettings(resync time.Duration, options []Option) (s settings, err error) {
	s = settings{resync: resync, cacheBytes: DefaultCacheBytes, customResync: map[reflect.Type]time.Duration{}}
	for _, option := range options {
		option(&s)
	}
	if s.kept == nil {
		s.kept = newKept(s.cacheBytes)
	}
	if s.handle == nil {
		s.handle, err = informer.Attach(&informer.Options{Socket: s.socket})
	}
	s.watches = &handles{all: []*informer.Informer{s.handle}}
	return s, err
}

// DefaultCacheBytes is what WithCacheBytes bounds without the option.
const DefaultCacheBytes = 1 << 20

// An Option of a factory.
type Option func(*settings)

// WithHandle has the factory read through a handle of the caller's, who closes it after Shutdown. Other handles are closed
// when the factory, its informers and their stores have been collected: until then, as in client-go, stores can be read.
func WithHandle(handle *informer.Informer) Option { return func(s *settings) { s.handle = handle } }

// WithSocket names informerd's socket; without it, informer.Options says where it is looked for.
func WithSocket(path string) Option { return func(s *settings) { s.socket = path } }

// WithCacheBytes bounds the values that the factory keeps of the objects that were used last. 0: none.
func WithCacheBytes(bytes int) Option { return func(s *settings) { s.cacheBytes = bytes } }

// Share makes one Option of several, for informers of NewSharedIndexInformer: all that get it, as their first option,
// read through one handle and keep values up to one WithCacheBytes. It fails where the socket's path is too long.
func Share(options ...Option) (Option, error) {
	common, err := newSettings(0, options)
	return func(s *settings) {
		resync := s.resync
		*s = common
		s.resync = resync
	}, err
}

// WithNamespace shows one namespace alone.
func WithNamespace(namespace string) Option { return func(s *settings) { s.namespace = namespace } }

// WithTweakListOptions narrows by the label and field selectors that the function sets. The field selector may
// have any path.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) Option {
	return func(s *settings) { s.tweak = tweak }
}

// WithCustomResyncConfig has a resync period for some types.
func WithCustomResyncConfig(periods map[metav1.Object]time.Duration) Option {
	return func(s *settings) {
		for object, period := range periods {
			s.customResync[reflect.TypeOf(object)] = period
		}
	}
}

// WithTransform has all objects go through a function.
func WithTransform(transform cache.TransformFunc) Option {
	return func(s *settings) { s.transform = transform }
}

// WithInformerName keeps the name, which client-go uses for metrics; there are none here.
func WithInformerName(name *cache.InformerName) Option { return func(s *settings) { s.name = name } }

// A hub is what factories share: a handle, and informers that start and stop together. K names an informer.
type hub[K comparable] struct {
	settings

	mu        sync.Mutex
	informers map[K]*sharedInformer
	started   map[K]bool
	running   sync.WaitGroup
	closing   bool
}

func (h *hub[K]) init(resync time.Duration, options []Option) {
	var err error
	if h.settings, err = newSettings(resync, options); err != nil {
		panic(err) // the socket's path is too long for any process; factories return no error
	}
	h.informers, h.started = map[K]*sharedInformer{}, map[K]bool{}
}

// informer is the one of this key; it is made if there is none.
func (h *hub[K]) informer(key K, gvr schema.GroupVersionResource, example runtime.Object) *sharedInformer {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.informers[key]
	if s == nil {
		s = newSharedInformer(&h.settings, gvr, example)
		s.indexes.Store(newIndexes(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
		h.informers[key] = s
	}
	return s
}

// NewSharedIndexInformer makes an informer without a factory: of a resource, with objects of the example's type,
// which may be any that has the resource's fields, *unstructured.Unstructured or *metav1.PartialObjectMetadata.
func NewSharedIndexInformer(gvr schema.GroupVersionResource, example runtime.Object, resync time.Duration,
	indexers cache.Indexers, options ...Option) cache.SharedIndexInformer {
	var h hub[struct{}]
	h.init(resync, options)
	s := newSharedInformer(&h.settings, gvr, example)
	s.indexes.Store(newIndexes(indexers))
	return s
}

func (h *hub[K]) Start(stop <-chan struct{}) { h.StartWithContext(wait.ContextForChannel(stop)) }

func (h *hub[K]) StartWithContext(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return
	}
	for key, s := range h.informers {
		if !h.started[key] {
			h.started[key] = true
			h.running.Go(func() { s.RunWithContext(ctx) })
		}
	}
}

func (h *hub[K]) Shutdown() {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.running.Wait()
	h.name.Release()
}

// waitForCacheSync tells of each started informer whether it has synced before ctx ended.
func (h *hub[K]) waitForCacheSync(ctx context.Context) map[K]bool {
	synced := map[K]bool{}
	h.mu.Lock()
	informers := maps.Clone(h.informers)
	maps.DeleteFunc(informers, func(key K, _ *sharedInformer) bool { return !h.started[key] })
	h.mu.Unlock()
	for key, s := range informers {
		select {
		case <-s.Done():
		case <-ctx.Done():
		}
		synced[key] = s.HasSynced()
	}
	return synced
}

// nameOf a resource, as informerd takes it.
func nameOf(gvr schema.GroupVersionResource) string {
	if gvr.Group == "" {
		return gvr.Resource + "." + gvr.Version
	}
	return gvr.Resource + "." + gvr.Version + "." + gvr.Group
}

func newSharedInformer(h *settings, gvr schema.GroupVersionResource, example runtime.Object) *sharedInformer {
	s := &sharedInformer{example: example, watches: h.watches, synced: make(chan struct{}), handlers: map[*registration]bool{}}
	var ok bool
	if s.resync, ok = h.customResync[reflect.TypeOf(example)]; !ok {
		s.resync = h.resync
	}
	s.often = s.resync
	var list metav1.ListOptions
	if h.tweak != nil {
		h.tweak(&list)
	}
	s.options = informer.WatchOptions{Namespace: h.namespace, LabelSelector: list.LabelSelector,
		FieldSelector: list.FieldSelector}
	labels, err := informer.CompileLabelSelector(list.LabelSelector)
	fields, err2 := informer.CompileFieldSelector(list.FieldSelector)
	if err = errors.Join(err, err2); err != nil {
		panic(err) // as for a label selector that the API server refuses, there is no error to return
	}
	s.scope = scope{inf: h.handle, resource: h.handle.Resource(nameOf(gvr)), namespace: h.namespace,
		labels: labels, fields: fields, selects: list.LabelSelector != "" || list.FieldSelector != "",
		objects: &objects{make: makerOf(example), transform: h.transform, kept: h.kept}}
	return s
}
