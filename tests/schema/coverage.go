// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"reflect"
)

// coverage is how each field was met: by the type that it is of, and its name.
type coverage map[string]*struct{ set, hollow, absent int }

func (c coverage) look(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.look(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.look(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			c.look(v.MapIndex(key))
		}
	case reflect.Struct:
		if special[v.Type()] != "" || v.Type() == typeMeta {
			return
		}
		for i := range v.NumField() {
			sf, f := v.Type().Field(i), v.Field(i)
			if pb := sf.Tag.Get("protobuf"); pb != "" && pb != "-" && (sf.Type.Kind() != reflect.Struct || special[sf.Type] != "") {
				c.count(name(v.Type())+"."+sf.Name, f)
			}
			c.look(f)
		}
	}
}

func (c coverage) count(field string, v reflect.Value) {
	n := c[field]
	if n == nil {
		n = &struct{ set, hollow, absent int }{}
		c[field] = n
	}
	switch {
	case v.IsZero():
		n.absent++
	case v.Kind() == reflect.Pointer && v.Elem().IsZero():
		n.hollow++
	default:
		n.set++
	}
}

// tell says how many fields were met, and ends the program if one was never there or never absent.
func (c coverage) tell() {
	hollow := 0
	for field, n := range c {
		if n.set+n.hollow == 0 || n.absent == 0 {
			fmt.Fprintf(os.Stderr, "%s: there %d times, absent %d times\n", field, n.set+n.hollow, n.absent)
			os.Exit(1)
		}
		if n.hollow > 0 {
			hollow++
		}
	}
	fmt.Fprintf(os.Stderr, "%d fields, each there and absent; %d there and zero, too\n", len(c), hollow)
}
