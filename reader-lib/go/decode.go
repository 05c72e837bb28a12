// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"strconv"
	"sync"
	"unsafe"
)

// Decode sets what `into` points to from the object, as json.Unmarshal of its JSON would: by the fields' json tags,
// without apiVersion and kind. Differences:
//   - The names of fields are compared exactly.
//   - An `any` gets what Unstructured has: int64s where json has float64s.
//   - A slice gets memory of its own; what it pointed to before is left alone.
//   - The first value that does not fit its field ends the call.
//
// Errors: ErrType (a value of another kind than its field, or `into` is no pointer; the sentence has the path),
// what an UnmarshalJSON or a function of RegisterText or RegisterInt returned, ErrExpired, ErrCorrupt, ErrClosed. After an error
// some fields may be set.
//
// What `into` gets is a copy, valid for ever. Strings that many objects have are shared. The first object of a
// type costs reflection.
func (o Object) Decode(into any) error {
	_, err := o.DecodeSized(into)
	return err
}

// DecodeSized is Decode, and returns about how many bytes `into` has then, with all that it points to but for shared
// strings: for a cache that is bounded in bytes.
func (o Object) DecodeSized(into any) (bytes int, err error) {
	return decode(o.s, into, o.at, func(d *decoder) span { return o.body(d) })
}

// Decode sets what `into` points to from the value, as Object.Decode does.
func (v Value) Decode(into any) error {
	_, err := decode(v.s, into, v.own, func(*decoder) span { return v.at })
	return err
}

// A decoding is a call of Decode.
type decoding struct {
	decoder
	limits
	raw      raw // the view's
	p        *pin
	known    *remembered
	epoch    uint64 // of the snapshot, 0: it does not show the object
	calling  bool   // code of the caller's runs
	zero     bool   // what `into` points to was zero before
	learning *memo  // nil: no memo is made
	json     []byte
	spare    mapEntry

	chunk       *[chunkWords]uint64
	front, back uintptr // free bytes of the chunk; strings are taken from the front, numbers from the back
}

// Short strings, and numbers behind pointers, are put into chunks: one allocation for several. A caller that keeps one of
// them keeps the chunk.
const (
	chunkWords = 16
	chunkBytes = 8 * chunkWords
	packedMax  = 48 // bytes of a string
)

var decodings = sync.Pool{New: func() any { return new(decoding) }}

// mismatch is why a value cannot be set, and where it is.
type mismatch struct {
	path string
	err  error
}

func (m *mismatch) Error() string { return m.path + ": " + m.err.Error() }
func (m *mismatch) Unwrap() error { return m.err }

// within adds a field's name or an element's number to an error.
func within(step string, err error) error {
	m, ok := err.(*mismatch)
	if !ok {
		return &mismatch{step, err}
	}
	if m.path != "" && m.path[0] != '[' {
		step += "."
	}
	m.path = step + m.path
	return err
}

func decode(s Snapshot, into any, own uint64, body func(*decoder) span) (size int, err error) {
	p, err := s.open()
	if err != nil {
		return 0, err
	}
	to := reflect.ValueOf(into)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return 0, fmt.Errorf("Decode into %T: no pointer, or nil: %w", into, ErrType)
	}
	r := recipeOf(to.Type().Elem())
	d := decodings.Get().(*decoding)
	d.decoder, d.raw, d.limits = decoder{&p.view, own}, p.view.raw, limits{itemsMax, bytesMax}
	d.p, d.known, d.calling = p, p.m.remembered(), false
	old := debug.SetPanicOnFault(true)
	defer d.guard(old, &err)
	if d.epoch = p.epoch; own == 0 || d.u64(own+objSeq) > p.seq {
		d.epoch = 0
	}
	before := unsafe.Slice((*byte)(to.UnsafePointer()), r.size)
	d.zero = r.size == 0 || before[0] == 0 && bytes.Equal(before[1:], before[:r.size-1])
	at := body(&d.decoder)
	err = d.set(r, d.open(at.at, at.end), 0, to.UnsafePointer())
	return int(r.size) + int(bytesMax-d.room), err
}

// guard is pin.guard, but panics of the caller's code go on.
func (d *decoding) guard(old bool, err *error) {
	debug.SetPanicOnFault(old)
	if d.calling {
		return
	}
	d.p.settle(recover(), err)
	d.view, d.raw, d.p, d.known, d.learning = nil, nil, nil, nil, nil
	if cap(d.json) <= 1<<16 {
		decodings.Put(d)
	}
}

// ---- values

// A token is a value: where its content begins, and where it ends. It is small enough for registers.
type token struct {
	from, to uint64
	ref      uint32 // of its VALUE block, 0: it stands where it is used
	tag      byte
}

// span is where the value stands.
func (t token) span() span {
	return span{t.from - uint64(tagForms[t.tag].head), t.to}
}

// A tagForm is what a tag says of its value: the kind, and how long head and content are.
type tagForm struct {
	mask  uint32 // of the length that stands behind the tag; 0: none does
	kind  Kind   // of a reference: None
	head  uint8  // bytes before the content; 0: there is no such tag
	fixed uint8  // bytes of content whose length does not stand behind the tag
}

var tagForms = func() (forms [256]tagForm) {
	for tag := range forms {
		text := view{raw: raw{byte(tag), 0, 0, 0, 0, 0, 0, 0, 0}}
		func() {
			defer func() { recover() }() // no such tag
			d := decoder{view: &text}
			head, length := d.content(span{0, 9})
			form := tagForm{head: uint8(head), fixed: uint8(length)}
			switch {
			case tag == tagNumber8, tag == tagString8:
				form.mask = 0xff
			case head == 3, tag == tagMap16:
				form.mask = 0xffff
			case head == 5, tag == tagMap32:
				form.mask = 0xffffffff
			}
			if tag != tagRef {
				form.kind = kindOf(byte(tag))
			}
			forms[tag] = form
		}()
	}
	return forms
}()

// open is the value that begins at `at`; a reference is not followed.
func (d *decoding) open(at, end uint64) token {
	if at >= end {
		corrupt()
	}
	tag := d.raw[at]
	form := &tagForms[tag]
	length := uint64(form.fixed)
	if form.mask != 0 {
		length = d.lengthAt(at, form)
	}
	from := at + uint64(form.head)
	if form.head == 0 || from > end || length > end-from {
		corrupt()
	}
	return token{from, from + length, 0, tag}
}

// lengthAt is the length behind the tag.
func (d *decoding) lengthAt(at uint64, form *tagForm) uint64 {
	switch form.mask {
	case 0xff:
		return uint64(d.raw[at+1])
	case 0xffff:
		return uint64(d.u16(at + 1))
	}
	return uint64(d.u32(at + 1))
}

// follow is the value that a reference leads to.
func (d *decoding) follow(t token) token {
	if t.tag != tagRef {
		return t
	}
	return d.refer(d.u32(t.from))
}

// refer is the value in a VALUE block.
func (d *decoding) refer(ref uint32) token {
	d.learning.needs(d, ref)
	t := d.open(d.block(ref, blockValue, 1))
	if t.tag == tagRef {
		corrupt()
	}
	t.ref = ref
	return t
}

// expect checks a number of items with the bytes that they have, and takes what they need.
func (d *decoding) expect(count int, t token, size uintptr) {
	if uint64(count) > t.to-t.from {
		corrupt()
	}
	d.visit(count)
	d.take(uint64(count) * uint64(size))
}

// copy is a copy of a string.
func (d *decoding) copy(text []byte) string {
	n := uintptr(len(text))
	d.take(uint64(n))
	if n == 0 {
		return "" // a chunk may have no byte left to point to
	}
	if n > packedMax || d.learning != nil { // a memo keeps no chunk
		return string(text)
	}
	if n > d.back-d.front {
		d.renew()
	}
	to := unsafe.Add(unsafe.Pointer(d.chunk), d.front)
	d.front += n
	copy(unsafe.Slice((*byte)(to), n), text)
	return unsafe.String((*byte)(to), n)
}

// plain is memory for a value without pointers, of 1, 2, 4 or 8 bytes.
func (d *decoding) plain(size uintptr) unsafe.Pointer {
	if d.learning != nil {
		return unsafe.Pointer(new(uint64))
	}
	if d.back-d.front < 2*size {
		d.renew()
	}
	d.back = (d.back - size) &^ (size - 1)
	return unsafe.Add(unsafe.Pointer(d.chunk), d.back)
}

func (d *decoding) renew() { d.chunk, d.front, d.back = new([chunkWords]uint64), 0, chunkBytes }

func (d *decoding) textOf(t token) []byte {
	if t.tag >= tagName && t.tag <= tagVersion {
		return d.head(t.tag)
	}
	return d.raw[t.from:t.to]
}

// string is a string's copy, one for all that refer to the same VALUE.
func (d *decoding) string(t token) string {
	if t.ref != 0 {
		if text, ok := d.shared(t.ref); ok {
			return text
		}
	}
	return d.copy(d.textOf(t))
}

func (r *recipe) refuse(tag byte) error {
	kinds := [...]string{"nothing", "null", "a boolean", "an integer", "an integer", "a number", "a number", "a string",
		"an array", "an object"}
	return fmt.Errorf("%s for a %v: %w", kinds[kindOf(tag)], r.t, ErrType)
}

// set sets what `to` points to, a value of r's type, from the value t or what t refers to.
func (d *decoding) set(r *recipe, t token, depth int, to unsafe.Pointer) error {
	if depth > valueDepthMax {
		corrupt()
	}
	ref := t.ref
	if t.tag == tagRef {
		ref = d.u32(t.from)
	}
	if ref != 0 && (r.form == formStruct || r.form == formSlice) && d.recall(r, ref, depth, to) {
		return nil
	}
	t = d.follow(t)
	kind := tagForms[t.tag].kind
	if d.learning != nil && d.learning.leaves(r, t, depth, to) {
		return nil
	}
	if kind == Null {
		return d.setNull(r, t, to)
	}
	switch r.form {
	case formString:
		if kind == String {
			*(*string)(to) = d.string(t)
			return nil
		}
	case formStruct:
		if kind == Map {
			return d.setStruct(r, t, depth, to)
		}
	case formPointer:
		pointer := (*unsafe.Pointer)(to)
		if *pointer == nil {
			d.take(uint64(r.elem.size))
			if r.elem.plain() {
				*pointer = d.plain(r.elem.size)
			} else {
				*pointer = reflect.New(r.elem.t).UnsafePointer()
			}
			d.learning.points(to, *pointer, r.elem, 1)
		}
		return d.set(r.elem, t, depth, *pointer)
	case formSlice:
		if kind == Array {
			return d.setSlice(r, t, depth, to)
		}
	case formMap:
		if kind == Map {
			return d.setMap(r, t, depth, to)
		}
	case formStringMap:
		if kind == Map {
			return d.setStringMap(r, t, to)
		}
	case formBool:
		if kind == Bool {
			*(*bool)(to) = t.tag == 2
			return nil
		}
	case formInt, formUint, formFloat:
		return d.setNumber(r, t, kind, to)
	case formParsed:
		return d.setParsed(r, t, depth, to)
	case formAny:
		b := builder{printer{&d.decoder, d.limits}}
		*(*any)(to) = b.build(t.span(), depth)
		d.limits = b.limits
		return nil
	case formBytes:
		if kind == String {
			return d.setBytes(r, t, to)
		}
		return d.setByJSON(r, t, depth, to)
	default:
		return d.setByJSON(r, t, depth, to)
	}
	return r.refuse(t.tag)
}

func (d *decoding) setNull(r *recipe, t token, to unsafe.Pointer) error {
	switch r.form {
	case formJSON, formUnmarshaler, formParsed:
		return d.setByJSON(r, t, 0, to)
	case formPointer, formSlice, formBytes, formMap, formStringMap, formAny:
		r.value(to).SetZero()
	}
	return nil
}

// setParsed has what RegisterText or RegisterInt was given set the value.
func (d *decoding) setParsed(r *recipe, t token, depth int, to unsafe.Pointer) (err error) {
	switch kind := tagForms[t.tag].kind; {
	case kind == String && r.text != nil:
		text := d.string(t)
		d.calling = true
		err = r.text(text, to)
	case kind == Int && r.int != nil:
		n := d.integer(t.span(), t.tag)
		d.calling = true
		err = r.int(n, to)
	default:
		return d.setByJSON(r, t, depth, to)
	}
	d.calling = false
	return err
}

// setByJSON prints the value, and has the type's UnmarshalJSON or encoding/json read it.
func (d *decoding) setByJSON(r *recipe, t token, depth int, to unsafe.Pointer) (err error) {
	p := printer{&d.decoder, d.limits}
	d.json = p.append(d.json[:0], t.span(), depth)
	d.limits = p.limits
	d.calling = true
	if r.reader != nil {
		err = r.unmarshaler(to).UnmarshalJSON(d.json)
	} else {
		err = json.Unmarshal(d.json, r.pointer(to))
	}
	d.calling = false
	if err != nil {
		return typeError(err)
	}
	return nil
}

// typeError makes encoding/json's errors of types ours, too.
func typeError(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%w: %w", wrong, ErrType)
	}
	return err
}

func (d *decoding) setBytes(r *recipe, t token, to unsafe.Pointer) error {
	text := d.textOf(t)
	size := base64.StdEncoding.DecodedLen(len(text))
	d.take(uint64(size))
	decoded := make([]byte, size)
	n, err := base64.StdEncoding.Decode(decoded, text)
	if err != nil {
		return fmt.Errorf("no base64: %w", ErrType)
	}
	*(*[]byte)(to) = decoded[:n]
	return nil
}

func (d *decoding) setNumber(r *recipe, t token, kind Kind, to unsafe.Pointer) error {
	if r.form == formFloat {
		return d.setFloat(r, t, kind, to)
	}
	n, unsigned := int64(0), false
	switch kind {
	case Int:
		n = d.integer(t.span(), t.tag)
	case Uint:
		n, unsigned = int64(d.u64(t.from)), true
	default:
		return r.refuse(t.tag)
	}
	signed, bits := r.form == formInt, 8*r.size
	if signed && (unsigned || n<<(64-bits)>>(64-bits) != n) || !signed && (n < 0 && !unsigned || uint64(n)<<(64-bits)>>(64-bits) != uint64(n)) {
		return fmt.Errorf("an integer too large for a %v: %w", r.t, ErrType)
	}
	switch r.size {
	case 1:
		*(*int8)(to) = int8(n)
	case 2:
		*(*int16)(to) = int16(n)
	case 4:
		*(*int32)(to) = int32(n)
	default:
		*(*int64)(to) = n
	}
	return nil
}

func (d *decoding) setFloat(r *recipe, t token, kind Kind, to unsafe.Pointer) (err error) {
	n := 0.0
	switch kind {
	case Int:
		n = float64(d.integer(t.span(), t.tag))
	case Uint:
		n = float64(d.u64(t.from))
	case Double:
		n = math.Float64frombits(d.u64(t.from))
	case Number:
		n, err = strconv.ParseFloat(string(d.textOf(t)), 64)
	default:
		return r.refuse(t.tag)
	}
	if err != nil || r.size == 4 && math.Abs(n) > math.MaxFloat32 {
		return fmt.Errorf("a number too large for a %v: %w", r.t, ErrType)
	}
	if r.size == 4 {
		*(*float32)(to) = float32(n)
	} else {
		*(*float64)(to) = n
	}
	return nil
}
