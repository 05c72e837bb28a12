// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
)

// Verified is what Verify has checked.
type Verified struct {
	Blocks, Bytes uint64
	Tags          uint64 // 0 without Options.Verify
}

// A Damage is the first damage that Verify met. errors.Is tells that it is an ErrCorrupt.
type Damage struct {
	Offset uint64 // in the arena: of the block that is damaged, or refers to what is
	What   string
}

func (d *Damage) Error() string { return fmt.Sprintf("the block at offset %d: %s", d.Offset, d.What) }

// Unwrap is ErrCorrupt.
func (d *Damage) Unwrap() error { return ErrCorrupt }

// Verify checks every block that the snapshot reaches: bounds, type, form, and, with Options.Verify, its tag. It
// ends at the first damage, a *Damage. It takes a bit for each 16 bytes of the arena, and about a second for each GiB.
// Other errors: ErrExpired, ErrClosed.
func (s Snapshot) Verify() (Verified, error) {
	var v verification
	_, err := read(s, func(p *pin) (none struct{}, err error) {
		// tags are checked here: a verifier skips what it knows, and makes all of the arena useless
		v = verification{view: view{raw: p.view.raw}, p: p, seen: make([]uint64, len(p.view.raw)/refUnit/64+1)}
		v.walkRoot()
		v.what = ""
		return none, nil
	})
	if errors.Is(err, ErrCorrupt) && v.what != "" {
		err = &Damage{v.place, v.what}
	}
	return v.Verified, err
}

// A verification walks all that a root reaches. What it meets that makes no sense panics, as in all reads: place and
// what then say where it was.
type verification struct {
	Verified
	view
	p     *pin
	seen  []uint64 // a bit for each ref
	place uint64
	what  string
	depth int // of values
}

// lookEvery: how often to ask whether the snapshot is revoked. Then its memory reads as zeros, and must not be
// touched: that would take memory again.
const lookEvery = 1024

const notWellFormed = "it is not well-formed"

// at: the check that follows is of this block.
func (v *verification) at(ref uint32, what string) { v.place, v.what = uint64(ref)*refUnit, what }

// enter follows a holder's reference. first is true if the block is still to be walked.
func (v *verification) enter(holder, ref, kind uint32) (at, end uint64, first bool) {
	v.at(holder, "it refers to a place outside the arena, or to a block of another type than belongs there")
	at, end = v.block(ref, kind, 0)
	word, bit := &v.seen[ref/64], uint64(1)<<(ref%64)
	if *word&bit != 0 {
		return at, end, false
	}
	*word |= bit
	if v.Blocks%lookEvery == 0 && (v.p.m.state() == stateRevoked || v.p.m.closed()) {
		corrupt()
	}
	v.Blocks++
	v.Bytes += (blockHead + end - at + refUnit - 1) &^ (refUnit - 1)
	if keys := v.p.view.verifier; keys != nil {
		v.Tags++
		off := at - blockHead
		v.at(ref, "its integrity tag is wrong")
		if !keys.fits(&v.view, off, kind<<28|uint32(end-at), v.u64(off)) {
			corrupt()
		}
	}
	v.at(ref, notWellFormed)
	return at, end, true
}

// ---- root and resources

func (v *verification) walkRoot() {
	ref := uint32((v.p.root - blockHead) / refUnit)
	v.at(ref, "it is no root")
	at, _, _ := v.enter(ref, ref, blockRoot)
	if consumers := v.u32(at + rootConsumers); consumers != 0 {
		if from, end, first := v.enter(ref, consumers, blockConsumers); first && (end-from)%consumerBytes != 0 {
			corrupt()
		}
	}
	for i := range v.p.count {
		if resource := v.u32(at + rootResources + 4*i); resource != 0 || i+1 < v.p.count {
			v.walkResource(ref, resource)
		}
	}
}

func (v *verification) walkResource(holder, ref uint32) {
	at, end, first := v.enter(holder, ref, blockResource)
	if !first {
		return
	}
	if end-at < resIndexes || v.raw[at+resVersionLength] > resourceVersionMax ||
		resIndexes+4*uint64(v.u32(at+resIndexCount)) > end-at {
		corrupt()
	}
	v.walkValueBlock(ref, v.u32(at+resDescriptor))
	if status := v.u32(at + resStatus); status != 0 {
		v.walkValueBlock(ref, status)
	}
	// objects first: the other tries lead to them, and they lie in the order of their ordinals
	v.walkTrie(ref, v.u32(at+resOrdinals), trieShiftTop+1, leafObject)
	v.walkTrie(ref, v.u32(at+resIdentity), trieShiftTop+1, leafOrdinal)
	v.walkTrie(ref, v.u32(at+resBySeq), trieShiftTop+1, leafChange)
	v.walkTrie(ref, v.u32(at+resDeleted), trieShiftTop+1, leafTombstone)
	for i := range uint64(v.u32(at + resIndexCount)) {
		v.walkTrie(ref, v.u32(at+resIndexes+4*i), trieShiftTop+1, leafPostings)
	}
	v.walkShortcut(ref, v.u32(at+resByKey), 1, 8)
	v.walkShortcut(ref, v.u32(at+resByOrdinal), 2, 4)
}

// walkShortcut checks a table of hints. Its cells count only where the tries agree, so they are not followed.
func (v *verification) walkShortcut(holder, ref, kind uint32, width uint64) {
	if ref == 0 {
		return
	}
	v.enter(holder, ref, blockShortcut)
	v.at(ref, "a shortcut whose lengths do not fit its block")
	v.cells(ref, kind, width)
}

// ---- tries

type leafKind uint8

const (
	leafOrdinal leafKind = iota
	leafObject
	leafPostings
	leafChange // of by-seq: an ordinal or a tombstone
	leafTombstone
)

// kindAt is the type of a block; the holder refers to it.
func (v *verification) kindAt(holder, ref uint32) uint32 {
	v.at(holder, "it refers to a place outside the arena")
	kind, _, _ := v.blockOf(ref)
	return kind
}

func (v *verification) walkTrie(holder, link, below uint32, leaf leafKind) {
	if link == 0 && below > trieShiftTop {
		return
	}
	v.at(holder, "it has an empty link")
	if link == 0 {
		corrupt()
	}
	if link&immediate != 0 {
		v.walkLeaf(holder, link, leaf)
		return
	}
	switch kind := v.kindAt(holder, link); {
	case kind == blockCollision && leaf != leafObject && leaf != leafChange:
		v.walkCollision(holder, link, leaf)
	case kind != blockNode:
		v.walkLeaf(holder, link, leaf)
	default:
		at, end, first := v.enter(holder, link, blockNode)
		if !first {
			return
		}
		links, present, shift := v.node(at, end, below)
		if present&(present-1) == 0 {
			corrupt()
		}
		for ; links < end; links += 4 {
			v.walkTrie(link, v.u32(links), shift, leaf)
		}
	}
}

func (v *verification) walkCollision(holder, ref uint32, leaf leafKind) {
	at, end, first := v.enter(holder, ref, blockCollision)
	if !first {
		return
	}
	if (end-at)%4 != 0 || end-at < 8 {
		corrupt()
	}
	for ; at < end; at += 4 {
		v.walkLeaf(ref, v.u32(at), leaf)
	}
}

func (v *verification) walkLeaf(holder, link uint32, leaf leafKind) {
	v.at(holder, "it has an ordinal where a block belongs, or a block where an ordinal belongs")
	if link&immediate != 0 {
		if leaf == leafObject || leaf == leafTombstone {
			corrupt()
		}
		return
	}
	switch leaf {
	case leafOrdinal:
		corrupt()
	case leafObject:
		v.walkObject(holder, link)
	case leafPostings:
		if _, _, first := v.enter(holder, link, blockPostings); first {
			if count, ordinals, _ := v.postings(link); count > postingArrayMax {
				v.walkTrie(link, v.u32(ordinals), trieShiftTop+1, leafOrdinal)
			}
		}
	default:
		at, end, first := v.enter(holder, link, blockTombstone)
		if first {
			if end-at < tombBytes {
				corrupt()
			}
			v.walkObject(link, v.u32(at+tombObject))
		}
	}
}

// ---- values

func (v *verification) walkObject(holder, ref uint32) {
	if _, _, first := v.enter(holder, ref, blockObject); first {
		at, end := v.object(ref)
		v.walkOnly(ref, span{at + uint64(v.u16(at+objBodyOffset)), end})
	}
}

func (v *verification) walkValueBlock(holder, ref uint32) {
	at, end, first := v.enter(holder, ref, blockValue)
	if !first {
		return
	}
	if at < end && v.raw[at] == tagRef {
		corrupt()
	}
	v.walkOnly(ref, span{at, end})
}

// walkOnly walks the one value that fills a span of a block.
func (v *verification) walkOnly(holder uint32, s span) {
	d := decoder{view: &v.view}
	if d.after(s) != s.end {
		corrupt()
	}
	v.walkValue(holder, s)
}

func (v *verification) walkValue(holder uint32, s span) {
	d := decoder{view: &v.view}
	s.end = d.after(s)
	switch tag := v.raw[s.at]; tag {
	case tagRef:
		v.walkValueBlock(holder, v.u32(s.at+1))
	case tagMap16, tagMap32:
		head, _ := d.content(s)
		v.walkShape(holder, v.u32(s.at+head-4))
		v.walkItems(holder, s, tag)
	case tagArray16, tagArray32:
		v.walkItems(holder, s, tag)
	}
}

func (v *verification) walkItems(holder uint32, s span, tag byte) {
	v.at(holder, "its values are nested too deep")
	if v.depth++; v.depth > valueDepthMax+1 {
		corrupt()
	}
	d := decoder{view: &v.view}
	v.at(holder, notWellFormed)
	for it := d.items(s, tag); ; v.at(holder, notWellFormed) {
		_, item, ok := it.next()
		if !ok {
			break
		}
		v.walkValue(holder, item)
	}
	v.depth--
}

func (v *verification) walkShape(holder, ref uint32) {
	if _, _, first := v.enter(holder, ref, blockShape); !first {
		return
	}
	d := decoder{view: &v.view}
	_, names, count := d.shape(ref)
	if count == 0 {
		corrupt()
	}
	for i := range count {
		v.walkValueBlock(ref, v.u32(names+4*i))
	}
}
