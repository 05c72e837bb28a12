// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// hashKey is an arena's key for the hashes of identity and index tries (LAYOUT.md, HASH): s[i], precomputed.
type hashKey [13]uint64

func newHashKey(key []byte) (k hashKey) {
	words := [2]uint64{binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])}
	for i := range k {
		k[i] = words[i%2] + uint64(i+1)*0x9e3779b97f4a7c15
	}
	return k
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func (k *hashKey) pair(p []byte, i int) uint64 {
	return mix(binary.LittleEndian.Uint64(p)^k[i], binary.LittleEndian.Uint64(p[8:])^k[i+1])
}

func (k *hashKey) piece(p []byte) uint64 {
	n := len(p)
	switch {
	case n == 0:
		return mix(k[0], k[1])
	case n <= 3:
		return mix((uint64(p[0])<<16|uint64(p[n/2])<<8|uint64(p[n-1]))^k[0], k[1])
	case n <= 7:
		return mix(uint64(binary.LittleEndian.Uint32(p))^k[0], uint64(binary.LittleEndian.Uint32(p[n-4:]))^k[1])
	case n <= 16:
		return mix(binary.LittleEndian.Uint64(p)^k[0], binary.LittleEndian.Uint64(p[n-8:])^k[1])
	case n <= 32:
		return k.pair(p, 0) + k.pair(p[n-16:], 2)
	case n <= 64:
		return k.pair(p, 0) + k.pair(p[16:], 2) + k.pair(p[n-32:], 4) + k.pair(p[n-16:], 6)
	}
	h := uint64(0)
	last := p[n-64:]
	for ; len(p) > 64; p = p[64:] {
		h = mix(h^k[8], k.piece(p[:64]))
	}
	return mix(h^k[8], k.piece(last))
}

func (k *hashKey) value(value string) uint64 {
	return mix(k.piece(bytesOf(value))^k[9], uint64(len(value))^k[10])
}

func (k *hashKey) object(namespace, name string) uint64 {
	m, n := uint64(len(namespace)), uint64(len(name))
	return mix(k.piece(bytesOf(namespace))^k[11], k.piece(bytesOf(name))^(m<<32|n)^k[12])
}

// bytesOf is a text's bytes, to be read only.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
