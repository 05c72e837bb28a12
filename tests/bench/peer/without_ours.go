// SPDX-License-Identifier: Apache-2.0

//go:build without_ours

package main

// With a client-go that is older than reader-lib/go/clientgo needs, there is no Go reader of ours.

import (
	"errors"

	"k8s.io/client-go/informers"
)

var errWithout = errors.New("this program was built without Go's reader")

type ours struct{}

func attachOurs(string) *ours                            { panic(errWithout) }
func factoryOver(string) informers.SharedInformerFactory { panic(errWithout) }
func watchOurs(string, *eventSink) int                   { panic(errWithout) }
func (o *ours) get(int) float64                          { panic(errWithout) }
func (o *ours) typed(int) (float64, float64)             { panic(errWithout) }
