// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
	"time"

	"informer"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Types of apimachinery whose UnmarshalJSON costs more than all else of an object.
func init() {
	informer.RegisterText(func(text string, to *metav1.Time) error {
		t, err := time.Parse(time.RFC3339, text)
		to.Time = t.Local()
		return err
	})
	informer.RegisterText(func(text string, to *metav1.MicroTime) error {
		t, err := time.Parse(metav1.RFC3339Micro, text)
		to.Time = t.Local()
		return err
	})
	informer.RegisterText(parseQuantity)
	informer.RegisterText(func(text string, to *intstr.IntOrString) error {
		*to = intstr.FromString(text)
		return nil
	})
	informer.RegisterInt(func(n int64, to *intstr.IntOrString) error {
		if n != int64(int32(n)) {
			return fmt.Errorf("the integer %d does not fit 32 bits: %w", n, informer.ErrType)
		}
		*to = intstr.FromInt32(int32(n))
		return nil
	})
}

// quantities are those parsed last, by their text's hash: few are in use, and parsing takes longer than looking one up.
var (
	quantities    [1024]atomic.Pointer[quantity]
	quantitiesKey = maphash.MakeSeed()
)

type quantity struct {
	text  string
	value resource.Quantity
}

func parseQuantity(text string, to *resource.Quantity) error {
	place := &quantities[maphash.String(quantitiesKey, text)%uint64(len(quantities))]
	known := place.Load()
	if known == nil || known.text != text {
		text = strings.Clone(text)
		value, err := resource.ParseQuantity(text)
		if err != nil {
			return err
		}
		known = &quantity{text, value}
		place.Store(known)
	}
	*to = known.value.DeepCopy() // a large one has a pointer
	return nil
}
