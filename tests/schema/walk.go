// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// Types with a form of their own, in JSON or on the wire.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intOrString",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microTime",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[metav1.FieldsV1]():      "raw",
}

// The kube-apiserver's own conversion puts these two words into nested objects (kubernetes issue 87583): they
// stand in JSON, and on the wire they are lost.
var nestedTypeMeta = map[string][2]string{
	"apps/v1.StatefulSetSpec.volumeClaimTemplates":      {"PersistentVolumeClaim", "v1"},
	"apps/v1beta1.StatefulSetSpec.volumeClaimTemplates": {"PersistentVolumeClaim", "v1"},
	"apps/v1beta2.StatefulSetSpec.volumeClaimTemplates": {"PersistentVolumeClaim", "v1"},
}

var (
	marshaler  = reflect.TypeFor[json.Marshaler]()
	unmarshals = reflect.TypeFor[interface{ Unmarshal([]byte) error }]()
	typeMeta   = reflect.TypeFor[metav1.TypeMeta]()
)

// A walker reads the types of one release of k8s.io/api, by reflection.
type walker struct {
	schema *table
}

func name(t reflect.Type) string {
	p := strings.TrimPrefix(t.PkgPath(), "k8s.io/")
	p = strings.TrimPrefix(p, "api/")
	return strings.TrimPrefix(p, "apimachinery/pkg/apis/") + "." + t.Name()
}

func (w *walker) message(t reflect.Type) *message {
	if m := w.schema.messages[name(t)]; m != nil {
		return m
	}
	m := w.schema.add(name(t))
	for i := range t.NumField() {
		w.field(m, t.Field(i))
	}
	return m
}

func (w *walker) field(m *message, sf reflect.StructField) {
	where := m.name + "." + sf.Name
	pb, js := sf.Tag.Get("protobuf"), sf.Tag.Get("json")
	if sf.Type == typeMeta && sf.Anonymous || pb == "" || pb == "-" || js == "-" {
		return // not on the wire: what surrounds an object has its kind
	}
	words := strings.Split(js, ",")
	number, err := strconv.Atoi(strings.Split(pb, ",")[1])
	if err != nil {
		panic(where + ": " + pb)
	}
	f := field{number: number, name: words[0]}
	for _, option := range words[1:] {
		switch option {
		case "omitempty", "omitzero":
			f.flags = append(f.flags, option)
		case "inline":
		default:
			panic(where + ": " + js)
		}
	}
	if f.name == "" {
		if !sf.Anonymous {
			panic(where + ": json without a name")
		}
		f.name = "-"
	}
	t, prefix := sf.Type, ""
	if t.Kind() == reflect.Pointer {
		t, prefix = t.Elem(), "*"
	}
	f.typ = prefix + w.typ(t, where)
	if words, is := nestedTypeMeta[m.name+"."+f.name]; is {
		inner := strings.TrimLeft(f.typ, "*[]")
		typed := inner + "+TypeMeta"
		if w.schema.messages[typed] == nil {
			n := w.schema.add(typed)
			n.fields = append([]field{{name: "kind", typ: `"` + words[0] + `"`}, {name: "apiVersion", typ: `"` + words[1] + `"`}},
				w.schema.messages[inner].fields...)
		}
		f.typ = strings.TrimSuffix(f.typ, inner) + typed
	}
	m.fields = append(m.fields, f)
}

// typ is how a value of type t, without its pointer, is read and printed.
func (w *walker) typ(t reflect.Type, where string) string {
	if s := special[t]; s != "" {
		return s
	}
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		panic(where + ": a MarshalJSON that is not known")
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Struct:
		return w.message(t).name
	case reflect.Map:
		if t.Key().Kind() != reflect.String || t.Elem().Kind() == reflect.Pointer {
			panic(where + ": " + t.String())
		}
		return "map[]" + w.typ(t.Elem(), where)
	case reflect.Slice:
		switch {
		case t.Elem().Kind() == reflect.Uint8:
			return "bytes"
		case reflect.PointerTo(t).Implements(unmarshals): // Verbs, ExtraValue: a message {items = 1}, in JSON the bare list
			return "list[]" + w.typ(t.Elem(), where)
		case t.Elem().Kind() == reflect.Pointer:
			panic(where + ": a slice of pointers")
		}
		return "[]" + w.typ(t.Elem(), where)
	}
	panic(where + ": " + t.String())
}

// walk reads every kind that has an ObjectMeta, and those that servers answer with besides; it checks that each
// list is {metadata = 1, items = 2}, so that lists need no table.
func walk() *table {
	w := &walker{schema: newTable()}
	types := scheme.Scheme.AllKnownTypes()
	var gvks []schema.GroupVersionKind
	for gvk, t := range types {
		if gvk.Version == runtime.APIVersionInternal || !reflect.PointerTo(t).Implements(unmarshals) {
			continue
		}
		if _, list := t.FieldByName("ListMeta"); list && strings.HasSuffix(gvk.Kind, "List") {
			checkList(t)
		}
		if _, object := t.FieldByName("ObjectMeta"); object {
			gvks = append(gvks, gvk)
		}
	}
	sort.Slice(gvks, func(i, j int) bool { return before(gvks[i], gvks[j]) })
	for _, gvk := range gvks {
		w.kind(gvk.GroupVersion().String(), gvk.Kind, types[gvk])
	}
	w.kind("v1", "Status", reflect.TypeFor[metav1.Status]())
	w.kind("v1", "ListMeta", reflect.TypeFor[metav1.ListMeta]())
	w.kind("meta.k8s.io/v1", "PartialObjectMetadata", reflect.TypeFor[metav1.PartialObjectMetadata]())
	return w.schema
}

func (w *walker) kind(apiVersion, kind string, t reflect.Type) {
	w.schema.kinds = append(w.schema.kinds, root{apiVersion, kind, w.message(t).name})
}

// before: core first, the others by name; by group, then version.
func before(a, b schema.GroupVersionKind) bool {
	if a.Group != b.Group {
		return a.Group < b.Group
	}
	if a.Version != b.Version {
		return a.Version < b.Version
	}
	return a.Kind < b.Kind
}

func checkList(t reflect.Type) {
	for i := range t.NumField() {
		sf := t.Field(i)
		number := strings.Split(sf.Tag.Get("protobuf")+",,", ",")[1]
		if sf.Name == "ListMeta" && number != "1" || sf.Name == "Items" && number != "2" || t.NumField() != 3 {
			panic(fmt.Sprintf("%s is no ordinary list", t))
		}
	}
}
