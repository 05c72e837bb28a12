/* SPDX-License-Identifier: Apache-2.0 */
/* The trie, against a plain sorted array: random edits in batches. Every published version stays readable. */
#include "tests/room.h"
#include "tests/support/arena_fixture.h"
#include "writer/store/trie_edit.h"

/* Keys in order. A value is its key's position in `universe`, so leaves know their key. */
struct world {
	struct arena *arena;
	struct trie_edit *edit;
	uint64_t *universe;	/* value -> key */
	uint32_t universe_count;
	uint64_t random;
};

static uint64_t
next_random(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static int
key_of(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
       uint64_t *ret_key)
{
	const struct world *w = self->context;

	(void)view;
	assert_true(link_is_immediate(leaf));
	*ret_key = w->universe[link_value(leaf)];
	assert_true((*ret_key & way.mask) == way.bits);
	return 0;
}

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct world *
world_new(uint32_t count, uint64_t seed, uint64_t mask)
{
	struct world *w = calloc(1, sizeof(*w));

	w->arena = arena_fixture_new();
	w->edit = trie_edit_new(w->arena);
	w->random = seed;
	w->universe = malloc(count * sizeof(uint64_t));
	for (uint32_t i = 0; i < count; i++)
		w->universe[i] = next_random(w) & mask;
	qsort(w->universe, count, sizeof(uint64_t), compare_u64);
	for (uint32_t i = 0; i < count; i++)
		if (w->universe_count == 0 || w->universe[i] != w->universe[w->universe_count - 1])
			w->universe[w->universe_count++] = w->universe[i];
	return w;
}

static void
world_free(struct world *w)
{
	trie_edit_free(w->edit);
	arena_fixture_free(w->arena);
	free(w->universe);
	free(w);
}

static int
put(struct world *w, uint32_t *root, uint32_t value, uint32_t *ret_old)
{
	const struct trie_keys keys = {key_of, w};

	return trie_put(w->edit, root, w->universe[value], link_of(value), &keys, ret_old);
}

static int
take(struct world *w, uint32_t *root, uint32_t value, uint32_t *ret_old)
{
	const struct trie_keys keys = {key_of, w};

	uint32_t leaf = 0;
	int r = trie_find(w->edit, *root, w->universe[value], &keys, &leaf);

	if (ret_old)
		*ret_old = r > 0 ? leaf : 0;
	if (r > 0)
		return trie_remove(w->edit, root, w->universe[value], leaf);
	assert_int_equal(trie_remove(w->edit, root, w->universe[value], link_of(value)), -EBADMSG);
	return r;
}

/* The version at root has exactly the values of present[], in order; get agrees. */
static void
assert_version(struct world *w, uint32_t root, const uint8_t *present)
{
	struct trie_iter it;
	uint32_t expected = 0;

	for (int r = trie_first(&it, &w->arena->view, root); r > 0; r = trie_next(&it)) {
		while (expected < w->universe_count && !present[expected])
			expected++;
		assert_int_equal(link_value(it.leaf), expected);
		expected++;
	}
	while (expected < w->universe_count && !present[expected])
		expected++;
	assert_int_equal(expected, w->universe_count);
}

/* Random edits agree with a sorted array, and old versions stay unchanged. */
static void
agree_with_a_sorted_array(uint32_t keys, uint32_t operations, uint64_t seed, uint64_t mask)
{
	enum { VERSIONS = 8 };
	struct world *w = world_new(keys, seed, mask);
	struct trie_keys resolver = {key_of, w};
	const uint32_t universe = w->universe_count ? w->universe_count : 1;
	uint8_t *present = calloc(universe, 1), *kept[VERSIONS] = {0};
	uint32_t root = 0, roots[VERSIONS] = {0};
	struct arena_stats stats;
	uint64_t epoch = 2;

	print_message("seed %llu, %u keys, %u operations\n", (unsigned long long)seed, w->universe_count,
		      operations);
	arena_set_working_epoch(w->arena, epoch);
	for (uint32_t done = 0; done < operations;) {
		uint32_t batch = 1 + (uint32_t)(next_random(w) % 200);
		bool growing = next_random(w) & 1;

		for (uint32_t i = 0; i < batch; i++, done++) {
			uint32_t value = (uint32_t)(next_random(w) % universe), old = 1, leaf = 0;
			uint64_t key = w->universe[value];
			uint64_t from = next_random(w) & mask;
			struct trie_iter it;
			uint32_t lo = 0, hi = w->universe_count;
			int r;

			if (next_random(w) % 8 < (growing ? 6u : 2u)) {
				assert_int_equal(put(w, &root, value, &old), 0);
				present[value] |= 2;
			} else {
				assert_int_equal(take(w, &root, value, &old), 0);
				present[value] &= 1;
			}
			assert_int_equal(old, present[value] & 1 ? link_of(value) : 0);
			present[value] = present[value] & 2 ? 1 : 0;

			r = trie_get(&w->arena->view, root, key, &leaf);
			assert_true(r >= 0);
			assert_int_equal(r == 1 && leaf == link_of(value), present[value]);

			/* seek: the first present key >= from */
			if (i % 16 != 0)
				continue;
			while (lo < hi) {
				uint32_t mid = (lo + hi) / 2;

				if (w->universe[mid] < from)
					lo = mid + 1;
				else
					hi = mid;
			}
			while (lo < w->universe_count && !present[lo])
				lo++;
			r = trie_seek(&it, &w->arena->view, root, from, &resolver);
			assert_int_equal(r, lo < w->universe_count);
			for (unsigned n = 0; n < 3 && r > 0; n++) {
				assert_int_equal(link_value(it.leaf), lo);
				for (lo++; lo < w->universe_count && !present[lo];)
					lo++;
				r = trie_next(&it);
				assert_int_equal(r, lo < w->universe_count);
			}
		}
		trie_edit_seal(w->edit);
		/* keep the last few versions; older ones are reclaimed */
		unsigned slot = (unsigned)(epoch % VERSIONS);

		if (kept[slot])
			assert_version(w, roots[slot], kept[slot]);
		free(kept[slot]);
		kept[slot] = malloc(universe);
		memcpy(kept[slot], present, universe);
		roots[slot] = root;
		epoch++;
		arena_set_working_epoch(w->arena, epoch);
		if (epoch > VERSIONS)
			arena_reclaim(w->arena, epoch - VERSIONS);
	}
	for (unsigned i = 0; i < VERSIONS; i++) {
		if (kept[i])
			assert_version(w, roots[i], kept[i]);
		free(kept[i]);
	}
	/* empty it: every node comes back */
	for (uint32_t value = 0; value < w->universe_count; value++)
		assert_int_equal(take(w, &root, value, NULL), 0);
	assert_int_equal(root, 0);
	arena_reclaim(w->arena, epoch);
	arena_stats(w->arena, &stats);
	assert_int_equal(stats.blocks, 0);
	assert_int_equal(stats.used_bytes, HEADER_BYTES);
	free(present);
	world_free(w);
}

TEST_CASE(random_edits_agree_with_a_sorted_array)
{
	agree_with_a_sorted_array(5000, 700000, 0x9e3779b97f4a7c15ull, ~0ull);
	agree_with_a_sorted_array(4000, 200000, 4711, 0xfff); /* dense from 0, as ordinals and seqs are */
	/* high and low digits only: no nodes in between, the top node has 16 digits */
	agree_with_a_sorted_array(3000, 200000, 815, 0xf00000000000003full);
}

/* Equal contents give equal nodes, in number and size, whatever the order of edits. */
TEST_CASE(form_does_not_depend_on_the_order_of_edits)
{
	uint64_t bytes[2];

	for (unsigned order = 0; order < 2; order++) {
		struct world *w = world_new(2000, 99, ~0ull);
		struct arena_stats stats;
		uint32_t root = 0;

		for (uint32_t i = 0; i < w->universe_count; i++) {
			uint32_t value = order ? w->universe_count - 1 - i : i;

			assert_int_equal(put(w, &root, value, NULL), 0);
		}
		trie_edit_seal(w->edit);
		arena_stats(w->arena, &stats);
		bytes[order] = stats.used_bytes;
		world_free(w);
	}
	assert_int_equal(bytes[0], bytes[1]);
}

/* Edits of a batch allocate as many blocks as the trie has nodes. */
TEST_CASE(a_batch_copies_a_node_once)
{
	struct world *w = world_new(64, 5, 0x3f);
	struct arena_stats before, after;
	uint32_t root = 0;

	for (uint32_t i = 0; i < w->universe_count; i++)
		assert_int_equal(put(w, &root, i, NULL), 0);
	trie_edit_seal(w->edit);
	arena_stats(w->arena, &before);
	assert_int_equal(before.blocks, 1);
	for (unsigned round = 0; round < 10; round++)
		for (uint32_t i = 0; i < w->universe_count; i++)
			assert_int_equal(put(w, &root, i, NULL), 0);
	arena_stats(w->arena, &after);
	assert_int_equal(after.blocks, 2);
	world_free(w);
}

/* If any allocation of an edit fails, the trie is unchanged and nothing leaks. */
TEST_CASE(a_failed_edit_changes_nothing)
{
	struct world *w = world_new(3000, 17, ~0ull);
	uint8_t *present = calloc(w->universe_count, 1);
	uint32_t root = 0, root_before;
	unsigned failures = 0;

	for (uint32_t value = 0; value < w->universe_count; value += 2) {
		assert_int_equal(put(w, &root, value, NULL), 0);
		present[value] = 1;
	}
	trie_edit_seal(w->edit);
	for (uint32_t value = 0; value < w->universe_count; value += 7) {
		for (uint64_t allowed = 0;; allowed++) {
			struct arena_stats before, after;
			int r;

			arena_stats(w->arena, &before);
			root_before = root;
			arena_fail_after(w->arena, allowed);
			r = present[value] ? take(w, &root, value, NULL) : put(w, &root, value, NULL);
			arena_fail_after(w->arena, UINT64_MAX);
			if (r == 0)
				break;
			failures++;
			assert_int_equal(r, -ENOSPC);
			assert_int_equal(root, root_before);
			arena_stats(w->arena, &after);
			assert_int_equal(before.used_bytes, after.used_bytes);
			if (value % 140 == 0)
				assert_version(w, root, present);
		}
		present[value] = !present[value];
		trie_edit_seal(w->edit);
	}
	assert_version(w, root, present);
	assert_true(failures > 100);
	free(present);
	world_free(w);
}
