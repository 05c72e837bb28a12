// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Most of an object lies in VALUE blocks that many objects refer to: probes, volumes, tolerations, whole containers.
// Decode remembers the Go value that it made of such a block, a memo, and copies it the next time. Copies share only the
// bytes of strings. A map, an `any`, and a type with an UnmarshalJSON or a registered function may share more when they
// are copied, so these parts are decoded for each copy.

const (
	memosKept        = 8192
	memoBytesDefault = 256 << 10 // Options.DecodeBytes; from then on, a new memo must take another one's place
	memoBlocksMax    = 48        // a value that needs more is not remembered
	memoRestMax      = 48
	memoElementsMax  = 64 // of a slice
	memoBytesMax     = 8192
)

// A memo is a VALUE block as a recipe's type.
type memo struct {
	recipe   *recipe
	ref      uint32
	useless  bool          // the value is too large: it is decoded each time
	verified atomic.Uint64 // as a layout's, of all that follows
	values   []image       // the VALUE, and those that it refers to: each comes after one that refers to it
	layouts  []*layout
	kept     uint64 // bytes of memory and values
	bytes    uint64 // that a copy takes
	memory   []memory
	rest     []remainder
}

// A memory is one allocation of a memo; the first one is the value itself.
type memory struct {
	at    unsafe.Pointer
	value reflect.Value // what stands there
	size  uintptr
	plain bool
	in    int     // the memory that points to it
	slot  uintptr // and where the pointer stands there
}

// A remainder of a memo is decoded for each copy.
type remainder struct {
	recipe *recipe
	from   token
	depth  int
	in     int
	slot   uintptr
}

// unchanged compares the memo's blocks with the arena.
func (m *memo) unchanged(d *decoding) bool {
	if m.useless {
		return true
	}
	for i := range m.values {
		if !d.raw.is(&m.values[i]) {
			return false
		}
	}
	for _, l := range m.layouts {
		if !d.still(&l.verified) && !l.unchanged(d.raw) {
			return false
		}
	}
	return true
}

// recall sets what `to` points to, which is zero, from the memo of a VALUE. False: decode it.
func (d *decoding) recall(r *recipe, ref uint32, depth int, to unsafe.Pointer) bool {
	if !d.zero || d.learning != nil {
		return false
	}
	m := d.memo(r, ref)
	if m == nil {
		return false
	}
	d.visit(1 + len(m.memory))
	d.take(m.bytes)
	var at [memoBlocksMax]unsafe.Pointer
	at[0] = to
	r.value(to).Set(m.memory[0].value)
	for i := 1; i < len(m.memory); i++ {
		block := &m.memory[i]
		at[i] = d.copyOf(block)
		*(*unsafe.Pointer)(unsafe.Add(at[block.in], block.slot)) = at[i]
	}
	for i := range m.rest {
		p := &m.rest[i]
		if d.set(p.recipe, p.from, depth+p.depth, unsafe.Add(at[p.in], p.slot)) != nil {
			return false // decoding finds the same, and where it is
		}
	}
	return true
}

func (d *decoding) copyOf(block *memory) unsafe.Pointer {
	if block.plain {
		to := d.plain(block.size)
		copy(unsafe.Slice((*byte)(to), block.size), unsafe.Slice((*byte)(block.at), block.size))
		return to
	}
	if block.size <= unsafe.Sizeof(uintptr(0)) { // an interface may have the value itself
		to := reflect.New(block.value.Type())
		to.Elem().Set(block.value)
		return to.UnsafePointer()
	}
	to := block.value.Interface() // it points to a copy
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&to))[1]
}

// memo is the VALUE's as r's type, nil: there is none. A VALUE is remembered when it comes for the second time before
// another one that would stand in the same place.
func (d *decoding) memo(r *recipe, ref uint32) *memo {
	hash := scatter(ref, r)
	place := hash % memosKept
	for _, at := range [2]uint64{place, place ^ 1} {
		m := d.known.memos[at].Load()
		if m == nil || m.ref != ref || m.recipe != r {
			continue
		}
		if !d.still(&m.verified) {
			if !m.unchanged(d) {
				place = at
				break
			}
			d.verify(&m.verified)
		}
		if m.useless {
			return nil
		}
		return m
	}
	if d.epoch == 0 || d.known.seen[place].Swap(uint32(hash)) != uint32(hash) {
		return nil
	}
	old := d.known.memos[place].Load()
	if old != nil && d.known.memos[place^1].Load() == nil {
		old, place = nil, place^1
	}
	if old == nil && d.known.bytes.Load() >= d.p.m.memoBytes {
		return nil
	}
	m := d.memorize(r, ref)
	if m == nil || d.p.validate() != nil {
		return nil
	}
	if old = d.known.memos[place].Swap(m); old != nil {
		d.known.bytes.Add(-int64(old.kept))
	}
	d.known.bytes.Add(int64(m.kept))
	if m.useless {
		return nil
	}
	return m
}

// memorize decodes the VALUE for a memo. nil: it does not fit the type.
func (d *decoding) memorize(r *recipe, ref uint32) *memo {
	m := &memo{recipe: r, ref: ref}
	to, room := reflect.New(r.t), d.room
	m.memory = []memory{{at: to.UnsafePointer(), value: to.Elem(), size: r.size}}
	m.grow(uint64(unsafe.Sizeof(*m)+unsafe.Sizeof(m.memory[0])) + uint64(r.size))
	d.learning = m
	err := d.set(r, d.refer(ref), 0, to.UnsafePointer())
	d.learning, d.room = nil, room
	if err != nil {
		return nil
	}
	if m.useless {
		m.values, m.layouts, m.memory, m.rest, m.kept = nil, nil, nil, nil, uint64(unsafe.Sizeof(*m))
	}
	m.verified.Store(d.epoch)
	return m
}

// needs adds a VALUE to those that the memo was made of.
func (m *memo) needs(d *decoding, ref uint32) {
	if m == nil || m.useless {
		return
	}
	if at, end := d.block(ref, blockValue, 1); !m.grow(uint64(unsafe.Sizeof(image{})) + end - at) {
		return
	}
	m.values = append(m.values, d.imageOf(ref, blockValue))
}

// grow counts bytes that the memo keeps.
func (m *memo) grow(bytes uint64) bool {
	m.kept += bytes
	m.useless = m.useless || m.kept > memoBytesMax
	return !m.useless
}

// place is where `to` lies in the memo's memory.
func (m *memo) place(to unsafe.Pointer) (in int, slot uintptr) {
	for i := range m.memory {
		slot = uintptr(to) - uintptr(m.memory[i].at)
		if slot < m.memory[i].size {
			return i, slot
		}
	}
	m.useless = true
	return 0, 0
}

// points adds an allocation of `count` values, to which the pointer at `slot` points.
func (m *memo) points(slot, at unsafe.Pointer, r *recipe, count int) {
	size := uintptr(count) * r.size
	if m == nil || size == 0 || !m.grow(uint64(unsafe.Sizeof(memory{})+size)) {
		return
	}
	if len(m.memory) == memoBlocksMax || count > memoElementsMax {
		m.useless = true
		return
	}
	m.bytes += uint64(size)
	t := r.t
	if count != 1 {
		t = reflect.ArrayOf(count, t)
	}
	block := memory{at: at, value: reflect.NewAt(t, at).Elem(), size: size, plain: count == 1 && r.plain()}
	block.in, block.slot = m.place(slot)
	m.memory = append(m.memory, block)
}

// leaves has a value decoded for each copy if its form needs that.
func (m *memo) leaves(r *recipe, t token, depth int, to unsafe.Pointer) bool {
	if r.copied() && !m.useless {
		return false
	}
	if m.useless = m.useless || len(m.rest) == memoRestMax; m.grow(uint64(unsafe.Sizeof(remainder{}))) {
		in, slot := m.place(to)
		m.rest = append(m.rest, remainder{r, t, depth, in, slot})
	}
	return true
}
