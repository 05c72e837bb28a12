// SPDX-License-Identifier: Apache-2.0

package informer

// A found is what stands under a seq: an object at its last change, or a deleted one's last state.
type found struct {
	part         int
	seq          uint64
	at, end      uint64
	tomb         uint64 // of a deletion
	gone, unseen bool
}

// bySeq walks all parts of a resource side by side in the order of seq, objects and tombstones alike.
type bySeq struct {
	p     *pin
	parts []bySeqPart
}

type bySeqPart struct {
	resource uint64
	it       trieIter
	next     found
	ended    bool
}

func (a *view) leafOfSeq(resource uint64, leaf uint32) (f found) {
	if leaf&immediate != 0 {
		f.at, f.end = a.ordinal(a.u32(resource+resOrdinals), leaf&^immediate)
		f.seq = a.u64(f.at + objSeq)
		return f
	}
	f.tomb, _ = a.block(leaf, blockTombstone, tombBytes)
	f.at, f.end = a.object(a.u32(f.tomb + tombObject))
	f.seq, f.gone, f.unseen = a.u64(f.tomb+tombSeq), true, a.u32(f.tomb+tombFlags)&tombUnseen != 0
	return f
}

func (w *bySeq) start(p *pin, b *binding, after uint64) {
	w.p = p
	if cap(w.parts) < len(b.parts) {
		w.parts = make([]bySeqPart, len(b.parts))
	}
	w.parts = w.parts[:len(b.parts)]
	for i := range w.parts {
		part := &w.parts[i]
		resource, _, ok := p.resourceAt(b.parts[i].position)
		if !ok {
			corrupt()
		}
		part.resource, part.next = resource, found{part: i, seq: after}
		leaf := uint32(0)
		if after+1 != 0 {
			leaf = part.it.seek(&p.view, p.view.u32(resource+resBySeq), after+1, func(leaf uint32) uint64 {
				return p.view.leafOfSeq(resource, leaf).seq
			})
		}
		w.take(i, leaf)
	}
}

func (w *bySeq) take(i int, leaf uint32) {
	part := &w.parts[i]
	if part.ended = leaf == 0; part.ended {
		return
	}
	last := part.next.seq
	part.next = w.p.view.leafOfSeq(part.resource, leaf)
	part.next.part = i
	if part.next.seq <= last { // a damaged trie could lead round in circles
		corrupt()
	}
}

func (w *bySeq) next() (f found, ok bool) {
	first := -1
	for i := range w.parts {
		if !w.parts[i].ended && (first < 0 || w.parts[i].next.seq < w.parts[first].next.seq) {
			first = i
		}
	}
	if first < 0 {
		return found{}, false
	}
	f = w.parts[first].next
	w.take(first, w.parts[first].it.next())
	return f, true
}
