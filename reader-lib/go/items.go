// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"slices"
)

// The items of a feed's turn: first the rest of a walk, then the ring's entries.

// next is the next item of the turn; ok is false when the turn is over.
func (f *feed) next() (ok bool) {
	if f.over || f.snap.p == nil || f.count >= feedBatch {
		return false
	}
	f.count++
	if f.begin {
		f.item = item{kind: itemBegin}
		return true
	}
	p, broken := f.snap.p, false
	err := p.do(func() { ok, broken = f.find(p) })
	switch {
	case err == nil && !broken:
		if f.over && !f.again && f.sub.arrived.Load() != nil { // the old ring is read to its end
			f.close()
			f.fetch()
			f.again = true
		}
		return ok
	case errors.Is(err, ErrExpired):
		f.over = true // from now on the ring is not usable
	default:
		f.broken()
	}
	return false
}

func (f *feed) find(p *pin) (ok, broken bool) {
	if f.mode == feedWalk {
		ok, ended := f.nextOfWalk(p)
		if !ended {
			return ok, false
		}
		// this is the root with which the walk began: no object moved beyond the target
		if f.root.seq == f.target {
			return f.giveCaughtUp(), false
		}
	}
	return f.nextOfRing(p)
}

func (f *feed) giveCaughtUp() bool {
	f.caughtUp = true
	f.item = item{kind: itemCaughtUp, seq: f.cursor.Seq}
	return true
}

// wants tells whether an object is in the watch's namespace; one without namespace is in every one.
func (f *feed) wants(a *view, at uint64) bool {
	length := uint64(a.raw[at+objNamespaceLength])
	return f.sub.options.Namespace == "" || length == 0 ||
		string(a.raw[at+objKey:at+objKey+length]) == f.sub.options.Namespace
}

func (f *feed) nextOfWalk(p *pin) (ok, ended bool) {
	if !f.walking {
		f.bySeq.start(p, f.binding, f.position)
		f.walking = true
	}
	for range scanMax {
		found, more := f.bySeq.next()
		if !more || found.seq > f.target {
			f.cursor.Seq, f.mode, f.walking = f.target, feedRing, false
			return false, true
		}
		if f.wants(&p.view, found.at) {
			f.setFound(&p.view, &found)
			return true, false
		}
		f.position = found.seq
	}
	f.over, f.again = true, true
	return false, false
}

func (f *feed) setFound(a *view, found *found) {
	f.item = item{kind: itemPresent, part: found.part, seq: found.seq, createdSeq: a.u64(found.at + objCreatedSeq),
		unseen: found.unseen}
	f.item.initial = f.walk != walkCoalesced && f.item.createdSeq <= f.goneAfter || !f.listed[found.part]
	at := where{found.at, found.end, found.tomb}
	if found.gone {
		f.item.kind, f.item.before = itemGone, at
	} else {
		f.item.now = at
	}
}

func (f *feed) nextOfRing(p *pin) (ok, broken bool) {
	r := f.ring
	// if the look saw the ring closed, or beginning after the cursor, it is for the next turn
	if !r.look.open || r.look.base > f.cursor.Seq {
		f.over, f.again = true, true
		return false, false
	}
	for r.next != r.look.head { // Q5
		e := r.entry(r.next)
		ok, over, bad := f.take(p, e)
		if bad {
			return false, true
		}
		if ok || over {
			return ok, false
		}
		r.next++
	}
	return f.atEnd(p), false
}

// take makes the item of an entry. Neither ok, over nor bad: the entry is nothing to tell.
func (f *feed) take(p *pin, e entry) (ok, over, bad bool) {
	change := e.kind <= entryDeleted
	if e.kind < entryAdded || e.kind > entryStatus || e.seq > f.root.newestSeq {
		return false, false, true
	}
	if (change || e.kind == entryReset) && e.seq <= f.cursor.Seq {
		return false, false, false
	}
	if e.kind == entryReset {
		f.resync, f.over, f.again = true, true, true
		f.ring.next++
		return false, true, false
	}
	part := slices.IndexFunc(f.binding.parts, func(part part) bool { return part.position == uint64(e.resource) })
	if part < 0 {
		// the next snapshot has the part; or the part was removed, if this root has the entry
		if e.seq <= f.root.seq {
			if f.ring.stranger == f.ring.next+1 { // a RESYNC did not pass it
				return false, false, true
			}
			f.ring.stranger = f.ring.next + 1
			f.resync = true
		}
		f.over, f.again = true, true
		return false, true, false
	}
	f.item = item{part: part, seq: e.seq}
	switch {
	case change:
		f.item.initial = !f.listed[part]
		return true, false, !f.follow(&p.view, e)
	case e.kind == entryStatus:
		f.item.kind, f.item.ref = itemStatus, e.newRef
	default:
		f.item.kind = itemListed
		f.listed[part] = true
	}
	return true, false, false
}

// follow follows an entry's refs, and compares the objects with the entry.
func (f *feed) follow(a *view, e entry) bool {
	it := &f.item
	object := func(ref uint32) where {
		at, end := a.object(ref)
		return where{at: at, end: end}
	}
	if e.kind != entryDeleted {
		it.now = object(e.newRef)
		if a.u64(it.now.at+objSeq) != e.seq {
			return false
		}
	}
	if e.kind != entryAdded {
		it.before = object(e.oldRef)
		if a.u64(it.before.at+objSeq) >= e.seq {
			return false
		}
	}
	switch e.kind {
	case entryAdded:
		it.kind, it.createdSeq = itemAdded, a.u64(it.now.at+objCreatedSeq)
		return true
	case entryUpdated:
		it.kind, it.createdSeq = itemUpdated, a.u64(it.now.at+objCreatedSeq)
	default:
		it.kind, it.createdSeq = itemDeleted, a.u64(it.before.at+objCreatedSeq)
		it.unseen, it.now = e.newRef == 0, it.before
		if !it.unseen {
			it.now = object(e.newRef)
		}
	}
	return a.u32(it.now.at+objOrdinal) == a.u32(it.before.at+objOrdinal)
}

// outstanding tells whether the pinned root shows something that was not told yet.
func (f *feed) outstanding(p *pin) bool {
	f.bySeq.start(p, f.binding, f.cursor.Seq)
	for {
		found, more := f.bySeq.next()
		if !more {
			return false
		}
		if f.wants(&p.view, found.at) {
			return true
		}
	}
}

// atEnd: the ring is read to its end. An episode ends here, if nothing is outstanding.
func (f *feed) atEnd(p *pin) bool {
	if !f.caughtUp && !f.checked {
		f.checked = true
		if !f.outstanding(p) {
			// a forgotten deletion after the cursor is in the ring, or will be: do not pass it
			if f.cursor.Seq < f.root.seq && f.root.floor <= f.cursor.Seq {
				f.cursor.Seq = f.root.seq
			}
			return f.giveCaughtUp()
		}
	}
	if f.caughtUp && f.ring.proven > f.cursor.Seq {
		f.cursor.Seq = f.ring.proven
	}
	f.over = true
	return false
}

// told: the item was told.
func (f *feed) told() {
	switch f.item.kind {
	case itemAdded, itemUpdated, itemDeleted:
		f.cursor.Seq = f.item.seq
		f.ring.next++
		f.ring.consume()
	case itemStatus, itemListed:
		f.ring.next++
		f.ring.consume()
	case itemPresent, itemGone:
		f.position = f.item.seq
	case itemBegin:
		f.begin = false
	}
}
