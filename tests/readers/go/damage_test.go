// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/rand"
	"os"
	"strconv"
	"testing"
)

func uint64At(image []byte, at uint64) uint64   { return binary.NativeEndian.Uint64(image[at:]) }
func putUint64(image []byte, at, number uint64) { binary.NativeEndian.PutUint64(image[at:], number) }
func informerRoot(image []byte) uint64          { return uint64At(image, 256) }

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// damages is how many arenas are damaged.
func damages() int { return number("DAMAGES", 20) }

func seed(t *testing.T) int64 {
	seed := number("SEED", 1)
	t.Logf("SEED=%d", seed)
	return int64(seed)
}

// damage overwrites bytes behind the header, at 300 places.
func (b *broker) damage(t *testing.T, random *rand.Rand, size int64) {
	for range 300 {
		at := 8192 + random.Int63n(size-8192)
		_, err := b.arena.WriteAt([]byte{byte(random.Intn(256))}, at)
		must(t, err)
	}
}
