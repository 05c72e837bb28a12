// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/hex"
	"testing"
)

func isSum(t *testing.T, what string, sum []byte, wanted string) {
	t.Helper()
	if hex.EncodeToString(sum) != wanted {
		t.Errorf("%s: %x, not %s", what, sum, wanted)
	}
}

func count(n int) []byte {
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	return bytes
}

// The vectors of SipHash's paper and reference implementation (vectors_sip64).
func TestSipHashIsThePublishedOne(t *testing.T) {
	for length, wanted := range map[int]string{0: "310e0edd47db6f72", 1: "fd67dc93c539f874", 2: "5a4fa9d909806c0d",
		3: "2d7efbd796666785", 7: "37d1018bf50002ab", 8: "6224939a79f5f593", 15: "e545be4961ca29a1",
		63: "724506eb4c328a95"} {
		sum := sipHash(count(16), count(length))
		isSum(t, "siphash", sum[:], wanted)
	}
}

// The self-test of RFC 7693, appendix E, and the examples of its appendix A.
func TestBlake2bIsThePublishedOne(t *testing.T) {
	isSum(t, "abc", (&blake2b{length: 64}).sum([]byte("abc")),
		"ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"+
			"7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923")
	sequence := func(length int) []byte {
		bytes, a, b := make([]byte, length), uint32(length)*0xdead4bad, uint32(1)
		for i := range bytes {
			a, b = b, a+b
			bytes[i] = byte(b >> 24)
		}
		return bytes
	}
	var all []byte
	for _, length := range []int{20, 32, 48, 64} {
		for _, in := range []int{0, 3, 128, 129, 255, 1024} {
			all = append(all, (&blake2b{length: length}).sum(sequence(in))...)
			all = append(all, (&blake2b{length: length, key: sequence(length)}).sum(sequence(in))...)
		}
	}
	isSum(t, "self-test", (&blake2b{length: 32}).sum(all),
		"c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475")
}

// As libsodium's crypto_kdf_derive_from_key() does with the key 00 01 ... 1f and the context "KDF test".
func TestKeysAreDerivedAsLibsodiumDoes(t *testing.T) {
	for id, wanted := range map[uint64]string{
		0: "c13fcc2e6cd0cd0f82d93b163a5696c5105378f8c629d36baf3ae0239de9c280",
		1: "13fea52bb8cba063f3ed93de27ed07e06d8c6367474e6ae4c9282913ac3c3a03"} {
		isSum(t, "kdf", deriveKey(count(32), id, "KDF test"), wanted)
	}
}
