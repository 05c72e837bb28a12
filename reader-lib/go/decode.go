// SPDX-License-Identifier: Apache-2.0

package informer

import (
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
// what an UnmarshalJSON or a function of RegisterText returned, ErrExpired, ErrCorrupt, ErrClosed. After an error
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

// What one object may be: a damaged arena may refer to itself, or to a large string many times.
const (
	decodeBytesMax = 1 << 28
	decodeItemsMax = 1 << 22
)

// A decoding is a call of Decode.
type decoding struct {
	decoder
	left    int // values that may still be visited
	p       *pin
	known   *remembered
	epoch   uint64 // of the snapshot, 0: it does not show the object
	room    uint64 // bytes that may still be allocated
	calling bool   // code of the caller's runs
	json    []byte
}

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

func decode(s Snapshot, into any, own uint64, body func(*decoder) span) (bytes int, err error) {
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
	d.decoder, d.left = decoder{&p.view, own}, decodeItemsMax
	d.p, d.known, d.room, d.calling = p, p.m.remembered(), decodeBytesMax, false
	old := debug.SetPanicOnFault(true)
	defer d.guard(old, &err)
	if d.epoch = p.epoch; own == 0 || d.u64(own+objSeq) > p.seq {
		d.epoch = 0
	}
	at := body(&d.decoder)
	err = d.set(r, d.follow(d.open(at.at, at.end)), 0, to.UnsafePointer())
	return int(r.size) + int(decodeBytesMax-d.room), err
}

// guard is pin.guard, but panics of the caller's code go on.
func (d *decoding) guard(old bool, err *error) {
	debug.SetPanicOnFault(old)
	if d.calling {
		return
	}
	d.p.settle(recover(), err)
	d.view, d.p, d.known = nil, nil, nil
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
	t := d.open(d.block(ref, blockValue, 1))
	if t.tag == tagRef {
		corrupt()
	}
	t.ref = ref
	return t
}

func (d *decoding) take(bytes uint64) {
	if bytes > d.room {
		corrupt()
	}
	d.room -= bytes
}

// expect checks a number of items with the bytes that they have, and takes what they need.
func (d *decoding) expect(count int, t token, size uintptr) {
	if uint64(count) > t.to-t.from {
		corrupt()
	}
	d.left -= count
	d.take(uint64(count) * uint64(size))
}

func (d *decoding) copy(text []byte) string {
	d.take(uint64(len(text)))
	return string(text)
}

func (d *decoding) textOf(t token) []byte {
	if t.tag >= tagName && t.tag <= tagVersion {
		return d.head(t.tag)
	}
	return d.raw[t.from:t.to]
}

// string is a copy of a string.
func (d *decoding) string(t token) string {
	if t.tag >= tagName && t.tag <= tagVersion && t.tag != tagName+1 {
		return d.copy(d.head(t.tag)) // no other object has it
	}
	if t.ref != 0 {
		if text, ok := d.shared(t.ref); ok {
			return text
		}
	}
	return d.word(d.textOf(t))
}

func (r *recipe) refuse(tag byte) error {
	kinds := [...]string{"nothing", "null", "a boolean", "an integer", "an integer", "a number", "a number", "a string",
		"an array", "an object"}
	return fmt.Errorf("%s for a %v: %w", kinds[kindOf(tag)], r.t, ErrType)
}

// set sets what `to` points to, a value of r's type, from the value t.
func (d *decoding) set(r *recipe, t token, depth int, to unsafe.Pointer) error {
	if d.left--; d.left < 0 || depth > valueDepthMax {
		corrupt()
	}
	kind := tagForms[t.tag].kind
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
			*pointer = reflect.New(r.elem.t).UnsafePointer()
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
	case formText:
		if kind == String {
			text := d.string(t)
			d.calling = true
			err := r.text(text, to)
			d.calling = false
			return err
		}
		return d.setByJSON(r, t, depth, to)
	case formAny:
		b := builder{printer{&d.decoder, d.left}}
		*(*any)(to) = b.build(t.span(), depth)
		d.left = b.left
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
	case formJSON, formUnmarshaler, formText:
		return d.setByJSON(r, t, 0, to)
	case formPointer, formSlice, formBytes, formMap, formStringMap, formAny:
		r.value(to).SetZero()
	}
	return nil
}

// setByJSON prints the value, and has the type's UnmarshalJSON or encoding/json read it.
func (d *decoding) setByJSON(r *recipe, t token, depth int, to unsafe.Pointer) (err error) {
	p := printer{&d.decoder, d.left}
	d.json = p.append(d.json[:0], t.span(), depth)
	d.left = p.left
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
	bytes := make([]byte, size)
	n, err := base64.StdEncoding.Decode(bytes, text)
	if err != nil {
		return fmt.Errorf("no base64: %w", ErrType)
	}
	*(*[]byte)(to) = bytes[:n]
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

// ---- arrays and objects

// A sliceHead is what a slice is in memory.
type sliceHead struct {
	first            unsafe.Pointer
	length, capacity int
}

func (d *decoding) setSlice(r *recipe, t token, depth int, to unsafe.Pointer) error {
	count := 0
	for at := t.from; t.tag != tagNoArray && at < t.to; count++ {
		at = d.open(at, t.to).to
	}
	d.take(uint64(count) * uint64(r.elem.size))
	slice := (*sliceHead)(to)
	*slice = sliceHead{}
	switch count {
	case 0:
		r.value(to).Set(reflect.MakeSlice(r.t, 0, 0))
		return nil
	case 1:
		*slice = sliceHead{reflect.New(r.elem.t).UnsafePointer(), 1, 1}
	default:
		r.value(to).Grow(count)
		slice.length = count
	}
	elem := slice.first
	for i, at := 0, t.from; i < count; i++ {
		item := d.open(at, t.to)
		at = item.to
		if err := d.set(r.elem, d.follow(item), depth+1, unsafe.Add(elem, uintptr(i)*r.elem.size)); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// layoutOf is the layout of an object's value, nil: it is {}.
func (d *decoding) layoutOf(r *recipe, t token) *layout {
	if t.tag == tagNoMap {
		return nil
	}
	return d.layout(r, d.u32(t.from-4))
}

func (d *decoding) setStruct(r *recipe, t token, depth int, to unsafe.Pointer) error {
	l := d.layoutOf(r, t)
	if l == nil {
		return nil
	}
	at := t.from
	for i := range l.members {
		item, m := d.open(at, t.to), &l.members[i]
		at = item.to
		if m.recipe == nil {
			continue
		}
		if item.tag == tagRef {
			ref := d.u32(item.from)
			if m.recipe.form == formString {
				if text, ok := d.shared(ref); ok {
					*(*string)(unsafe.Add(to, m.offset)) = text
					continue
				}
			}
			item = d.refer(ref)
		} else if m.recipe.form == formString && tagForms[item.tag].kind == String {
			*(*string)(unsafe.Add(to, m.offset)) = d.string(item)
			continue
		}
		if err := d.set(m.recipe, item, depth+1, unsafe.Add(to, m.offset)); err != nil {
			return within(l.keys[i], err)
		}
	}
	if at != t.to {
		corrupt()
	}
	return nil
}

func (d *decoding) setStringMap(r *recipe, t token, to unsafe.Pointer) error {
	l, m := d.layoutOf(r, t), (*map[string]string)(to)
	if l == nil {
		if *m == nil {
			*m = map[string]string{}
		}
		return nil
	}
	d.expect(len(l.keys), t, 2*unsafe.Sizeof(""))
	if *m == nil {
		*m = make(map[string]string, len(l.keys))
	}
	at := t.from
	for _, key := range l.keys {
		item := d.open(at, t.to)
		at = item.to
		if item.tag == tagRef {
			ref := d.u32(item.from)
			if text, ok := d.shared(ref); ok {
				(*m)[key] = text
				continue
			}
			item = d.refer(ref)
		}
		switch tagForms[item.tag].kind {
		case String:
			(*m)[key] = d.string(item)
		case Null:
			(*m)[key] = ""
		default:
			return within(key, r.elem.refuse(item.tag))
		}
	}
	if at != t.to {
		corrupt()
	}
	return nil
}

func (d *decoding) setMap(r *recipe, t token, depth int, to unsafe.Pointer) error {
	l, m := d.layoutOf(r, t), r.value(to)
	if l == nil {
		if m.IsNil() {
			m.Set(reflect.MakeMap(r.t))
		}
		return nil
	}
	d.expect(len(l.keys), t, unsafe.Sizeof("")+r.elem.size)
	if m.IsNil() {
		m.Set(reflect.MakeMapWithSize(r.t, len(l.keys)))
	}
	elem, at := reflect.New(r.elem.t), t.from
	for i := range l.keys {
		item := d.open(at, t.to)
		at = item.to
		elem.Elem().SetZero()
		if err := d.set(r.elem, d.follow(item), depth+1, elem.UnsafePointer()); err != nil {
			return within(l.keys[i], err)
		}
		m.SetMapIndex(reflect.NewAt(r.t.Key(), unsafe.Pointer(&l.keys[i])).Elem(), elem.Elem())
	}
	if at != t.to {
		corrupt()
	}
	return nil
}
