// SPDX-License-Identifier: Apache-2.0

//go:build tidy

package main

// keeps in go.mod what informer.go of tools/examples/otel-k8sattributes imports
import _ "informer/clientgo"
