/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal hashes. The linker puts other functions in the place of libsodium's and our own, and they answer with
 * three bits: every trie of the store is full of collisions, the books of shared blocks too, and all
 * must be found as if nothing were the matter, whatever was found before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/short_hash.h"
#include "tests/support/store_fixture.h"

int __real_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			    const unsigned char *key);
int __wrap_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			    const unsigned char *key);

int
__wrap_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			const unsigned char *key)
{
	uint64_t hash;
	int r = __real_crypto_shorthash((unsigned char *)&hash, in, length, key);

	/*
	 * a block's tag is made of 24 bytes; paths know shapes by their tags (value.h), so these stay
	 * whole
	 */
	if (length != 24)
		hash &= short_hash_mask;
	memcpy(out, &hash, sizeof(hash));
	return r;
}

#define PODS 120

/* By turns nothing, "it is new", what is known, and a state that went or another pod's. */
static uint32_t
find_somehow(struct store_fixture *fx, uint32_t draft)
{
	static uint32_t last;
	static unsigned turn;
	uint32_t found[] = {FOUND_UNASKED, FOUND_NEW, 0, last};
	bool same;

	found[2] = store_look(fx->store, fx->pods, draft, &same);
	last = draft;
	return found[turn++ % 4];
}

static void
fill_and_check(uint64_t mask)
{
	struct store_fixture *fx;
	uint8_t present[PODS] = {0};
	uint64_t random = 7;
	char name[32], value[64];

	short_hash_mask = mask;
	fx = store_fixture_new(0);
	fx->find = find_somehow;
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned n = 0; n < 60; n++) {
			unsigned i;

			random = random * 6364136223846793005ull + 1442695040888963407ull;
			i = (unsigned)(random >> 33) % PODS;
			snprintf(name, sizeof(name), "pod-%u", i);
			if ((random >> 60) < 5) {
				assert_int_equal(store_fixture_delete(fx, "ns", name), 0);
				present[i] = 0;
				continue;
			}
			assert_int_equal(
				store_fixture_putf(
					fx,
					"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u%u\","
					"\"resourceVersion\":\"%u-%u\",\"labels\":{\"own\":\"%u\",\"half\":"
					"\"%u\","
					"\"all\":\"x\"}},\"spec\":{\"nodeName\":\"n%u\"}}",
					name, i, round, n, i, i % 2, i % 7),
				0);
			present[i] = 1;
		}
		assert_int_equal(store_commit(fx->store), 0);
		assert_int_equal(store_fixture_verify(fx), 0);
		long all = 0, half[2] = {0}, node[7] = {0};
		for (unsigned i = 0; i < PODS; i++) {
			snprintf(name, sizeof(name), "pod-%u", i);
			assert_int_equal(store_fixture_find(fx, "ns", name) != 0, present[i]);
			snprintf(value, sizeof(value), "own=%u", i);
			assert_int_equal(store_fixture_count_by_index(fx, "labels", value), present[i]);
			all += present[i];
			half[i % 2] += present[i];
			node[i % 7] += present[i];
		}
		assert_int_equal(store_fixture_count_by_index(fx, "labels", "all=x"), all);
		assert_int_equal(store_fixture_count_by_index(fx, "labels", "half=0"), half[0]);
		assert_int_equal(store_fixture_count_by_index(fx, "labels", "half=1"), half[1]);
		for (unsigned v = 0; v < 7; v++) {
			snprintf(value, sizeof(value), "n%u", v);
			assert_int_equal(store_fixture_count_by_index(fx, "nodeName", value), node[v]);
		}
	}
	for (unsigned i = 0; i < PODS; i++) {
		snprintf(name, sizeof(name), "pod-%u", i);
		assert_int_equal(store_fixture_delete(fx, "ns", name), 0);
	}
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_resource(fx->store, fx->pods)->identity, 0);
	store_fixture_free(fx);
}

/* Hashes that differ in the lowest three bits only: the tries' last level, and collisions under it. */
TEST_CASE(hashes_of_three_low_bits_are_told_apart_by_their_keys)
{
	fill_and_check(7);
}

/* Hashes that differ at the top only: the level with 16 digits. */
TEST_CASE(hashes_of_three_high_bits_are_told_apart_by_their_keys)
{
	fill_and_check(7ull << 61);
}

/* No hash at all: everything is one collision. */
TEST_CASE(even_equal_hashes_are_told_apart)
{
	fill_and_check(0);
}
