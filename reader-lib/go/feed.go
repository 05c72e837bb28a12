// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"slices"
	"sync/atomic"
)

// The feed of one watch: the changes of a resource, in order, from a ring and from walks over by-seq
// (PROTOCOLS.md, Queue; LAYOUT.md, QUEUE).
//
//	              no cursor (of a consumer: AWAIT, then RESYNC):
//	(nothing) ───── INITIAL ────▶ WALK ───────── end ────────▶ RING
//	                              ▲  ▲                          │
//	                              │  └─── COALESCED ◀───────────┤  overflowed, or (re)opened
//	                              │                             │  beyond the cursor
//	                              │       all lists in:         │
//	                              └───────── RESYNC ◀── AWAIT ◀─┘  other lineage, cursor below
//	                                                               the floor, RESET
//
// Each turn pins the newest root once, for at most `feedBatch` items. A walk goes from the cursor to `target`,
// the seq of the root with which it began. An object that changes before the walk reaches it moves beyond the
// target, and its next event is in the ring. Until all such events were told, the feed is catching up.
//
// Invariants. Everything up to the cursor was told or will never be; no change is told twice, except that a
// walk may repeat the newest state. Items come in the order of seq. A ring entry's refs are followed only if
// the ring was seen open after the pin was taken. After each opening with base > cursor, and after each
// overflow, a walk follows, whose root was pinned after the feed saw that. No decision is made from arena bytes
// before they are validated.
type feed struct {
	sub  *subscription
	ring *ring

	hasCursor bool
	cursor    Cursor // everything up to it was told
	mode      feedMode
	walk      walkKind // of the episode
	from      uint64   // the cursor with which the episode began
	position  uint64   // WALK: everything up to it was walked
	target    uint64   // WALK: its end
	goneAfter uint64   // deletions after it must not be missed
	stored    bool     // informerd kept the cursor: the first episode starts there even if nothing was missed
	unsure    bool     // of this episode: more than the cursor says may have been told
	caughtUp  bool     // no episode is under way
	begin     bool     // itemBegin is the next item
	fresh     bool     // it begins an episode; false: the current one goes on
	again     bool     // the turn gave nothing, but the next may
	resync    bool     // begin a RESYNC, whatever the cursor says
	listed    []bool   // of each part: its first list is complete, by what was told

	// this turn
	snap    Snapshot
	binding *binding
	root    feedRoot
	count   int
	walking bool // bySeq was started
	checked bool // it was checked what is outstanding
	over    bool
	bySeq   bySeq
	item    item
}

type feedMode uint8

const (
	feedRing feedMode = iota
	feedWalk
	feedAwait
)

type walkKind uint8

const (
	walkInitial walkKind = iota
	walkCoalesced
	walkResync
)

const (
	feedBatch = 64
	scanMax   = 4096 // objects of other namespaces that one turn may skip
	feedTries = 4
)

// What a turn uses of its pinned root.
type feedRoot struct {
	epoch, seq uint64
	lineage    [16]byte
	newestSeq  uint64 // of the newest root; no entry in the ring is later
	listed     []bool
	floor      uint64 // the highest of its parts: deletions up to it may be forgotten
}

type itemKind uint8

const (
	itemBegin    itemKind = iota + 1 // a walk begins
	itemAdded                        // ring: now
	itemUpdated                      // ring: before, now
	itemDeleted                      // ring: before; now, its final state
	itemPresent                      // walk: now, the newest state
	itemGone                         // walk: before, a tombstone's last state
	itemStatus                       // ring: the VALUE at ref
	itemListed                       // ring: a part's first list is complete
	itemCaughtUp                     // the episode was told whole
)

// A where is where an object's payload is.
type where struct{ at, end, tomb uint64 }

type item struct {
	kind        itemKind
	part        int
	seq         uint64
	createdSeq  uint64
	before, now where
	ref         uint32
	initial     bool // the object was present before its part's list was complete, or when the walk began
	unseen      bool // the final state is unknown
}

var errNextRing = errors.New("another ring has arrived")

// fetch changes to the ring that arrived. Between turns only.
func (f *feed) fetch() bool {
	ring := f.sub.arrived.Swap(nil)
	if ring == nil {
		return false
	}
	if f.ring != nil {
		f.ring.close()
	}
	f.ring = ring
	if !f.hasCursor && ring.stored != nil {
		f.cursor, f.hasCursor = *ring.stored, true
		f.mode, f.caughtUp, f.stored = feedRing, true, true
	}
	return true
}

// open begins a turn. ok: next may have an item. Call close in any case.
func (f *feed) open(current *mapping) (ok bool, err error) {
	f.count, f.over, f.walking, f.checked, f.again = 0, false, false, false, false
	for range feedTries {
		f.close()
		ok, err = f.openOnce(current)
		if errors.Is(err, errNextRing) {
			f.close()
			if !f.fetch() {
				return false, nil
			}
			continue
		}
		if !errors.Is(err, errReopened) {
			break
		}
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, errQueue) || errors.Is(err, errReopened) || errors.Is(err, errNextRing) {
		f.broken()
		return false, nil
	}
	return ok, err
}

func (f *feed) openOnce(current *mapping) (bool, error) {
	if f.ring == nil && !f.fetch() {
		return false, nil
	}
	other := f.sub.arrived.Load() != nil
	if !f.ring.usable(current) {
		if other {
			return false, errNextRing
		}
		return false, nil
	}
	snap, err := f.ring.m.begin(true) // Q1
	if err != nil {
		if other && !errors.Is(err, ErrBusy) {
			return false, errNextRing
		}
		if err == ErrNotReady {
			err = nil
		}
		return false, err
	}
	f.snap = snap
	p := snap.p
	var bindErr error
	if err = p.do(func() {
		if f.binding, bindErr = p.bind(f.sub.resource); bindErr == nil {
			f.readRoot(p)
		}
	}); err == nil {
		err = bindErr
	}
	switch {
	case err != nil && other:
		return false, errNextRing
	case errors.Is(err, ErrNoResource), errors.Is(err, ErrNotReady):
		return false, nil
	case errors.Is(err, ErrExpired):
		return false, nil
	case err != nil:
		return false, err
	}
	var seen error
	err = p.do(func() {
		if seen = f.ring.see(); seen == nil { // Q2
			f.readNewest(p)
		}
	})
	if err == nil {
		err = seen
	}
	if errors.Is(err, ErrExpired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.root.epoch != f.ring.rootEpoch {
		// informerd pushes a commit's entries before it publishes the next commit
		f.ring.proven = f.ring.rootSeq
		f.ring.rootSeq, f.ring.rootEpoch = f.root.seq, f.root.epoch
	}
	return f.decide(other)
}

func (f *feed) readRoot(p *pin) {
	f.root = feedRoot{epoch: p.epoch, seq: p.seq, listed: make([]bool, len(f.binding.parts))}
	copy(f.root.lineage[:], p.view.raw[p.root+rootLineage:])
	for i := range f.binding.parts {
		resource, _, ok := p.resourceAt(f.binding.parts[i].position)
		if !ok {
			corrupt()
		}
		f.root.listed[i] = p.view.u32(resource+resState) == stateSynced
		f.root.floor = max(f.root.floor, p.view.u64(resource+resFloor))
	}
}

// readNewest reads the newest root's seq. The look at the ring came before, so its entries' objects lie within
// what the file has now.
func (f *feed) readNewest(p *pin) {
	p.stretch()
	root := atomic.LoadUint64(word64(p.m.arena, hRoot))
	at, _ := p.view.block(uint32(root/refUnit), blockRoot, rootResources)
	f.root.newestSeq = p.view.u64(at + rootSeq)
}

func all(listed []bool) bool { return len(listed) > 0 && !slices.Contains(listed, false) }

// decide what to do after the look.
func (f *feed) decide(other bool) (bool, error) {
	r, root := f.ring, &f.root
	first, overflowed := r.openings == 0, !r.look.open
	// read the old ring to its end only if it is open and the feed reads from it
	if other && (overflowed || f.mode != feedRing || !f.hasCursor) {
		return false, errNextRing
	}
	if overflowed { // Q3
		r.discard()
	}
	if r.look.base > root.seq {
		return false, errReopened
	}
	if first {
		r.lineage, r.lineageSet = root.lineage, true
	}
	r.openings = r.look.openings
	switch {
	case !f.hasCursor && f.sub.options.Consumer != "":
		return f.beginResync(), nil
	case !f.hasCursor:
		return f.beginWalk(walkInitial, 0), nil
	case f.resync, f.cursor.Lineage != root.lineage, f.cursor.Seq > root.seq, f.mode == feedAwait:
		return f.beginResync(), nil
	case f.mode == feedWalk:
		if f.target > f.goneAfter && root.floor > max(f.position, f.goneAfter) {
			return f.beginResync(), nil
		}
		return true, nil
	}
	if first && f.caughtUp {
		f.listed = slices.Clone(root.listed)
	}
	if f.stored {
		return f.beginCatchUp(), nil
	}
	if overflowed && f.caughtUp && f.cursor.Seq == root.seq {
		return false, nil // the ring opens with the next commit that has something for it
	}
	if overflowed || r.look.base > f.cursor.Seq { // Q4
		return f.beginCatchUp(), nil
	}
	return true, nil
}

func (f *feed) beginWalk(walk walkKind, after uint64) bool {
	f.listed = slices.Clone(f.root.listed)
	f.cursor, f.hasCursor = Cursor{f.root.lineage, after}, true
	f.walk, f.from, f.position = walk, after, after
	f.unsure = walk == walkCoalesced && f.stored
	f.stored = false
	f.target, f.goneAfter = f.root.seq, f.root.seq
	if walk == walkCoalesced {
		f.goneAfter = after
	}
	f.mode, f.caughtUp, f.begin, f.fresh = feedWalk, false, true, true
	return true
}

// beginResync begins a RESYNC, once all lists are complete: before, objects that are still to be listed would
// look deleted.
func (f *feed) beginResync() bool {
	if !all(f.root.listed) {
		f.mode = feedAwait
		f.listed = slices.Clone(f.root.listed)
		f.ring.discard()
		return false
	}
	f.resync = false
	return f.beginWalk(walkResync, 0)
}

// beginCatchUp walks from the cursor to now. An episode that is not over goes on, with the beginning it had.
func (f *feed) beginCatchUp() bool {
	if f.root.floor > f.cursor.Seq {
		return f.beginResync()
	}
	if f.caughtUp {
		return f.beginWalk(walkCoalesced, f.cursor.Seq)
	}
	f.position, f.target = f.cursor.Seq, f.root.seq
	f.mode, f.begin, f.fresh = feedWalk, true, false
	return true
}

// broken gives up the ring: its bytes make no sense. Another one is asked for, and a RESYNC follows.
func (f *feed) broken() {
	f.close()
	f.resync, f.over = true, true
	if f.ring != nil {
		f.ring.close()
		f.ring = nil
	}
	f.sub.renew()
}

func (f *feed) close() {
	if f.snap.p == nil {
		return
	}
	if f.ring != nil {
		f.ring.consume()
	}
	f.snap.End()
	f.snap, f.binding = Snapshot{}, nil
}

// done frees the feed's memory.
func (f *feed) done() {
	f.close()
	if f.ring != nil {
		f.ring.close()
		f.ring = nil
	}
}
