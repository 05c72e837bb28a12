// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"sync/atomic"
	"unsafe"
)

// Thousands of objects refer to the same SHAPEs, names and values. What Decode found out about them is
// remembered, for each mapping, in tables of fixed size. The writer may put something else in the place of
// a block, so what is remembered has a copy of the bytes, and counts only while these are the same.

const (
	shapesKept     = 4096
	stringsKept    = 8192
	shapeNamesKept = 128 // larger shapes are not remembered
	shapeBytesKept = 4096
	stringKept     = 1024 // nor are longer strings
)

type remembered struct {
	shapes  [shapesKept]atomic.Pointer[layout]
	strings [stringsKept]atomic.Pointer[shared]
	memos   [memosKept]atomic.Pointer[memo]
	seen    [memosKept]atomic.Uint32
	bytes   atomic.Int64 // that the memos keep
}

// A layout says where the values of a SHAPE's fields go in a Go type.
type layout struct {
	recipe *recipe
	ref    uint32
	// verified is an epoch, 0: none. In a snapshot of that epoch, the blocks are unchanged for objects that it
	// shows: what such an object refers to is not freed before the epoch's successor is published, and all that is
	// put in a freed place later belongs to objects of later changes.
	verified atomic.Uint64
	block    string   // bytes of the SHAPE: its head but for the tag, and its payload
	names    []image  // of the names' VALUEs
	keys     []string // the names
	members  []member // of structs: what is set
}

// An image is where a block is, and a copy of its bytes behind the tag.
type image struct {
	at    uint64
	bytes string
}

func (a *view) imageOf(ref uint32, kind uint32) image {
	at, end := a.block(ref, kind, 1)
	return image{at - 8, string(a.raw[at-8 : end])}
}

func (a raw) is(i *image) bool {
	end := i.at + uint64(len(i.bytes))
	return end <= uint64(len(a)) && string(a[i.at:end]) == i.bytes
}

// unchanged compares the layout's blocks with the arena.
func (l *layout) unchanged(a raw) bool {
	if !a.is(&image{uint64(l.ref)*refUnit + 8, l.block}) {
		return false
	}
	for i := range l.names {
		if !a.is(&l.names[i]) {
			return false
		}
	}
	return true
}

func (m *mapping) remembered() *remembered {
	if r := m.known.Load(); r != nil {
		return r
	}
	m.known.CompareAndSwap(nil, new(remembered))
	return m.known.Load()
}

func scatter(ref uint32, r *recipe) uint64 {
	return (uint64(ref) ^ uint64(uintptr(unsafe.Pointer(r)))>>4) * 0x9e3779b97f4a7c15 >> 32
}

// still: what was verified is so in this snapshot, too.
func (d *decoding) still(verified *atomic.Uint64) bool {
	return d.epoch != 0 && verified.Load() == d.epoch
}

func (d *decoding) verify(verified *atomic.Uint64) {
	if d.epoch != 0 {
		verified.Store(d.epoch)
	}
}

// layout is how a SHAPE's fields lie in the recipe's type.
func (d *decoding) layout(r *recipe, ref uint32) *layout {
	place := scatter(ref, r) % shapesKept
	for _, at := range [2]uint64{place, place ^ 1} {
		l := d.known.shapes[at].Load()
		if l == nil || l.ref != ref || l.recipe != r {
			continue
		}
		if d.still(&l.verified) {
			return l
		}
		if l.unchanged(d.raw) {
			d.verify(&l.verified)
			return l
		}
		place = at
		break
	}
	return d.learn(r, ref, place)
}

// learn makes the layout anew, and remembers it at `place`, or at the neighbour if that is free.
func (d *decoding) learn(r *recipe, ref uint32, place uint64) *layout {
	_, names, count := d.shape(ref)
	l := &layout{recipe: r, ref: ref, block: d.imageOf(ref, blockShape).bytes}
	d.left -= int(count)
	d.take(count * 64)
	bytes := len(l.block)
	for i := range count {
		ref := d.u32(names + 4*i)
		name, ok := d.shared(ref)
		if !ok {
			corrupt()
		}
		l.names = append(l.names, d.imageOf(ref, blockValue))
		bytes += len(name)
		l.keys = append(l.keys, name)
		if r.form == formStruct {
			m := r.fields[name]
			if m.form = formNone; m.recipe != nil {
				m.form = m.recipe.form
			}
			l.members = append(l.members, m)
		}
	}
	if count > shapeNamesKept || bytes > shapeBytesKept || d.p.validate() != nil {
		return l // also what was read from zeros is not remembered
	}
	l.verified.Store(d.epoch)
	if old := d.known.shapes[place].Load(); old != nil && (old.ref != ref || old.recipe != r) &&
		d.known.shapes[place^1].Load() == nil {
		place ^= 1
	}
	d.known.shapes[place].Store(l)
	return l
}

// A shared is a string that many objects have, and which all that is decoded from them shares.
type shared struct {
	text     string
	verified atomic.Uint64 // as a layout's, of the VALUE `ref`
	ref      uint32
}

// shared is the string in a VALUE block, t, which may be not read yet.
func (d *decoding) shared(ref uint32) (string, bool) {
	d.learning.needs(d, ref)
	slot := &d.known.strings[uint64(ref)*0x9e3779b97f4a7c15>>32%stringsKept]
	s := slot.Load()
	if s != nil && s.ref == ref && d.still(&s.verified) {
		return s.text, true
	}
	t := d.refer(ref)
	if tagForms[t.tag].kind != String || t.tag <= tagVersion {
		return "", false
	}
	text := d.raw[t.from:t.to]
	if s != nil && s.ref == ref && s.text == string(text) {
		d.verify(&s.verified)
		return s.text, true
	}
	d.take(uint64(len(text)))
	copied := string(text)
	if len(text) <= stringKept && d.p.validate() == nil {
		s = &shared{text: copied, ref: ref}
		s.verified.Store(d.epoch)
		slot.Store(s)
	}
	return copied, true
}
