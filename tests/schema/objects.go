// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// objects writes lists of made-up objects of every kind of the table, each as the server would have sent it in
// JSON and in protobuf: records of a name, the JSON and the protobuf, each with its length in four bytes before
// it, the lowest first. Of each list the first object has every field, the second every message and in them
// nothing but zeros, the next have every field down to messages that have none, deeper each; then come count that
// are drawn, a third of them full, a third nearly empty. That every field was met so it says itself.
func objects(w io.Writer, seed uint64, count int) {
	met := coverage{}
	types := scheme.Scheme.AllKnownTypes()
	for i, k := range walk().kinds {
		gv, err := schema.ParseGroupVersion(k.apiVersion)
		if err != nil {
			panic(err)
		}
		list := types[gv.WithKind(k.kind+"List")]
		if list == nil || k.kind == "PartialObjectMetadata" {
			continue
		}
		r := &filler{Rand: rand.New(rand.NewPCG(seed, uint64(i))), ever: true}
		l := reflect.New(list)
		items := l.Elem().FieldByName("Items")
		items.Set(reflect.MakeSlice(items.Type(), made+count, made+count))
		for n := range made + count {
			r.draw(items.Index(n), n)
			met.look(items.Index(n))
			meta := items.Index(n).FieldByName("ObjectMeta").Addr().Interface().(*metav1.ObjectMeta)
			meta.Name, meta.Namespace = fmt.Sprintf("o%d", n), []string{"", "d", "kube-system"}[r.IntN(3)]
		}
		record(w, k.apiVersion+" "+k.kind, gv.WithKind(k.kind+"List"), l)
	}
	met.tell()
}

// record writes a list as the server would have sent it. Its items are as they come back from etcd.
func record(w io.Writer, name string, gvk schema.GroupVersionKind, l reflect.Value) {
	l.Elem().FieldByName("ListMeta").Set(reflect.ValueOf(metav1.ListMeta{ResourceVersion: "7", Continue: "more"}))
	object := l.Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(gvk)
	var pb, text bytes.Buffer
	if err := proto.Encode(object, &pb); err != nil {
		panic(err)
	}
	// what a server has went through protobuf before: an empty slice is none
	stored, _, err := proto.Decode(pb.Bytes(), nil, nil)
	if err != nil {
		panic(err)
	}
	nestedTypes(reflect.ValueOf(stored))
	if err := js.Encode(stored, &text); err != nil {
		panic(err)
	}
	write(w, []byte(name), text.Bytes(), pb.Bytes())
}

func write(w io.Writer, parts ...[]byte) {
	for _, part := range parts {
		binary.Write(w, binary.LittleEndian, uint32(len(part)))
		w.Write(part)
	}
}

var (
	js    = kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{})
	proto = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
)

// pods writes two records for each file of a pod: its JSON as the types print it, and as it stands in the file.
func pods(w io.Writer, files []string) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		list := &corev1.PodList{Items: make([]corev1.Pod, 1)}
		if err := json.Unmarshal(text, &list.Items[0]); err != nil {
			panic(fmt.Sprint(file, ": ", err))
		}
		list.Items[0].TypeMeta = metav1.TypeMeta{}
		record(w, file, corev1.SchemeGroupVersion.WithKind("PodList"), reflect.ValueOf(list))
		var pb bytes.Buffer
		if err := proto.Encode(list, &pb); err != nil {
			panic(err)
		}
		own := fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"more"},"items":[%s]}`, text)
		write(w, []byte(file+", as it stands there"), []byte(own), pb.Bytes())
	}
}

// documents writes made-up objects of every kind as JSON, a line each, with metadata that a server accepts: to
// be created there.
func documents(w io.Writer, seed uint64, count int) {
	types := scheme.Scheme.AllKnownTypes()
	for i, k := range walk().kinds {
		gv, err := schema.ParseGroupVersion(k.apiVersion)
		if err != nil {
			panic(err)
		}
		if types[gv.WithKind(k.kind+"List")] == nil {
			continue
		}
		r := &filler{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		for n := range made + count {
			o := reflect.New(types[gv.WithKind(k.kind)])
			r.draw(o.Elem(), n)
			meta := o.Elem().FieldByName("ObjectMeta").Addr().Interface().(*metav1.ObjectMeta)
			*meta = metav1.ObjectMeta{Name: fmt.Sprintf("made-%d", n), Annotations: map[string]string{"a": r.text(), "b": r.text()},
				Labels: map[string]string{"drawn": fmt.Sprintf("%x", r.Uint32())}}
			object := o.Interface().(runtime.Object)
			object.GetObjectKind().SetGroupVersionKind(gv.WithKind(k.kind))
			if err := js.Encode(object, w); err != nil {
				panic(err)
			}
		}
	}
}

// nestedTypes is what the kube-apiserver's conversion does to a StatefulSet: see nestedTypeMeta.
func nestedTypes(list reflect.Value) {
	items := list.Elem().FieldByName("Items")
	for i := range items.Len() {
		claimTypes(items.Index(i))
	}
}

func claimTypes(object reflect.Value) {
	spec := object.FieldByName("Spec")
	if !spec.IsValid() || spec.Kind() != reflect.Struct || !spec.FieldByName("VolumeClaimTemplates").IsValid() {
		return
	}
	claims := spec.FieldByName("VolumeClaimTemplates")
	for n := range claims.Len() {
		claims.Index(n).FieldByName("TypeMeta").Set(reflect.ValueOf(metav1.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"}))
	}
}

// golden writes three objects of each of these kinds (v1/Pod), one of them nearly empty, as records of a name, the JSON that a server
// prints, and the protobuf that it made of that JSON.
func golden(w io.Writer, seed uint64, kinds []string) {
	json := kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{})
	proto := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for i, name := range kinds {
		slash := strings.LastIndexByte(name, '/')
		gv, err := schema.ParseGroupVersion(name[:slash])
		if err != nil {
			panic(err)
		}
		gvk := gv.WithKind(name[slash+1:])
		for n, full := range []float64{0.7, 0.45, 0.15} {
			r := &filler{Rand: rand.New(rand.NewPCG(seed, uint64(3*i+n))), full: full}
			v := reflect.New(scheme.Scheme.AllKnownTypes()[gvk])
			r.fill(v.Elem(), 0)
			if meta := v.Elem().FieldByName("ObjectMeta"); meta.IsValid() {
				meta.FieldByName("Name").SetString("o")
				meta.FieldByName("Namespace").SetString("d")
			}
			object := v.Interface().(runtime.Object)
			object.GetObjectKind().SetGroupVersionKind(gvk)
			var filled, js, pb bytes.Buffer
			// strange texts and times become what JSON can say; what is empty goes by way of protobuf
			for _, step := range []struct {
				runtime.Serializer
				to *bytes.Buffer
			}{{json, &filled}, {proto, &pb}, {json, &js}, {proto, &pb}} {
				step.to.Reset()
				if err := step.Encode(object, step.to); err != nil {
					panic(err)
				}
				if object, _, err = step.Decode(step.to.Bytes(), nil, nil); err != nil {
					panic(err)
				}
				if step.to == &pb {
					claimTypes(reflect.ValueOf(object).Elem())
				}
			}
			for _, part := range [][]byte{[]byte(name), js.Bytes(), pb.Bytes()} {
				binary.Write(w, binary.LittleEndian, uint32(len(part)))
				w.Write(part)
			}
		}
	}
}

// A filler fills a value; full is how much of it. What it does not fill is nil, zero, or a pointer to a zero. With
// every, everything is filled: with what is not zero, or hollow, with zeros.
type filler struct {
	*rand.Rand
	full          float64
	every, hollow bool
	ever          bool           // times that can be printed and not read again, too
	levels        int            // of every: messages within so many others are left empty
	within        []reflect.Type // the messages that a value stands within: some types contain themselves
}

// How many objects of a list are not drawn. Messages stand within at most so many others, less three.
const made = 14

// draw fills the object of this place in its list.
func (r *filler) draw(v reflect.Value, place int) {
	*r = filler{Rand: r.Rand, ever: r.ever, every: place < made, hollow: place == 1, levels: 1000, full: []float64{0.97, 0.6, 0.1}[place%3]}
	if place > 1 && place < made {
		r.levels = place - 2
	}
	r.fill(v, 0)
}

// skips says whether a value stays as it is.
func (r *filler) skips(v reflect.Value, depth int) bool {
	if r.every {
		return v.Kind() == reflect.Struct && (len(r.within) >= r.levels || slices.Contains(r.within, v.Type()) && len(r.within) > made)
	}
	return depth > 0 && (r.Float64() >= r.full || depth > 16)
}

// count is how many elements a list or a map gets.
func (r *filler) count() int {
	if r.every {
		return 1
	}
	return r.IntN(4)
}

var strange = []string{"", "a", "\"\\/<>&", "\x00\x01\b\f\n\r\t\x1f\x7f", "é€𝄞", "\u2028\u2029", "\xff\xc0\xaf\xed\xa0\x80", "\xe2\x80",
	"日本語", "a\xc3", "{", "[", "}", "a text that is long enough to be shared", "true", "0"}

func (r *filler) text() string {
	if r.IntN(3) == 0 {
		return strange[r.IntN(len(strange))]
	}
	return fmt.Sprintf("v%x", r.Uint32())
}

func (r *filler) time() time.Time {
	switch r.IntN(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(0, 0)
	case 2: // any year
		if r.ever && r.IntN(2) == 0 {
			return time.Unix(int64(r.Uint64())>>r.IntN(30), int64(r.IntN(1e9)))
		}
		return time.Unix(r.Int64N(315537897600)-62135596800, int64(r.IntN(1e9)))
	}
	return time.Unix(1e9+r.Int64N(1e9), int64(r.IntN(1e9)))
}

var (
	quantities = []string{"0", "1", "100m", "1500m", "1Gi", "1.5Gi", "0.1", "-3", "1e3", "12345678901234567890", "1u", "5n", "1Ki", "1024",
		"100000000000000000000000"}
	texts = []string{`{"a":[1, 2.50,"x\" <>&"],` + "\n\t" + `"b":{"c":null} }`, `{}`, `"s"`, `[]`, `null`, "{\"\u2028\":\"é\"}", `-1.5e3`,
		` {"f:metadata":{"f:labels":{".":{}}}} `}
)

// form fills what has a form of its own; false: it has none.
func (r *filler) form(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
	case *metav1.Time:
		p.Time = r.time()
	case *metav1.MicroTime:
		p.Time = r.time()
	case *resource.Quantity:
		*p = resource.MustParse(quantities[r.IntN(len(quantities))])
	case *intstr.IntOrString:
		*p = intstr.FromInt32(r.Int32() - 1<<30)
		if r.IntN(2) == 0 {
			*p = intstr.FromString(r.text())
		}
	case *runtime.RawExtension:
		p.Raw = []byte(texts[r.IntN(len(texts))])
	case *metav1.FieldsV1:
		p.Raw = []byte(texts[r.IntN(len(texts))])
	default:
		return false
	}
	if r.hollow {
		v.SetZero()
	}
	return true
}

func (r *filler) fill(v reflect.Value, depth int) {
	if r.skips(v, depth) {
		if !r.every && v.Kind() == reflect.Pointer && r.IntN(4) == 0 {
			v.Set(reflect.New(v.Type().Elem())) // a pointer to a zero
		}
		return
	}
	for r.form(v) {
		if _, is := v.Interface().(metav1.TypeMeta); is || !r.every || r.hollow || !v.IsZero() {
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		r.within = append(r.within, v.Type())
		for i := range v.NumField() {
			r.fill(v.Field(i), depth+1)
		}
		r.within = r.within[:len(r.within)-1]
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem(), depth+1)
	case reflect.Slice:
		n := r.count()
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			if v.Type().Elem().Kind() == reflect.Uint8 {
				v.Index(i).SetUint(uint64(r.IntN(256)))
			} else {
				r.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.count() {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(fmt.Sprintf("%s%x", r.text(), r.Uint32()))
			r.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	default:
		r.leaf(v)
	}
}

func (r *filler) leaf(v reflect.Value) {
	for !r.hollow {
		switch v.Kind() {
		case reflect.String:
			v.SetString(r.text())
		case reflect.Bool:
			v.SetBool(r.IntN(2) == 0)
		case reflect.Int32, reflect.Int64:
			v.SetInt(int64(r.Uint64()) >> r.IntN(64))
		default:
			panic(v.Type().String())
		}
		if !r.every || !v.IsZero() {
			return
		}
	}
}
