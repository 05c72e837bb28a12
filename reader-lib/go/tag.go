// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/binary"
	"math/bits"
)

// The hashes of integrity tags and their keys (LAYOUT.md, TAGS).

// sipHash is SipHash-2-4, with a key of 16 bytes.
func sipHash(key, data []byte) (sum [8]byte) {
	k0, k1 := binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
	v0, v1 := k0^0x736f6d6570736575, k1^0x646f72616e646f6d
	v2, v3 := k0^0x6c7967656e657261, k1^0x7465646279746573
	last := uint64(len(data)) << 56
	rounds := func(n int) {
		for ; n > 0; n-- {
			v0 += v1
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v3
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 += v3
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 += v1
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v2 = bits.RotateLeft64(v2, 32)
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		m := binary.LittleEndian.Uint64(data)
		v3 ^= m
		rounds(2)
		v0 ^= m
	}
	for i, b := range data {
		last |= uint64(b) << (8 * i)
	}
	v3 ^= last
	rounds(2)
	v0 ^= last
	v2 ^= 0xff
	rounds(4)
	binary.LittleEndian.PutUint64(sum[:], v0^v1^v2^v3)
	return sum
}

var blake2bIV = [8]uint64{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}

var blake2bSigma = [10][16]byte{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

const blake2bBlock = 128

// compress takes in a block; `count` bytes came up to its end.
func compress(h *[8]uint64, block []byte, count uint64, last bool) {
	var m, v [16]uint64
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(block[8*i:])
	}
	copy(v[:8], h[:])
	copy(v[8:], blake2bIV[:])
	v[12] ^= count
	if last {
		v[14] = ^v[14]
	}
	g := func(a, b, c, d int, x, y uint64) {
		v[a] += v[b] + x
		v[d] = bits.RotateLeft64(v[d]^v[a], -32)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -24)
		v[a] += v[b] + y
		v[d] = bits.RotateLeft64(v[d]^v[a], -16)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -63)
	}
	for round := range 12 {
		s := &blake2bSigma[round%10]
		for i := range 4 {
			g(i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 {
			g(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[8+i]
	}
}

// A blake2b is what a hash is parametrized by: bytes of the sum, a key of at most 64 bytes, salt and
// personalization.
type blake2b struct {
	length       int
	key          []byte
	salt, person [16]byte
}

func (b *blake2b) sum(data []byte) []byte {
	var parameters [64]byte
	parameters[0], parameters[1], parameters[2], parameters[3] = byte(b.length), byte(len(b.key)), 1, 1
	copy(parameters[32:], b.salt[:])
	copy(parameters[48:], b.person[:])
	h := blake2bIV
	for i := range h {
		h[i] ^= binary.LittleEndian.Uint64(parameters[8*i:])
	}
	if len(b.key) > 0 { // a block of its own, before the data
		padded := make([]byte, blake2bBlock, blake2bBlock+len(data))
		copy(padded, b.key)
		data = append(padded, data...)
	}
	count := uint64(0)
	for ; len(data) > blake2bBlock; data = data[blake2bBlock:] {
		count += blake2bBlock
		compress(&h, data, count, false)
	}
	var last [blake2bBlock]byte
	copy(last[:], data)
	compress(&h, last[:], count+uint64(len(data)), true)
	var sum [64]byte
	for i := range h {
		binary.LittleEndian.PutUint64(sum[8*i:], h[i])
	}
	return sum[:b.length]
}

// deriveKey is libsodium's crypto_kdf: 32 bytes of a master key, by a number and a context of 8 characters.
func deriveKey(master []byte, id uint64, context string) []byte {
	b := blake2b{length: 32, key: master}
	binary.LittleEndian.PutUint64(b.salt[:], id)
	copy(b.person[:], context)
	return b.sum(nil)
}
