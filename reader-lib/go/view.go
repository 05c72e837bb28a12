// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/binary"
	"math/bits"
)

// view is the arena's bytes as far as a snapshot may touch them. Its methods panic with corruption, or with
// Go's own bounds errors, if the bytes make no sense; guard turns both into ErrCorrupt.
type view struct {
	raw
	verifier *verifier // nil: tags are not checked
}

// raw is bytes that another process may have written.
type raw []byte

// corruption is what the arena's bytes panic with.
type corruption struct{}

func corrupt() { panic(corruption{}) }

func (a raw) u16(at uint64) uint16 { return binary.NativeEndian.Uint16(a[at:]) }
func (a raw) u32(at uint64) uint32 { return binary.NativeEndian.Uint32(a[at:]) }
func (a raw) u64(at uint64) uint64 { return binary.NativeEndian.Uint64(a[at:]) }

// blockOf is a block of any type: its type, and where its payload begins and ends.
func (a *view) blockOf(ref uint32) (kind uint32, at, end uint64) {
	off := uint64(ref) * refUnit
	if ref > refMax || off < headerBytes || off+blockHead > uint64(len(a.raw)) {
		corrupt()
	}
	word := a.u32(off + 8)
	at = off + blockHead
	end = at + uint64(word&0xfffffff)
	if end > uint64(len(a.raw)) {
		corrupt()
	}
	if a.verifier != nil && !a.verifier.check(a, ref, word) {
		corrupt()
	}
	return word >> 28, at, end
}

// block is where the payload of a block of this type begins and ends; it has at least `least` bytes.
func (a *view) block(ref uint32, kind uint32, least uint64) (at, end uint64) {
	got, at, end := a.blockOf(ref)
	if got != kind || end-at < least {
		corrupt()
	}
	return at, end
}

// ---- tries (LAYOUT.md, LINK and NODE)

// node is where a node's links begin, its map and its shift. The shift is below `below`.
func (a *view) node(at, end uint64, below uint32) (links, present uint64, shift uint32) {
	shift = a.u32(at - 4)
	if end-at < 8 || shift >= below || shift%6 != 0 {
		corrupt()
	}
	present = a.u64(at)
	if present == 0 || end-at != 8+4*uint64(bits.OnesCount64(present)) {
		corrupt()
	}
	return at + 8, present, shift
}

// search returns the leaf that may have this key, 0: none.
func (a *view) search(link uint32, key uint64) uint32 {
	for below := uint32(trieShiftTop + 1); link != 0 && link&immediate == 0; {
		kind, at, end := a.blockOf(link)
		if kind != blockNode {
			break
		}
		links, present, shift := a.node(at, end, below)
		digit := key >> shift & 63
		if present>>digit&1 == 0 {
			return 0
		}
		link = a.u32(links + 4*uint64(bits.OnesCount64(present&(1<<digit-1))))
		if link == 0 {
			corrupt()
		}
		below = shift
	}
	return link
}

// leafLinks calls f for each link of a leaf: of a COLLISION all, else the leaf itself; until f returns true.
func (a *view) leafLinks(leaf uint32, f func(link uint32) bool) bool {
	if leaf&immediate == 0 {
		kind, at, end := a.blockOf(leaf)
		if kind == blockCollision {
			if (end-at)%4 != 0 || end-at < 8 {
				corrupt()
			}
			for ; at < end; at += 4 {
				if f(a.u32(at)) {
					return true
				}
			}
			return false
		}
	}
	return f(leaf)
}

// trieIter visits the leaves of a trie in the order of their keys.
type trieIter struct {
	a     *view
	depth int
	stack [11]struct {
		next, rest uint64 // where the next link stands, and the map of those left
		shift      uint32
	}
}

func (it *trieIter) push(links, present, rest uint64, shift uint32) {
	if it.depth == len(it.stack) {
		corrupt()
	}
	s := &it.stack[it.depth]
	s.next = links
	if rest != 0 {
		s.next += 4 * uint64(bits.OnesCount64(present&(1<<bits.TrailingZeros64(rest)-1)))
	}
	s.rest, s.shift = rest, shift
	it.depth++
}

func (it *trieIter) below() uint32 {
	if it.depth == 0 {
		return trieShiftTop + 1
	}
	return it.stack[it.depth-1].shift
}

// descend goes down a link by the lowest digits to the first leaf.
func (it *trieIter) descend(link uint32) uint32 {
	for {
		if link == 0 {
			corrupt()
		}
		if link&immediate != 0 {
			return link
		}
		kind, at, end := it.a.blockOf(link)
		if kind != blockNode {
			return link
		}
		links, present, shift := it.a.node(at, end, it.below())
		it.push(links, present, present&(present-1), shift)
		link = it.a.u32(links)
	}
}

// first begins at the trie's first leaf; 0: it is empty.
func (it *trieIter) first(a *view, root uint32) uint32 {
	it.a, it.depth = a, 0
	if root == 0 {
		return 0
	}
	return it.descend(root)
}

// next is the next leaf; 0: no more.
func (it *trieIter) next() uint32 {
	for it.depth > 0 {
		s := &it.stack[it.depth-1]
		if s.rest == 0 {
			it.depth--
			continue
		}
		s.rest &= s.rest - 1
		at := s.next
		s.next += 4
		return it.descend(it.a.u32(at))
	}
	return 0
}

// seek begins at the first leaf whose key is at least `from`; 0: none. keyOf reads a leaf's key.
//
// Levels at which all keys agree have no node, so the way down does not compare them. A first descent finds
// a leaf, and its key says at which digit it differs from `from`; all leaves below that node agree with it.
func (it *trieIter) seek(a *view, root uint32, from uint64, keyOf func(leaf uint32) uint64) uint32 {
	it.a, it.depth = a, 0
	if root == 0 {
		return 0
	}
	leaf := root
	for below := uint32(trieShiftTop + 1); leaf&immediate == 0; {
		kind, at, end := a.blockOf(leaf)
		if kind != blockNode {
			break
		}
		links, present, shift := a.node(at, end, below)
		digit := from >> shift & 63
		if present>>digit&1 == 0 {
			digit = uint64(bits.TrailingZeros64(present))
		}
		leaf = a.u32(links + 4*uint64(bits.OnesCount64(present&(1<<digit-1))))
		if leaf == 0 {
			corrupt()
		}
		below = shift
	}
	key := keyOf(leaf)
	differ := uint32(0) // the shift of the highest digit that differs
	if key != from {
		differ = uint32(63-bits.LeadingZeros64(key^from)) / 6 * 6
	}
	for link := root; ; {
		kind, at, end := uint32(0), uint64(0), uint64(0)
		if link&immediate == 0 {
			kind, at, end = a.blockOf(link)
		}
		if kind != blockNode || (key != from && a.u32(at-4) < differ) {
			if key >= from {
				return it.descend(link)
			}
			return it.next()
		}
		links, present, shift := a.node(at, end, it.below())
		digit := from >> shift & 63
		it.push(links, present, present&^(1<<digit|(1<<digit-1)), shift)
		if present>>digit&1 == 0 {
			return it.next()
		}
		link = a.u32(links + 4*uint64(bits.OnesCount64(present&(1<<digit-1))))
		if link == 0 {
			corrupt()
		}
		if key != from && shift == differ {
			return it.descend(link)
		}
	}
}
