// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"sync"
	"time"

	"informer"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A registration is a handler with a watch of its own. Its goroutine takes some changes off the watch, makes their
// objects, and then calls the handler: while the handler is at work, no snapshot is open.
type registration struct {
	informer *sharedInformer
	handler  cache.ResourceEventHandler
	logger   klog.Logger
	resync   time.Duration
	due      time.Time     // of the next resync; zero: none before the first list was told
	begun    chan struct{} // closed when the first objects were taken
	synced   chan struct{}
	ended    chan struct{}      // closed when no call comes any more
	stop     context.CancelFunc // nil: it was not started; with informer.mu
}

// An event is what a handler is called with.
type event struct {
	kind        informer.ChangeKind // Added, Updated, Deleted, Synced
	key         string
	object, old any
	initial     bool
	made        informer.Cursor // the change that made the object, or that deleted it
}

func (r *registration) HasSynced() bool                     { return cache.IsDone(r) }
func (r *registration) HasSyncedChecker() cache.DoneChecker { return r }
func (r *registration) Done() <-chan struct{}               { return r.synced }
func (r *registration) Name() string                        { return r.informer.Name() + ", a handler" }

// ShutdownChan is for cache.ShutDownEventHandler, which waits for it.
func (r *registration) ShutdownChan() <-chan struct{} { return r.ended }

// run until ctx ends. Events that the handler did not get by then are not told.
func (r *registration) run(ctx context.Context) {
	defer close(r.ended)
	begun := sync.OnceFunc(func() { close(r.begun) })
	defer begun()
	watch, err := r.informer.watch()
	if err != nil {
		r.informer.complain(err)
		return
	}
	defer watch.Close()
	var events []event
	for ctx.Err() == nil {
		events = r.take(ctx, watch, events[:0])
		if len(events) > 0 {
			begun()
		}
		for i := range events {
			if ctx.Err() == nil {
				r.tell(ctx, &events[i])
			}
			events[i] = event{} // what it holds may be freed
		}
		if !r.due.IsZero() && !time.Now().Before(r.due) {
			r.resyncAll(ctx)
			r.due = time.Now().Add(r.resync)
		}
	}
}

// take appends the events that are at hand; it waits for the first, until ctx ends or a resync is due.
func (r *registration) take(ctx context.Context, watch *informer.Watch, events []event) []event {
	if !r.due.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.due)
		defer cancel()
	}
	for change, err := range watch.Batch(ctx) {
		if err != nil {
			break
		}
		if e, ok := r.informer.event(change); ok {
			events = append(events, e)
		}
	}
	return events
}

func (r *registration) tell(ctx context.Context, e *event) {
	if e.kind == informer.Synced {
		if r.resync > 0 {
			r.due = time.Now().Add(r.resync)
		}
		close(r.synced)
		return
	}
	r.informer.index(e) // a handler sees no index that is older than its event
	r.call(ctx, func() {
		switch e.kind {
		case informer.Added:
			r.handler.OnAdd(e.object, e.initial)
		case informer.Updated:
			r.handler.OnUpdate(e.old, e.object)
		case informer.Deleted:
			r.handler.OnDelete(e.object)
		}
	})
}

// call has f call the handler. If that panics, and utilruntime.ReallyCrash is false, it waits a second, as client-go
// does, and the handler gets its next event.
func (r *registration) call(ctx context.Context, f func()) {
	returned := false
	func() {
		defer utilruntime.HandleCrashWithLogger(r.logger)
		f()
		returned = true
	}()
	if !returned {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// resyncAll tells an update of each object, from itself to itself.
func (r *registration) resyncAll(ctx context.Context) {
	keys, err := r.informer.keys("")
	if err != nil {
		r.informer.complain(err)
	}
	for _, key := range keys {
		if ctx.Err() != nil {
			return
		}
		object, err := r.informer.get(key)
		if err != nil {
			r.informer.complain(err)
		} else if object != nil {
			r.call(ctx, func() { r.handler.OnUpdate(object, object) })
		}
	}
}
