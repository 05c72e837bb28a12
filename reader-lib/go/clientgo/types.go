// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
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
	informer.RegisterText(func(text string, to *resource.Quantity) (err error) {
		*to, err = resource.ParseQuantity(text)
		return err
	})
	informer.RegisterText(func(text string, to *intstr.IntOrString) error {
		*to = intstr.FromString(text)
		return nil
	})
}
