// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"sync/atomic"
	"unsafe"
)

// Thousands of objects refer to the same SHAPEs, names and values. What Decode found out about them is
// remembered, for each mapping, in two tables of fixed size. The writer may put something else in the place of
// a block, so what is remembered has a copy of the bytes, and counts only while these are the same.

const (
	shapesKept     = 4096
	stringsKept    = 8192
	wordsKept      = 4096
	shapeNamesKept = 128 // larger shapes are not remembered
	shapeBytesKept = 4096
	stringKept     = 1024 // nor are longer strings
	wordKept       = 23   // nor longer words
)

type remembered struct {
	shapes  [shapesKept]atomic.Pointer[layout]
	strings [stringsKept]atomic.Pointer[shared]
	words   [wordsKept]atomic.Pointer[word]
	strange [wordsKept]atomic.Uint32
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
	members  []member // of structs: what is set; without recipe: the struct has no such field
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

func (a raw) is(i *image) bool { return string(a[i.at:i.at+uint64(len(i.bytes))]) == i.bytes }

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

// layout is how a SHAPE's fields lie in the recipe's type.
func (d *decoding) layout(r *recipe, ref uint32) *layout {
	place := scatter(ref, r) % shapesKept
	for _, at := range [2]uint64{place, place ^ 1} {
		l := d.known.shapes[at].Load()
		if l == nil || l.ref != ref || l.recipe != r {
			continue
		}
		if d.epoch != 0 && l.verified.Load() == d.epoch {
			return l
		}
		if l.unchanged(d.raw) {
			if d.epoch != 0 {
				l.verified.Store(d.epoch)
			}
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
			l.members = append(l.members, r.fields[name])
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
	slot := &d.known.strings[uint64(ref)*0x9e3779b97f4a7c15>>32%stringsKept]
	s := slot.Load()
	if s != nil && s.ref == ref && d.epoch != 0 && s.verified.Load() == d.epoch {
		return s.text, true
	}
	t := d.refer(ref)
	if tagForms[t.tag].kind != String || t.tag <= tagVersion {
		return "", false
	}
	text := d.raw[t.from:t.to]
	if s != nil && s.ref == ref && s.text == string(text) {
		if d.epoch != 0 {
			s.verified.Store(d.epoch)
		}
		return s.text, true
	}
	copied := d.copy(text)
	if len(text) <= stringKept && d.p.validate() == nil {
		s = &shared{text: copied, ref: ref}
		s.verified.Store(d.epoch)
		slot.Store(s)
	}
	return copied, true
}

// A word is a short string.
type word struct {
	length uint8
	bytes  [wordKept]byte
}

func (w *word) string() string { return unsafe.String(&w.bytes[0], w.length) }

// word is a copy of a short string, one for all that are equal, if it is frequent: it is remembered when it comes for
// the second time before another one takes its place.
func (d *decoding) word(text []byte) string {
	n := len(text)
	if n == 0 || n > wordKept {
		return d.copy(text)
	}
	var a, b, c uint64
	switch {
	case n > 16:
		c = raw(text).u64(8)
		fallthrough
	case n >= 8:
		a, b = raw(text).u64(0), raw(text).u64(uint64(n-8))
	case n >= 4:
		a, b = uint64(raw(text).u32(0)), uint64(raw(text).u32(uint64(n-4)))
	default:
		a, b = uint64(text[0]), uint64(text[n/2])<<8|uint64(text[n-1])
	}
	hash := mix(a^uint64(n)*0x9e3779b97f4a7c15, b^0xa0761d6478bd642f) ^ c*0x9e3779b97f4a7c15
	place := hash >> 32 % wordsKept
	if w := d.known.words[place].Load(); w != nil && w.string() == string(text) {
		return w.string()
	}
	if strange := &d.known.strange[place]; strange.Load() != uint32(hash) {
		strange.Store(uint32(hash))
		return d.copy(text)
	}
	w := &word{length: uint8(n)}
	copy(w.bytes[:], text)
	d.known.words[place].Store(w)
	return w.string()
}
