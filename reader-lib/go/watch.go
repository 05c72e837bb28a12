// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"sync/atomic"
	"time"
)

// A Cursor is a position in the order of changes: everything up to Seq came. Seq only grows while Lineage is
// the same.
type Cursor struct {
	Lineage [16]byte
	Seq     uint64
}

// WatchOptions narrow a watch; the zero value watches all objects.
type WatchOptions struct {
	Namespace string
	// An update after which an object matches is an Added; after which it no longer matches, a Deleted.
	LabelSelector, FieldSelector string
	// A selector that is a function. Its answer must depend on the object alone.
	Filter func(Object) bool
	// Under a consumer's name, at most 91 bytes, informerd remembers for this user how far the watch got.
	// After a restart of its process the watch goes on from there, without initial objects; events that were
	// not acknowledged come again. One process at a time may use a name.
	Consumer string
	// With Consumer: changes are done when Acknowledge says so. False: when the loop asks for the next one.
	ManualAck bool
	// Entries of the queue in shared memory; 0: 4,096. informerd may give fewer.
	Entries int
	// The watch's name in informerctl stat. "": the consumer's, else the handle's.
	Name string
}

// ChangeKind says what a Change is.
type ChangeKind uint8

const (
	Added       ChangeKind = iota + 1 // Object
	Updated                           // Object; Old, if it is known
	Deleted                           // Object in its last state, if HasObject
	Synced                            // the first list is in, and every object that was there came
	Coalesced                         // changes were missed: one for each key follows, with its newest state
	ResyncBegin                       // every present object follows: informerd does not have the cursor
	ResyncEnd                         // an object that did not come since is gone
	Trouble                           // what informerd met while it listed or watched: Status
)

// A Change is a change of an object, or a mark between changes. Its objects belong to the loop's current round.
type Change struct {
	Kind            ChangeKind
	Initial         bool // of Added: the object was there before the watch, or comes in a RESYNC
	FinalStateKnown bool // of Deleted: Object is the last state; with selectors, the last that matched
	HasObject       bool // false: of a Deleted only the key is known
	HasOld          bool
	Object, Old     Object
	Namespace, Name string // of Added, Updated, Deleted
	UID             string // of a Deleted without Object, if it is a UUID
	Cursor          Cursor
	Status          WatchStatus
}

// WatchStatus is what informerd met while it listed or watched the resource.
type WatchStatus struct {
	Recovered       bool // list and watch work again
	Code            int  // HTTP status; 0: there was no answer
	Reason, Message string
}

// A Watch gives every object of a resource, then each change, in order (client-go's rules): first every
// present object as an Added with Initial, then Synced. An object that was deleted and created again under the
// same name is a Deleted and an Added. A watch that keeps up gets every change with old and new state. One that
// missed changes gets Coalesced, then one change for each key, from the state that it got last to the newest.
// For this it remembers the key of each present object.
//
// One goroutine at a time uses a watch.
type Watch struct {
	inf    *Informer
	sub    *subscription
	labels *LabelSelector
	fields *FieldSelector
	feed   feed

	keys       map[string]known
	keysShort  bool // an earlier process may have been told of objects that are not in keys
	round      uint32
	coalescing bool // Coalesced was told
	resyncing  bool
	syncedTold bool
	pending    []ChangeKind
	sweep      bool
	told       atomic.Pointer[Cursor]
	acked      Cursor
	statusSeen uint64
	closed     bool
}

// A known is what the watch was told of a key last.
type known struct {
	version uint64 // a hash; 0: not known
	round   uint32
	uid     identity
}

var seed = maphash.MakeSeed()

func hashOf(text []byte) uint64 {
	if len(text) == 0 {
		return 0
	}
	return maphash.Bytes(seed, text) | 1
}

// Watch watches a resource, by a name as Resource takes it. Close it. Events begin when informerd caches the
// resource. A handle has up to 64 watches.
func (inf *Informer) Watch(resource string, options *WatchOptions) (*Watch, error) {
	w := &Watch{inf: inf, keys: map[string]known{},
		sub: &subscription{core: inf.core, resource: inf.Resource(resource)}}
	if options != nil {
		w.sub.options = *options
	}
	o := &w.sub.options
	if len(o.Namespace) > 255 || len(o.Consumer) > 91 || o.ManualAck && o.Consumer == "" {
		return nil, fmt.Errorf("a namespace has at most 255 bytes, a consumer's name 91, and ManualAck needs one: %w",
			ErrSyntax)
	}
	var err error
	if w.labels, err = CompileLabelSelector(o.LabelSelector); err != nil {
		return nil, err
	}
	if w.fields, err = CompileFieldSelector(o.FieldSelector); err != nil {
		return nil, err
	}
	if err = inf.addSubscription(w.sub); err != nil {
		return nil, err
	}
	w.keysShort = o.Consumer != ""
	w.feed = feed{sub: w.sub, caughtUp: true}
	return w, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	if !w.closed {
		w.closed = true
		w.feed.done()
		w.sub.remove()
	}
}

// Acknowledge, with ManualAck: everything up to this cursor is done, and does not come again after a restart.
// Only for the goroutine of the watch.
func (w *Watch) Acknowledge(cursor Cursor) {
	if cursor.Lineage != w.acked.Lineage || cursor.Seq > w.acked.Seq {
		w.acked = cursor
	}
}

// All ranges over the changes, until ctx ends, whose error comes last. The loop may be left and begun again:
// it goes on where it was.
func (w *Watch) All(ctx context.Context) iter.Seq2[Change, error] {
	return w.while(ctx, func(*telling) bool { return true })
}

// Batch ranges over the changes that are at hand; if there are none, it waits for the first. After the loop no
// snapshot is open, so that there is time for slow work. An error comes last, as in All.
func (w *Watch) Batch(ctx context.Context) iter.Seq2[Change, error] {
	return w.while(ctx, func(t *telling) bool { return !t.told })
}

func (w *Watch) while(ctx context.Context, more func(*telling) bool) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		t := &telling{w: w, yield: yield}
		for !t.left && more(t) {
			if err := w.wait(ctx, t); err != nil {
				yield(Change{}, err)
				return
			}
		}
	}
}

// wait runs one turn, and waits if it gave nothing.
func (w *Watch) wait(ctx context.Context, t *telling) error {
	c := w.inf.core
	if w.closed || c.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	news := c.news // before the looks, so that what comes after them is not missed
	c.mu.Unlock()
	if did, _ := w.look(t); did || t.left {
		return nil
	}
	w.arm() // A1
	did, again := w.look(t)
	if did || t.left {
		return nil
	}
	var timer <-chan time.Time
	if !again.IsZero() {
		timer = time.After(time.Until(again))
	}
	select {
	case <-news:
	case <-timer:
	case <-ctx.Done():
	case <-c.ended:
	}
	return nil
}

// look asks for a queue, if there is none, and runs a turn. again: when to look again without news; zero: not.
func (w *Watch) look(t *telling) (did bool, again time.Time) {
	again = w.sub.step()
	did, err := w.turn(t)
	if errors.Is(err, ErrBusy) {
		again = time.Now().Add(pinDelay)
	}
	return did, again
}

// arm asks to be signalled when the queue has something, and at the next commit if that is what is waited for:
// a queue that opens again, a list that is complete, or a resource that is cached now.
func (w *Watch) arm() {
	f := &w.feed
	bits := uint32(armedQueue)
	if f.ring == nil || f.ring.m != w.inf.current.Load() || !f.hasCursor || f.mode == feedAwait || !f.ring.look.open {
		bits |= armedCommit
	}
	w.inf.View(func(s Snapshot) error {
		atomic.OrUint32(word32(s.p.m.slot, slotArmed), bits)
		return nil
	})
	if f.ring != nil {
		atomic.OrUint32(word32(f.ring.m.slot, slotArmed), bits)
	}
}

// turn tells what one pinned root gives. did: another turn may give more at once.
func (w *Watch) turn(t *telling) (did bool, err error) {
	f := &w.feed
	if !w.tellPending(t) {
		return false, nil
	}
	opened, err := f.open(w.inf.current.Load())
	for opened && !t.left && f.next() {
		did = true
		if err = w.take(t, &f.item); err != nil {
			break
		}
		f.told()
		if k := f.item.kind; (k == itemBegin || k == itemCaughtUp || k == itemListed) && !w.tellPending(t) {
			break
		}
	}
	if errors.Is(err, ErrCorrupt) {
		f.broken()
		err = nil
	}
	did = did || f.again
	f.close()
	w.acknowledge()
	if !t.left {
		w.tellPending(t)
	}
	return did, err
}

// acknowledge stores the cursor of a named consumer for informerd (K1).
func (w *Watch) acknowledge() {
	f := &w.feed
	if w.sub.options.Consumer == "" || f.ring == nil || !f.caughtUp || !f.hasCursor || f.mode != feedRing ||
		w.sweep || len(w.pending) > 0 || !f.ring.lineageSet || f.ring.lineage != f.cursor.Lineage {
		return
	}
	seq := f.cursor.Seq
	if w.sub.options.ManualAck {
		if w.acked.Lineage != f.cursor.Lineage {
			return
		}
		seq = min(seq, w.acked.Seq)
	}
	if seq > atomic.LoadUint64(f.ring.acked) {
		atomic.StoreUint64(f.ring.acked, seq)
	}
}

// A telling is one loop over the changes. told: of a change; left: the loop was left.
type telling struct {
	w          *Watch
	yield      func(Change, error) bool
	told, left bool
}

func (t *telling) tell(c Change) {
	t.told = true
	c.Cursor = t.w.cursor()
	if !t.yield(c, nil) {
		t.left = true
	}
}

// cursor is the position of what is told. During a RESYNC it stays: it counts only when everything was told.
func (w *Watch) cursor() Cursor {
	f := &w.feed
	if f.walk == walkResync && (!f.caughtUp || w.sweep) {
		if told := w.told.Load(); told != nil {
			return *told
		}
		return Cursor{}
	}
	seq := f.cursor.Seq
	if f.snap.p != nil && f.item.seq > seq {
		seq = f.item.seq
	}
	cursor := Cursor{f.cursor.Lineage, seq}
	w.told.Store(&cursor)
	return cursor
}

// tellPending tells marks that are due. False: the loop was left.
func (w *Watch) tellPending(t *telling) bool {
	f := &w.feed
	if w.sweep && !w.sweepGone(t) {
		return false
	}
	if f.caughtUp && f.hasCursor && f.mode == feedRing && !w.syncedTold && all(f.listed) {
		w.syncedTold = true
		w.pending = append(w.pending, Synced)
	}
	for len(w.pending) > 0 && !t.left {
		kind := w.pending[0]
		w.pending = w.pending[1:]
		if kind == ResyncBegin {
			w.resyncing = true
		} else if kind == ResyncEnd {
			w.resyncing = false
		}
		t.tell(Change{Kind: kind})
	}
	return !t.left
}

// sweepGone tells the delete of each object that a RESYNC did not meet.
func (w *Watch) sweepGone(t *telling) bool {
	if w.feed.walk == walkResync {
		for key, k := range w.keys {
			if k.round == w.round {
				continue
			}
			w.tellKeyGone(t, key)
			if t.left {
				return false
			}
		}
	}
	w.sweep, w.coalescing = false, false
	return true
}

func splitKey(key string) (namespace, name string) {
	for i := 0; i < len(key); i++ {
		if key[i] == '/' {
			return key[:i], key[i+1:]
		}
	}
	return "", key
}

// tellKeyGone tells the delete of an object of which only the key is known.
func (w *Watch) tellKeyGone(t *telling, key string) {
	if !w.notice(t, w.resyncing) {
		return
	}
	uid := w.keys[key].uid
	delete(w.keys, key)
	namespace, name := splitKey(key)
	t.tell(Change{Kind: Deleted, Namespace: namespace, Name: name, UID: uid.String()})
}

// notice: before a change that is not exact, Coalesced is told once. False: the loop was left.
func (w *Watch) notice(t *telling, exact bool) bool {
	if exact {
		w.coalescing = false
	} else if !w.coalescing {
		w.coalescing = true
		t.tell(Change{Kind: Coalesced})
	}
	return !t.left
}
