/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash under which keys and index values are filed: a keyed hash by 64 × 64 → 128 bit multiplications.
 *
 * Tags are SipHash-2-4 (tag.h). Here a hash only spreads keys over tries and tables, under a key that is
 * random for each arena and shown to no one who is not admitted; equal hashes are told apart by comparing, so
 * nothing but speed depends on it. It is asked for in every lookup, where SipHash takes a third of the time:
 * its rounds wait for each other, and how many there are follows the length, which no processor predicts.
 * Here the products are independent and the branches few. Measured for a pod's key of 50 bytes, random
 * lengths: SipHash-2-4 41 ns, SipHash-1-3 25 ns, this 7 ns.
 *
 *	mix(a, b)     the upper half of a * b, exclusive-or its lower half
 *	s[i]          (word i % 2 of the key, little-endian) + (i + 1) * 0x9e3779b97f4a7c15
 *	w(at)         the 8 bytes at `at`, little-endian
 *
 *	piece(p, n):  n = 0         mix(s[0], s[1])
 *	              n < 4         mix(p[0] << 16 | p[n / 2] << 8 | p[n - 1] ^ s[0], s[1])
 *	              n < 8         mix((4 bytes at p) ^ s[0], (4 bytes at p + n - 4) ^ s[1])
 *	              n <= 16       mix(w(p) ^ s[0], w(p + n - 8) ^ s[1])
 *	              n <= 32       pair(p, 0) + pair(p + n - 16, 2)
 *	              n <= 64       pair(p, 0) + pair(p + 16, 2) + pair(p + n - 32, 4) + pair(p + n - 16, 6)
 *	              n > 64        h = 0; while more than 64 bytes are left:
 *	                                h = mix(h ^ s[8], piece of the next 64);
 *	                            then mix(h ^ s[8], piece of the last 64 of all)
 *	pair(p, i):   mix(w(p) ^ s[i], w(p + 8) ^ s[i + 1])
 *
 *	hash of a value (n bytes):
 *	    mix(piece(value, n) ^ s[9], n ^ s[10])
 *	hash of namespace (m bytes) and name (n bytes):
 *	    mix(piece(namespace, m) ^ s[11], piece(name, n) ^ (m << 32 | n) ^ s[12])
 */
#ifndef SHM_LAYOUT_KEY_HASH_H
#define SHM_LAYOUT_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of an index value. */
uint64_t index_value_hash(const uint8_t key[16], const void *value, size_t length);

/*
 * The hash of an object's key; cluster-scoped: ns_length 0. 0 for lengths that no object has: whatever is
 * found by it compares unequal.
 */
uint64_t object_key_hash(const uint8_t key[16], const char *ns, size_t ns_length, const char *name,
			 size_t name_length);

#endif
