// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// A form says how values of a Go type are set.
type form uint8

const (
	formJSON        form = iota // by encoding/json
	formUnmarshaler             // by its UnmarshalJSON
	formParsed                  // by what RegisterText or RegisterInt was given
	formBool
	formInt
	formUint
	formFloat
	formString
	formBytes
	formSlice
	formMap
	formStringMap // map[string]string
	formPointer
	formStruct
	formAny
	formNone // of members: the struct has no such field
)

// A recipe says how values of a type are set. It is made once, and does not change.
type recipe struct {
	t      reflect.Type
	size   uintptr
	form   form
	elem   *recipe           // of slices, maps and pointers
	fields map[string]member // of structs
	parsers
	none   any              // a nil pointer to the type
	reader json.Unmarshaler // none, of types with UnmarshalJSON
}

// parsers are what RegisterText and RegisterInt were given for a type; nil: nothing.
type parsers struct {
	text func(text string, to unsafe.Pointer) error
	int  func(n int64, to unsafe.Pointer) error
}

// plain: the type is a number or bool.
func (r *recipe) plain() bool { return r.form >= formBool && r.form <= formFloat }

// copied: an independent copy of a value can be made without reading the arena.
func (r *recipe) copied() bool {
	return r.plain() || r.form == formString || r.form == formSlice || r.form == formPointer || r.form == formStruct
}

// pointer is `to` as a pointer to the type. It is reflect.NewAt, without its look-up of the pointer's type.
func (r *recipe) pointer(to unsafe.Pointer) any {
	pointer := r.none
	(*[2]unsafe.Pointer)(unsafe.Pointer(&pointer))[1] = to
	return pointer
}

// unmarshaler is `to` as what has the type's UnmarshalJSON.
func (r *recipe) unmarshaler(to unsafe.Pointer) json.Unmarshaler {
	pointer := r.reader
	(*[2]unsafe.Pointer)(unsafe.Pointer(&pointer))[1] = to
	return pointer
}

// value is what `to` points to, for reflection.
func (r *recipe) value(to unsafe.Pointer) reflect.Value { return reflect.ValueOf(r.pointer(to)).Elem() }

// A member is a field of a struct.
type member struct {
	recipe *recipe
	offset uint32
	form   form // the recipe's
}

var (
	recipes sync.Map // reflect.Type: *recipe
	cooking sync.Mutex
	parsing = map[reflect.Type]parsers{} // with cooking
)

var (
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	numberType          = reflect.TypeFor[json.Number]()
	stringMapType       = reflect.TypeFor[map[string]string]()
)

// RegisterText makes Decode call parse for strings that are decoded into a T, in place of T's UnmarshalJSON, which
// needs JSON first. It stays in charge of all other values. Call it before objects are decoded; the text is a copy.
//
//	informer.RegisterText(func(text string, to *metav1.Time) error {
//		t, err := time.Parse(time.RFC3339, text)
//		to.Time = t.Local()
//		return err
//	})
func RegisterText[T any](parse func(text string, to *T) error) {
	register[T](func(p *parsers) {
		p.text = func(text string, to unsafe.Pointer) error { return parse(text, (*T)(to)) }
	})
}

// RegisterInt is RegisterText for integers that an int64 holds.
func RegisterInt[T any](convert func(n int64, to *T) error) {
	register[T](func(p *parsers) {
		p.int = func(n int64, to unsafe.Pointer) error { return convert(n, (*T)(to)) }
	})
}

func register[T any](set func(*parsers)) {
	cooking.Lock()
	defer cooking.Unlock()
	p := parsing[reflect.TypeFor[T]()]
	set(&p)
	parsing[reflect.TypeFor[T]()] = p
	recipes.Clear()
}

// recipeOf returns the type's recipe.
func recipeOf(t reflect.Type) *recipe {
	if r, ok := recipes.Load(t); ok {
		return r.(*recipe)
	}
	cooking.Lock()
	defer cooking.Unlock()
	made := map[reflect.Type]*recipe{}
	r := cook(t, made)
	for t, r := range made {
		recipes.Store(t, r)
	}
	return r
}

// cook makes the recipe of a type, and those of all types in it: a type may contain itself.
func cook(t reflect.Type, made map[reflect.Type]*recipe) *recipe {
	if r := made[t]; r != nil {
		return r
	}
	pointer := reflect.PointerTo(t)
	r := &recipe{t: t, size: t.Size(), none: reflect.Zero(pointer).Interface()}
	r.reader, _ = r.none.(json.Unmarshaler)
	made[t] = r
	parsers, registered := parsing[t]
	switch {
	case registered:
		r.form, r.parsers = formParsed, parsers
		return r
	case t.Kind() != reflect.Pointer && pointer.Implements(unmarshalerType):
		r.form = formUnmarshaler
		return r
	case t.Kind() != reflect.Pointer && pointer.Implements(textUnmarshalerType), t == numberType:
		return r
	}
	switch t.Kind() {
	case reflect.Bool:
		r.form = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		r.form = formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		r.form = formUint
	case reflect.Float32, reflect.Float64:
		r.form = formFloat
	case reflect.String:
		r.form = formString
	case reflect.Slice:
		r.form, r.elem = formSlice, cook(t.Elem(), made)
		if t.Elem().Kind() == reflect.Uint8 && r.elem.form == formUint {
			r.form = formBytes
		}
	case reflect.Map:
		key := t.Key()
		if key.Kind() == reflect.String && !reflect.PointerTo(key).Implements(textUnmarshalerType) {
			r.form, r.elem = formMap, cook(t.Elem(), made)
		}
		if t.ConvertibleTo(stringMapType) {
			r.form = formStringMap
		}
	case reflect.Pointer:
		r.form, r.elem = formPointer, cook(t.Elem(), made)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			r.form = formAny
		}
	case reflect.Struct:
		r.fields = map[string]member{}
		if gather(r.fields, map[string]int{}, t, 0, 0, made) {
			r.form = formStruct
		}
	}
	return r
}

// gather adds a struct's fields, and those of the structs that it embeds. False: leave the struct to encoding/json.
func gather(fields map[string]member, depths map[string]int, t reflect.Type, base uintptr, depth int,
	made map[reflect.Type]*recipe) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
			continue
		}
		for option := range strings.SplitSeq(options, ",") {
			if option == "string" {
				return false
			}
		}
		if f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Pointer {
				return false
			}
			if f.Type.Kind() == reflect.Struct {
				if !gather(fields, depths, f.Type, base+f.Offset, depth+1, made) {
					return false
				}
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if before, ok := depths[name]; ok && before <= depth {
			if before == depth {
				return false
			}
			continue
		}
		depths[name] = depth
		fields[name] = member{recipe: cook(f.Type, made), offset: uint32(base + f.Offset)}
	}
	return true
}
