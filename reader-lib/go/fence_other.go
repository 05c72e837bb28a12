// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package informer

import "sync/atomic"

// acquire orders the loads before it before the atomic loads behind it: Go's read-modify-write operations
// have release order, too, and no load passes such a store and an atomic load behind it. The word is any
// that this process alone writes.
func acquire(word *atomic.Uint32) { word.Add(0) }
