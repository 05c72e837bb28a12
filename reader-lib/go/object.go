// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"math"
	"runtime/debug"
	"strconv"
	"unsafe"
)

// An Object is an object of a snapshot. It is a small value: copy it freely. After the snapshot's End its
// methods return ErrClosed.
type Object struct {
	s       Snapshot
	at, end uint64 // the payload
	def     *definition
	tomb    uint64 // payload of its TOMBSTONE; 0: it is present
}

func (o *Object) decoder(p *pin) decoder { return decoder{&p.view, o.at} }
func (o *Object) body(d *decoder) span {
	return span{o.at + uint64(d.u16(o.at+objBodyOffset)), o.end}
}

// head is a copy of a text of the object's head; ok is false if it has none.
func (o *Object) head(p *pin, tag byte) (text string, ok bool) {
	d := o.decoder(p)
	if bytes := d.head(tag); len(bytes) > 0 || tag <= tagName+1 {
		return string(bytes), true
	}
	// the body may have it
	path := uidPath
	if tag == tagVersion {
		path = versionPath
	}
	s, found, ok := d.follow(o.body(&d), path)
	if !ok || kindOf(found) != String {
		return "", false
	}
	return string(d.text(s, found)), true
}

func (o *Object) headText(tag byte) (string, error) {
	return read(o.s, func(p *pin) (string, error) {
		text, ok := o.head(p, tag)
		if !ok {
			return "", ErrNotFound
		}
		return text, nil
	})
}

// Namespace of the object; "" if it is cluster-scoped.
func (o Object) Namespace() (string, error) { return o.headText(tagName + 1) }

// Name of the object.
func (o Object) Name() (string, error) { return o.headText(tagName) }

// UID of the object. ErrNotFound: it has none.
func (o Object) UID() (string, error) { return o.headText(tagName + 2) }

// ResourceVersion of the object. ErrNotFound: it has none.
func (o Object) ResourceVersion() (string, error) { return o.headText(tagVersion) }

// Seq is the number of the change that made this state; 0: the snapshot has ended or expired.
func (o Object) Seq() uint64 { return o.number(objSeq) }

// Made is the change that made this state. The same Cursor always stands for the same state.
func (o Object) Made() (Cursor, error) {
	return read(o.s, func(p *pin) (made Cursor, err error) {
		copy(made.Lineage[:], p.view.raw[p.root+rootLineage:])
		made.Seq = p.view.u64(o.at + objSeq)
		return made, nil
	})
}

// CreatedSeq is the number of the change that created the object; 0 as for Seq.
func (o Object) CreatedSeq() uint64 { return o.number(objCreatedSeq) }

func (o Object) number(field uint64) (n uint64) {
	p, err := o.s.open()
	if err != nil {
		return 0
	}
	read := func() (n uint64, err error) {
		old := debug.SetPanicOnFault(true)
		defer p.guard(old, &err)
		return p.view.u64(o.at + field), nil
	}
	if n, err = read(); err != nil {
		return 0
	}
	return n
}

// textAt is the bytes of the string or Number that a path leads to; they lie in the arena.
func (d *decoder) textAt(o *Object, path *Path) ([]byte, error) {
	if path.near != 0 {
		if text, ok := d.near(path.near - 1); ok {
			return text, nil
		}
	}
	if path.head != 0 {
		if text := d.head(path.head); len(text) > 0 || path.head <= tagName+1 {
			if len(text) == 0 && path.head == tagName+1 {
				return nil, ErrNotFound
			}
			return text, nil
		}
	}
	s, tag, ok := d.follow(o.body(d), path)
	if !ok {
		return nil, ErrNotFound
	}
	if kind := kindOf(tag); kind != String {
		return nil, ErrType
	}
	return d.text(s, tag), nil
}

// Text is the string at a path; with [*] in it, the first match. ErrNotFound: absent; ErrType: no string.
func (o Object) Text(path *Path) (string, error) {
	return read(o.s, func(p *pin) (text string, err error) {
		d := o.decoder(p)
		bytes, err := d.textAt(&o, path)
		return string(bytes), err
	})
}

// AppendText appends the string at a path. It allocates only if `to` is too short.
func (o Object) AppendText(to []byte, path *Path) (text []byte, err error) {
	text = to // also if the arena panics
	p, err := o.s.open()
	if err != nil {
		return text, err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	d := o.decoder(p)
	bytes, err := d.textAt(&o, path)
	return append(to, bytes...), err
}

// LentText is the string at a path, in the arena itself: valid until the snapshot's End, and to be read
// within Snapshot.Read only.
func (o Object) LentText(path *Path) (string, error) {
	return read(o.s, func(p *pin) (string, error) {
		d := o.decoder(p)
		bytes, err := d.textAt(&o, path)
		return unsafe.String(unsafe.SliceData(bytes), len(bytes)), err
	})
}

// Value is the value at a path. ErrNotFound: absent. The whole object: the path ".".
func (o Object) Value(path *Path) (Value, error) {
	return read(o.s, func(p *pin) (v Value, err error) {
		d := o.decoder(p)
		s, tag, ok := d.follow(o.body(&d), path)
		if !ok {
			return Value{}, ErrNotFound
		}
		return Value{o.s, o.at, s, tag}, nil
	})
}

// Int is the integer at a path. ErrNotFound: absent; ErrType: no integer that fits.
func (o Object) Int(path *Path) (int64, error) {
	v, err := o.Value(path)
	if err != nil {
		return 0, err
	}
	return v.Int()
}

// Bool is the boolean at a path. ErrNotFound: absent; ErrType: no boolean.
func (o Object) Bool(path *Path) (bool, error) {
	v, err := o.Value(path)
	if err != nil {
		return false, err
	}
	return v.Bool()
}

// Float is the number at a path. ErrNotFound: absent; ErrType: no number.
func (o Object) Float(path *Path) (float64, error) {
	v, err := o.Value(path)
	if err != nil {
		return 0, err
	}
	return v.Float()
}

// AppendJSON appends the object as JSON without white space, fields in the API server's order, without
// apiVersion and kind.
func (o Object) AppendJSON(to []byte) ([]byte, error) {
	return appendJSON(o.s, to, o.at, func(d *decoder) span { return o.body(d) })
}

// appendJSON appends a value of the object at `own`. After an error `to` is as before.
func appendJSON(s Snapshot, to []byte, own uint64, value func(*decoder) span) ([]byte, error) {
	text, err := read(s, func(p *pin) ([]byte, error) {
		d := decoder{&p.view, own}
		printer := newPrinter(&d)
		return printer.append(to, value(&d), 0), nil
	})
	if err != nil {
		return to, err
	}
	return text, nil
}

// JSON is the object as JSON, as AppendJSON has it.
func (o Object) JSON() ([]byte, error) { return o.AppendJSON(nil) }

// GroupVersionKind says what the object is.
func (o Object) GroupVersionKind() (group, version, kind string) {
	if o.def == nil {
		return "", "", ""
	}
	return o.def.group, o.def.version, o.def.kind
}

// Unstructured is the object as encoding/json and apimachinery's unstructured have it, with apiVersion and
// kind: maps, slices, strings, bools, nil, int64 and float64.
func (o Object) Unstructured() (map[string]any, error) {
	return read(o.s, func(p *pin) (object map[string]any, err error) {
		d := o.decoder(p)
		b := builder{newPrinter(&d)}
		object, ok := b.build(o.body(&d), 0).(map[string]any)
		if !ok {
			corrupt()
		}
		object["kind"], object["apiVersion"] = o.def.kind, o.def.version
		if o.def.group != "" {
			object["apiVersion"] = o.def.group + "/" + o.def.version
		}
		return object, nil
	})
}

// A builder makes Go values of the arena's.
type builder struct{ printer }

func (b *builder) build(s span, depth int) any {
	s, tag := b.resolve(s)
	if b.visit(1); depth > valueDepthMax {
		corrupt()
	}
	switch kindOf(tag) {
	case Null:
		return nil
	case Bool:
		return tag == 2
	case Int:
		return b.integer(s, tag)
	case Uint:
		return float64(b.u64(s.at + 1))
	case Double:
		return math.Float64frombits(b.u64(s.at + 1))
	case Number:
		text := string(b.text(s, tag))
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return json.Number(text)
		}
		return n
	case String:
		return string(b.text(s, tag))
	case Array:
		array := []any{}
		for it := b.items(s, tag); ; {
			_, item, ok := it.next()
			if !ok {
				return array
			}
			array = append(array, b.build(item, depth+1))
		}
	default:
		it := b.items(s, tag)
		object := make(map[string]any, min(it.left, 64))
		for {
			name, item, ok := it.next()
			if !ok {
				return object
			}
			b.take(uint64(len(name)))
			object[string(name)] = b.build(item, depth+1)
		}
	}
}

// A Value is a value within an object. It is a small value, valid as long as its snapshot.
type Value struct {
	s   Snapshot
	own uint64
	at  span
	tag byte
}

// Kind of the value; None for the zero Value.
func (v Value) Kind() Kind {
	if v.s.p == nil {
		return None
	}
	return kindOf(v.tag)
}

// Text is a copy of a string, or of a Number's text.
func (v Value) Text() (string, error) {
	return read(v.s, func(p *pin) (text string, err error) {
		if kind := kindOf(v.tag); kind != String && kind != Number {
			return "", ErrType
		}
		d := decoder{&p.view, v.own}
		return string(d.text(v.at, v.tag)), nil
	})
}

// Bool is a boolean.
func (v Value) Bool() (bool, error) {
	if _, err := v.s.open(); err != nil {
		return false, err
	}
	if v.tag != 1 && v.tag != 2 {
		return false, ErrType
	}
	return v.tag == 2, nil
}

// Int is an integer that fits int64.
func (v Value) Int() (int64, error) {
	return read(v.s, func(p *pin) (n int64, err error) {
		if kindOf(v.tag) != Int {
			return 0, ErrType
		}
		d := decoder{&p.view, v.own}
		return d.integer(v.at, v.tag), nil
	})
}

// Uint is an integer of 0 or above.
func (v Value) Uint() (uint64, error) {
	return read(v.s, func(p *pin) (n uint64, err error) {
		d := decoder{&p.view, v.own}
		switch kindOf(v.tag) {
		case Uint:
			return d.u64(v.at.at + 1), nil
		case Int:
			if n := d.integer(v.at, v.tag); n >= 0 {
				return uint64(n), nil
			}
		}
		return 0, ErrType
	})
}

// Float is any number.
func (v Value) Float() (float64, error) {
	return read(v.s, func(p *pin) (n float64, err error) {
		d := decoder{&p.view, v.own}
		switch kindOf(v.tag) {
		case Int:
			return float64(d.integer(v.at, v.tag)), nil
		case Uint:
			return float64(d.u64(v.at.at + 1)), nil
		case Double:
			return math.Float64frombits(d.u64(v.at.at + 1)), nil
		case Number:
			return strconv.ParseFloat(string(d.text(v.at, v.tag)), 64)
		}
		return 0, ErrType
	})
}

// AppendJSON appends the value as JSON.
func (v Value) AppendJSON(to []byte) ([]byte, error) {
	return appendJSON(v.s, to, v.own, func(*decoder) span { return v.at })
}
