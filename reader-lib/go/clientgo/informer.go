// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"informer"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// A sharedInformer is a cache.SharedIndexInformer over the arena. It is its own Controller.
type sharedInformer struct {
	scope
	example runtime.Object
	options informer.WatchOptions
	watches *handles
	resync  time.Duration // of handlers that have no period of their own
	indexes atomic.Pointer[indexes]
	synced  chan struct{}

	adding   sync.Mutex // held while indexes are replaced
	mu       sync.Mutex
	onError  cache.WatchErrorHandlerWithContext
	ctx      context.Context // nil: not started
	stopped  bool
	handlers map[*registration]bool
	often    time.Duration // the shortest period of a handler's resync; 0: there are no resyncs
	running  sync.WaitGroup
}

var _ cache.SharedIndexInformer = (*sharedInformer)(nil)
var _ cache.Controller = (*sharedInformer)(nil)

func (s *sharedInformer) Name() string                        { return "the informer of " + s.resource.String() }
func (s *sharedInformer) Done() <-chan struct{}               { return s.synced }
func (s *sharedInformer) HasSynced() bool                     { return cache.IsDone(s) }
func (s *sharedInformer) HasSyncedChecker() cache.DoneChecker { return s }
func (s *sharedInformer) GetController() cache.Controller     { return s }
func (s *sharedInformer) GetStore() cache.Store               { return s.GetIndexer() }
func (s *sharedInformer) GetIndexer() cache.Indexer           { return &store{&s.scope, s} }

func (s *sharedInformer) LastSyncResourceVersion() string {
	var info informer.ResourceInfo
	if !s.HasSynced() {
		return ""
	}
	err := s.read(func(snap informer.Snapshot) (err error) {
		info, err = snap.Info(s.resource)
		return err
	})
	s.complain(err)
	return info.ResourceVersion
}

// complain logs an error, and tells the WatchErrorHandler.
func (s *sharedInformer) complain(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	onError, ctx := s.onError, s.ctx
	s.mu.Unlock()
	if onError == nil || ctx == nil {
		klog.Background().Error(err, "The node's cache cannot be read", "resource", s.resource)
		return
	}
	// the handler of client-go's own, DefaultWatchErrorHandler, wants a reflector
	reflector := cache.NewReflectorWithOptions(&cache.ListWatch{}, s.example, nil,
		cache.ReflectorOptions{Name: s.Name(), TypeDescription: s.resource.String()})
	onError(ctx, reflector, err)
}

// ---- before the start

var errStarted = errors.New("the informer was started before")

func (s *sharedInformer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

func (s *sharedInformer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		return errStarted
	}
	s.onError = handler
	return nil
}

func (s *sharedInformer) SetTransform(transform cache.TransformFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		return errStarted
	}
	s.transform = transform
	return nil
}

// ---- run

func (s *sharedInformer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

func (s *sharedInformer) Run(stop <-chan struct{}) { s.RunWithContext(wait.ContextForChannel(stop)) }

func (s *sharedInformer) RunWithContext(ctx context.Context) {
	s.mu.Lock()
	if s.ctx != nil {
		s.mu.Unlock()
		klog.FromContext(ctx).Info("An informer runs only once", "resource", s.resource)
		return
	}
	s.ctx = ctx
	s.startIndexes(s.indexes.Load())
	for r := range s.handlers {
		s.start(r)
	}
	s.mu.Unlock()

	s.waitSynced(ctx)
	<-ctx.Done()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.running.Wait()
}

// waitSynced waits for the first list and the indexes. Each half minute without them it says why; each 5 s, if informerd
// does not cache the resource.
func (s *sharedInformer) waitSynced(ctx context.Context) {
	for ctx.Err() == nil {
		patience, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := s.inf.WaitSynced(patience, s.resource.String())
		cancel()
		switch {
		case err == nil:
			s.warnOfGaps()
			if s.waitIndexes(ctx) && s.waitHandlers(ctx) {
				close(s.synced)
			}
			return
		case errors.Is(err, informer.ErrClosed) || ctx.Err() != nil:
			return
		case errors.Is(err, informer.ErrNoResource):
			s.complain(fmt.Errorf("%w; add it with informerd --resource", err))
			select { // informerd may be started anew with it
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
		default:
			s.complain(fmt.Errorf("%s has not synced yet: %w", s.resource, err))
		}
	}
}

// waitIndexes waits for the indexes, also where others take their place. False: ctx ended.
func (s *sharedInformer) waitIndexes(ctx context.Context) bool {
	for ctx.Err() == nil {
		x := s.indexes.Load()
		select {
		case <-x.synced:
			return true
		case <-x.ended:
		case <-ctx.Done():
		}
	}
	return false
}

// waitHandlers waits until all handlers have what they are told first, so that what a program then does to these objects
// comes as their changes. False: ctx ended.
func (s *sharedInformer) waitHandlers(ctx context.Context) bool {
	s.mu.Lock()
	handlers := slices.Collect(maps.Keys(s.handlers))
	s.mu.Unlock()
	for _, r := range handlers {
		select {
		case <-r.begun:
		case <-r.ended: // it was removed
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// warnOfGaps complains if informerd caches less than the informer asks for.
func (s *sharedInformer) warnOfGaps() {
	s.read(func(snap informer.Snapshot) error {
		info, err := snap.Info(s.resource)
		if err != nil {
			return err
		}
		var gaps []string
		add := func(what, cached, asked string) {
			if cached != "" && !strings.Contains(","+asked+",", ","+cached+",") {
				gaps = append(gaps, what+" "+cached)
			}
		}
		add("namespace", info.Namespace, s.namespace)
		add("label selector", info.LabelSelector, s.options.LabelSelector)
		add("field selector", info.FieldSelector, s.options.FieldSelector)
		if info.MetadataOnly && !s.metadataOnly() {
			gaps = append(gaps, "metadata only")
		}
		if len(gaps) > 0 {
			s.complain(fmt.Errorf("%s: informerd caches less than this informer asks for: %s", s.resource,
				strings.Join(gaps, ", ")))
		}
		return nil
	})
}

func (s *sharedInformer) metadataOnly() bool {
	_, only := s.example.(*metav1.PartialObjectMetadata)
	return only
}

func (s *sharedInformer) watch() (*informer.Watch, error) {
	return s.watches.watch(s.resource.String(), &s.options)
}

// ---- indexes

func (s *sharedInformer) AddIndexers(more cache.Indexers) error {
	s.adding.Lock()
	defer s.adding.Unlock()
	old := s.indexes.Load()
	x, err := old.with(more)
	if err != nil {
		return err
	}
	s.mu.Lock()
	ctx, stopped := s.ctx, s.stopped
	if ctx != nil && !stopped {
		s.startIndexes(x)
	}
	if ctx == nil || !cache.IsDone(s) {
		s.indexes.Store(x)
	}
	s.mu.Unlock()
	if stopped {
		return errors.New("indexer was not added because it has stopped already") // client-go's words
	}
	if s.indexes.Load() != x { // as in client-go, the new index is complete at once
		select {
		case <-x.synced:
		case <-ctx.Done():
		}
		s.indexes.Store(x)
	}
	if old.stop != nil {
		old.stop()
	}
	return nil
}

// startIndexes with s.mu.
func (s *sharedInformer) startIndexes(x *indexes) {
	if len(x.names) == 0 {
		close(x.synced)
		return
	}
	var ctx context.Context
	ctx, x.stop = context.WithCancel(s.ctx)
	x.ended = ctx.Done()
	s.running.Go(func() { s.keepIndexes(ctx, x) })
}

func (s *sharedInformer) keepIndexes(ctx context.Context, x *indexes) {
	watch, err := s.watch()
	if err != nil {
		s.complain(err)
		return
	}
	defer watch.Close()
	for ctx.Err() == nil {
		first := true
		for change, err := range watch.Batch(ctx) {
			if err != nil {
				return
			}
			if first && s.HasSynced() && s.handled() {
				time.Sleep(handlersFirst)
			}
			first = false
			if made, err := change.Object.Made(); err == nil && change.Kind != informer.Deleted &&
				x.has(cache.ObjectName{Namespace: change.Namespace, Name: change.Name}.String(), made) {
				continue
			}
			change.HasOld = false
			if e, ok := s.event(change); ok && e.kind == informer.Synced {
				close(x.synced)
			} else if ok {
				s.indexIn(x, &e)
			}
		}
	}
}

// handlersFirst is how long the indexes' watch waits, so that a handler has made the same objects.
const handlersFirst = 2 * time.Millisecond

// handled: there is a handler.
func (s *sharedInformer) handled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.handlers) > 0
}

// index has an event's object in the indexes.
func (s *sharedInformer) index(e *event) { s.indexIn(s.indexes.Load(), e) }

func (s *sharedInformer) indexIn(x *indexes, e *event) {
	object := e.object
	if e.kind == informer.Deleted {
		object = nil
	}
	s.complain(x.set(e.key, object, e.made))
}

// ---- handlers

func (s *sharedInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration,
	error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

func (s *sharedInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, period time.Duration) (
	cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &period})
}

func (s *sharedInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (
	cache.ResourceEventHandlerRegistration, error) {
	r := &registration{informer: s, handler: handler, logger: ptr.Deref(options.Logger, klog.Background()),
		begun: make(chan struct{}), synced: make(chan struct{}), ended: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already",
			handler) // client-go's words
	}
	r.resync = s.periodLocked(ptr.Deref(options.ResyncPeriod, s.resync))
	s.handlers[r] = true
	if s.ctx != nil {
		s.start(r)
	}
	return r, nil
}

// periodLocked is client-go's period for a handler that asks for one: at least a second and, once the informer has been
// started, at least that of the others. Where the informer has none, its handlers have none.
func (s *sharedInformer) periodLocked(asked time.Duration) time.Duration {
	if asked <= 0 || s.often <= 0 {
		return 0
	}
	asked = max(asked, time.Second)
	if s.ctx != nil {
		return max(asked, s.often)
	}
	s.often = min(s.often, asked)
	return asked
}

// start with s.mu.
func (s *sharedInformer) start(r *registration) {
	var ctx context.Context
	ctx, r.stop = context.WithCancel(s.ctx)
	s.running.Go(func() { r.run(ctx) })
}

func (s *sharedInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok {
		return fmt.Errorf("a %T is no handle of this package", handle)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.handlers[r] {
		return nil // another informer's, or it was removed before
	}
	delete(s.handlers, r)
	if r.stop != nil {
		r.stop()
	} else {
		close(r.ended)
	}
	return nil
}

// event is what a change means to a handler or an index; not ok: nothing.
func (s *sharedInformer) event(c informer.Change) (e event, ok bool) {
	e = event{kind: c.Kind, initial: c.Initial, made: c.Cursor,
		key: cache.ObjectName{Namespace: c.Namespace, Name: c.Name}.String()}
	switch c.Kind {
	case informer.Trouble:
		if !c.Status.Recovered {
			s.complain(troubleOf(c.Status))
		}
		return e, false
	case informer.Synced:
		return e, true
	case informer.Added, informer.Updated, informer.Deleted:
	default:
		return e, false
	}
	var err error
	if c.Kind == informer.Deleted {
		e.object, err = s.lastState(c, e.key)
	} else if e.object, err = s.of(c.Object); err == nil {
		e.made, err = c.Object.Made()
	}
	if errors.Is(err, informer.ErrExpired) {
		return e, false // the watch tells it again
	}
	if err != nil {
		s.complain(fmt.Errorf("%s %s: %w", s.resource, e.key, err))
		return e, false
	}
	if e.old = e.object; c.HasOld {
		if old, err := s.of(c.Old); err == nil {
			e.old = old
		}
	}
	return e, true
}

// lastState is what OnDelete gets.
func (s *sharedInformer) lastState(c informer.Change, key string) (any, error) {
	var object any
	err := informer.ErrExpired
	if c.HasObject {
		object, err = s.of(c.Object)
	}
	switch {
	case errors.Is(err, informer.ErrExpired):
		nameless := reflect.New(reflect.TypeOf(s.example).Elem()).Interface()
		named, err := meta.Accessor(nameless)
		if err != nil {
			return nil, err
		}
		named.SetNamespace(c.Namespace)
		named.SetName(c.Name)
		named.SetUID(types.UID(c.UID))
		return cache.DeletedFinalStateUnknown{Key: key, Obj: named}, nil
	case err != nil || c.FinalStateKnown:
		return object, err
	}
	return cache.DeletedFinalStateUnknown{Key: key, Obj: object}, nil
}

// troubleOf is what informerd met, as client-go has it.
func troubleOf(status informer.WatchStatus) error {
	if status.Code == 0 {
		return fmt.Errorf("informerd: %s", status.Message)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(status.Code),
		Reason: metav1.StatusReason(status.Reason), Message: status.Message}}
}
