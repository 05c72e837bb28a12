// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"reflect"
	"strconv"
	"unsafe"
)

// Arrays and objects, whose parts decode one by one.

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
	d.visit(count)
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
		slice.capacity = count // that a memo has
	}
	d.learning.points(to, slice.first, r.elem, count)
	elem := slice.first
	for i, at := 0, t.from; i < count; i++ {
		item := d.open(at, t.to)
		at = item.to
		if err := d.set(r.elem, item, depth+1, unsafe.Add(elem, uintptr(i)*r.elem.size)); err != nil {
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
	l := d.layout(r, d.u32(t.from-4))
	if d.learning != nil {
		d.learning.layouts = append(d.learning.layouts, l)
	}
	return l
}

func (d *decoding) setStruct(r *recipe, t token, depth int, to unsafe.Pointer) error {
	l := d.layoutOf(r, t)
	if l == nil {
		return nil
	}
	d.visit(len(l.members))
	at, raw := t.from, d.raw[:t.to]
	for i := range l.members {
		m := &l.members[i]
		if at >= t.to {
			corrupt()
		}
		item := token{tag: raw[at]}
		switch {
		case item.tag&0xc0 == tagString0:
			item.from, at = at+1, at+1+uint64(item.tag-tagString0)
			if m.form == formString {
				*(*string)(unsafe.Add(to, m.offset)) = d.copy(raw[item.from:at])
				continue
			}
			item.to = at
		default:
			item = d.open(at, t.to)
			at = item.to
			if item.tag == tagRef && m.form == formString {
				if text, ok := d.shared(d.u32(item.from)); ok {
					*(*string)(unsafe.Add(to, m.offset)) = text
					continue
				}
			}
		}
		if m.form == formNone {
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

// A mapEntry is where a map's key and value are put together.
type mapEntry struct {
	recipe *recipe
	key    reflect.Value
	elem   reflect.Value // points to the value
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
	entry, at := d.spare, t.from
	d.spare = mapEntry{}
	if entry.recipe != r {
		entry = mapEntry{r, reflect.New(r.t.Key()).Elem(), reflect.New(r.elem.t)}
	}
	elem := entry.elem.Elem()
	for i := range l.keys {
		item := d.open(at, t.to)
		at = item.to
		elem.SetZero()
		if err := d.set(r.elem, item, depth+1, entry.elem.UnsafePointer()); err != nil {
			return within(l.keys[i], err)
		}
		entry.key.SetString(l.keys[i])
		m.SetMapIndex(entry.key, elem)
	}
	elem.SetZero()
	d.spare = entry
	if at != t.to {
		corrupt()
	}
	return nil
}
