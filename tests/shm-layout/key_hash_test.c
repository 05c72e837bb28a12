/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of names and values: each length has its own hash, each bit counts, and the bits that choose a
 * bucket or a trie's digit are spread evenly. (e2e/layout_in_python proves that LAYOUT.md describes this
 * hash.)
 */
#include "shm-layout/key_hash.h"
#include "tests/room.h"

static const uint8_t key[16] = "a key of tests..";

static int
ascending(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

TEST_CASE(every_length_has_its_own_hash)
{
	static const uint8_t zeros[1300];
	uint64_t hashes[1300];

	for (size_t n = 0; n < 1300; n++)
		hashes[n] = index_value_hash(key, zeros, n);
	qsort(hashes, 1300, sizeof(hashes[0]), ascending);
	for (size_t n = 1; n < 1300; n++)
		assert_true(hashes[n - 1] != hashes[n]);
}

/* a/bc has another hash than ab/c. */
TEST_CASE(the_border_between_namespace_and_name_counts)
{
	static const char both[] = "payments-team-checkout-frontend-7d9f8b6c5d-x2x4z";
	size_t n = sizeof(both) - 1;
	uint64_t hashes[sizeof(both)];

	for (size_t i = 0; i < n; i++)
		hashes[i] = object_key_hash(key, both, i, both + i, n - i);
	qsort(hashes, n, sizeof(hashes[0]), ascending);
	for (size_t i = 1; i < n; i++)
		assert_true(hashes[i - 1] != hashes[i]);
}

/* A flipped bit of a value of any length changes about half of the hash. So does a flipped bit of the key. */
TEST_CASE(every_bit_counts)
{
	uint8_t value[200], other[16];
	uint64_t flips = 0, count = 0;

	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (uint8_t)(i * 37 + 11);
	for (size_t n = 1; n <= sizeof(value); n++) {
		uint64_t hash = index_value_hash(key, value, n);

		for (size_t bit = 0; bit < 8 * n; bit++) {
			unsigned changed;

			value[bit / 8] ^= (uint8_t)(1u << bit % 8);
			changed = (unsigned)__builtin_popcountll(hash ^ index_value_hash(key, value, n));
			value[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_in_range(changed, 8, 56);
			flips += changed;
			count++;
		}
	}
	assert_in_range(flips * 100 / count, 3190, 3210);
	for (unsigned bit = 0; bit < 128; bit++) {
		memcpy(other, key, sizeof(other));
		other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_in_range(__builtin_popcountll(index_value_hash(key, value, 40) ^
						     index_value_hash(other, value, 40)),
				8, 56);
	}
}

/* Kubernetes names fill 4,096 buckets evenly, whichever 12 bits of the hash choose the bucket. */
TEST_CASE(names_are_spread_evenly)
{
	static unsigned places[4096];
	static const unsigned shifts[] = {0, 3, 20, 32, 52};
	char ns[32], name[64];

	for (size_t s = 0; s < sizeof(shifts) / sizeof(shifts[0]); s++) {
		double chi = 0;

		memset(places, 0, sizeof(places));
		for (unsigned i = 0; i < 4096 * 32; i++) {
			size_t m = (size_t)snprintf(ns, sizeof(ns), "team-%u", i % 7);
			size_t n = (size_t)snprintf(name, sizeof(name), "web-%u-%05x", i % 13, i);

			places[object_key_hash(key, ns, m, name, n) >> shifts[s] & 4095]++;
		}
		for (unsigned i = 0; i < 4096; i++)
			chi += ((double)places[i] - 32) * ((double)places[i] - 32) / 32;
		/* 4,095 degrees of freedom: 4,095 ± 90; six times that on either side */
		assert_true(chi > 3550 && chi < 4640);
	}
}
