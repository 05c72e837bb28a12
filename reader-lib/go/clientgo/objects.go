// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"container/list"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"informer"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// A maker makes a Go value of an object, and says about how many bytes it has.
type maker func(o informer.Object) (object runtime.Object, bytes int, err error)

// makerOf values of the example's type.
func makerOf(example runtime.Object) maker {
	switch example.(type) {
	case *unstructured.Unstructured:
		return dynamicObject
	case *metav1.PartialObjectMetadata:
		return metadataOnly
	}
	t := reflect.TypeOf(example).Elem()
	return func(o informer.Object) (runtime.Object, int, error) {
		object := reflect.New(t).Interface().(runtime.Object)
		bytes, err := o.DecodeSized(object)
		return object, bytes, err
	}
}

func dynamicObject(o informer.Object) (runtime.Object, int, error) {
	content, err := o.Unstructured()
	return &unstructured.Unstructured{Object: content}, sizeOf(content), err
}

// sizeOf a value of Unstructured, about.
func sizeOf(value any) int {
	const word, entry = int(unsafe.Sizeof(uintptr(0))), 2 * (2 + 2) * int(unsafe.Sizeof(uintptr(0)))
	bytes := 2 * word
	switch v := value.(type) {
	case string:
		bytes += 2*word + len(v)
	case []any:
		for _, item := range v {
			bytes += sizeOf(item)
		}
	case map[string]any:
		bytes += entry
		for name, item := range v {
			bytes += entry + len(name) + sizeOf(item)
		}
	}
	return bytes
}

func metadataOnly(o informer.Object) (runtime.Object, int, error) {
	object := &metav1.PartialObjectMetadata{}
	bytes, err := o.DecodeSized(object)
	group, version, kind := o.GroupVersionKind()
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	return object, bytes, err
}

// objects makes the values of one resource, and keeps those that were made last.
type objects struct {
	make      maker
	transform cache.TransformFunc
	kept      *kept
}

// of is an object's value; it is shared.
func (s *objects) of(o informer.Object) (any, error) {
	made, err := o.Made()
	if err != nil {
		return nil, err
	}
	at := state{s, made}
	if value, ok := s.kept.get(at); ok {
		return value, nil
	}
	object, bytes, err := s.make(o)
	if err != nil {
		return nil, err
	}
	var value any = object
	if s.transform != nil {
		if value, err = s.transform(object); err != nil {
			return nil, fmt.Errorf("the transform failed: %w", err)
		}
	}
	return s.kept.put(at, value, bytes), nil
}

// A state is one state of an object, as one maker makes it.
type state struct {
	of   *objects
	made informer.Cursor
}

// kept is the values that were used last, up to a number of bytes.
type kept struct {
	mu     sync.Mutex
	most   int
	bytes  int
	values map[state]*list.Element
	recent list.List // of *keptValue, the last used first
}

type keptValue struct {
	at    state
	value any
	bytes int
}

func newKept(most int) *kept { return &kept{most: most, values: map[state]*list.Element{}} }

func (k *kept) get(at state) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.values[at]
	if e == nil {
		return nil, false
	}
	k.recent.MoveToFront(e)
	return e.Value.(*keptValue).value, true
}

// put keeps a value, and returns the one that is kept: another goroutine may have been faster.
func (k *kept) put(at state, value any, bytes int) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.values[at]; e != nil {
		return e.Value.(*keptValue).value
	}
	k.values[at] = k.recent.PushFront(&keptValue{at, value, bytes})
	for k.bytes += bytes; k.bytes > k.most; {
		last := k.recent.Remove(k.recent.Back()).(*keptValue)
		delete(k.values, last.at)
		k.bytes -= last.bytes
	}
	return value
}
