/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in a fragmented arena: none needs a large run, and none stops half way. */
#include "tests/room.h"
#include "tests/support/dice.h"
#include "tests/support/store_fixture.h"
#include "writer/arena/arena.h"

#define PIECES 120000u
#define LABELS 60u
#define PODS 300u
#define CHANGES 1500u

static uint32_t pieces[PIECES];
static unsigned piece_count;

/* Fill the arena with blocks: one in `rare` has 6,000 bytes, others 100 to 200. */
static void
fill(struct store_fixture *fx, unsigned rare)
{
	arena_open_reserve(fx->arena, true);
	for (piece_count = 0; piece_count < PIECES; piece_count++)
		if (arena_new_block(fx->arena, BLOCK_VALUE, pick(rare) ? 100 + pick(101) : 6000, 0,
				    &pieces[piece_count]) < 0)
			break;
	arena_open_reserve(fx->arena, false);
	assert_in_range(piece_count, 1000, PIECES - 1);
}

/* Free the block if it is still there. Only every other block is freed, so free runs have a block's size. */
static void
free_piece(struct store_fixture *fx, unsigned i)
{
	i &= ~1u;
	if (pieces[i])
		arena_free(fx->arena, pieces[i]);
	pieces[i] = 0;
}

static bool
count_asked(void *asked)
{
	++*(unsigned *)asked;
	return false;
}

/* Put the pod with the first so many labels, of this value. */
static int
put_labelled(struct store_fixture *fx, const char *name, unsigned labels, const char *value)
{
	char text[LABELS * 32] = "";

	for (unsigned k = 0; k < labels; k++)
		snprintf(text + strlen(text), 32, "%s\"label-%u\":\"%s\"", k ? "," : "", k, value);
	return store_fixture_putf(fx, "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"labels\":{%s}}}",
				  name, text);
}

/* A pod with many index values goes into small pieces and is complete. No reader is asked to let go. */
TEST_CASE(a_pod_with_many_labels_needs_no_run_of_its_size)
{
	struct store_fixture *fx = store_fixture_new(16u << 20);
	struct arena_stats before, after;
	unsigned asked = 0;

	store_fixture_commit(fx);
	fill(fx, 1);
	for (unsigned i = 0; i < piece_count; i += 2)
		free_piece(fx, i);
	store_on_full(fx->store, count_asked, &asked);
	arena_stats(fx->arena, &before);
	assert_true(before.free_bytes > 6u << 20);
	assert_int_equal(put_labelled(fx, "a", LABELS, "v"), 0);
	store_fixture_commit(fx);
	for (unsigned i = 0; i < LABELS; i++)
		store_fixture_assert_count(fx, 1, "labels", "label-%u=v", i);
	assert_int_equal(store_fixture_delete(fx, "n", "a"), 0);
	store_fixture_commit(fx);
	store_fixture_assert_count(fx, 0, "labels", "label-1=v");
	arena_stats(fx->arena, &after);
	assert_int_equal(after.committed_bytes, before.committed_bytes);
	assert_int_equal(asked, 0);
	store_fixture_free(fx);
}

/*
 * Among small pieces and a few large ones a change happens whole or leaves no trace. Each label's postings,
 * of every form, are counted. After a refusal more pieces come free.
 */
TEST_CASE(no_change_stops_half_way_among_small_pieces)
{
	struct store_fixture *fx = store_fixture_new(16u << 20);
	unsigned has[PODS] = {0}, refused = 0;

	fill(fx, 300);
	for (unsigned n = 0; n < CHANGES; n++) {
		unsigned i = pick(PODS), labels = pick(4) ? 1 + pick(pick(8) ? 8 : LABELS) : 0;
		char name[16];
		int r;

		snprintf(name, sizeof(name), "pod-%u", i);
		r = labels ? put_labelled(fx, name, labels, "v") : store_fixture_delete(fx, "n", name);
		if (r == 0) {
			has[i] = labels;
		} else {
			assert_int_equal(r, -ENOSPC);
			refused++;
			for (unsigned k = 0; k < 100; k++)
				free_piece(fx, pick(piece_count));
		}
		if (n % 20 == 0)
			store_fixture_commit(fx);
	}
	store_fixture_commit(fx);
	assert_int_equal(store_fixture_verify(fx), 0);
	for (unsigned k = 0; k < LABELS; k++) {
		long pods = 0;

		for (unsigned i = 0; i < PODS; i++)
			pods += has[i] > k;
		store_fixture_assert_count(fx, pods, "labels", "label-%u=v", k);
	}
	assert_in_range(refused, 10, CHANGES / 2);
	store_fixture_free(fx);
}
