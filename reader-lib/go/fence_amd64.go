// SPDX-License-Identifier: Apache-2.0

package informer

import "sync/atomic"

// acquire orders the loads before it before the loads behind it. On amd64 loads stay in order, and the
// compiler moves none across an atomic operation.
func acquire(*atomic.Uint32) {}
