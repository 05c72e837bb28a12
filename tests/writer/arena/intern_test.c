/* SPDX-License-Identifier: Apache-2.0 */
/* The table of shared blocks, against a plain count of references. */
#include "shm-layout/value.h"
#include "tests/room.h"
#include "tests/support/arena_fixture.h"
#include "tests/support/json_random.h"
#include "writer/arena/intern.h"

#define VALUES 5000u

struct world {
	struct arena *arena;
	struct intern *intern;
	struct json_random random;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->arena = arena_fixture_new();
	w->random.seed = 12;
	w->intern = intern_new(w->arena);
	assert_non_null(w->intern);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	intern_free(w->intern);
	arena_fixture_free(w->arena);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* The block of this payload. known: true if the table had it. */
static uint32_t
get(struct world *w, enum block_type type, const void *payload, size_t length, bool known)
{
	uint32_t ref = 0;
	bool was_known = !known;

	assert_int_equal(intern_get(w->intern, type, payload, (uint32_t)length, &ref, &was_known), 0);
	assert_int_equal(was_known, known);
	return ref;
}

static uint32_t
get_string(struct world *w, const char *text, bool known)
{
	uint8_t payload[64] = {(uint8_t)(TAG_STRING0 + strlen(text))};

	memcpy(payload + 1, text, strlen(text));
	return get(w, BLOCK_VALUE, payload, 1 + strlen(text), known);
}

static uint32_t
get_number(struct world *w, uint32_t i, bool known)
{
	char text[32];

	snprintf(text, sizeof(text), "value %u", i);
	return get_string(w, text, known);
}

/* Equal values have one sealed block. Another type or content has another block. */
TEST(equal_values_have_one_block)
{
	uint8_t same[4] = {TAG_ARRAY16, 1, 0, TAG_NULL};
	uint32_t a = get_string(w, "one", false);

	assert_int_equal(get_string(w, "one", true), a);
	assert_int_not_equal(get_string(w, "two", false), a);
	assert_true(tag_load_ok(&w->arena->keys, ref_offset(a), arena_block(w->arena, a),
				arena_block(w->arena, a)->type_length));
	assert_int_equal(arena_block(w->arena, a)->aux,
			 (uint32_t)tag_content_hash(&w->arena->keys, arena_payload(w->arena, a), 4));
	assert_int_not_equal(get(w, BLOCK_VALUE, same, 4, false), get(w, BLOCK_SHAPE, same, 4, false));
	assert_int_equal(intern_count(w->intern), 4);
}

/* A million random gets, refs and unrefs, one or many at a time, leave the counts of a plain table. */
TEST(a_million_changes_agree_with_a_plain_count)
{
	static uint32_t counts[VALUES], refs[VALUES];
	uint64_t live = 0;

	for (unsigned step = 0; step < 1000000; step++) {
		/* the set in use moves on, so that the table grows and empties */
		uint32_t i = (json_random_below(&w->random, 300) + step / 200) % VALUES, n;

		if (json_random_below(&w->random, 2) || counts[i] == 0) {
			uint32_t before = refs[i];

			refs[i] = get_number(w, i, counts[i] > 0);
			if (counts[i] > 0)
				assert_int_equal(refs[i], before);
			live += counts[i]++ == 0;
		} else if (json_random_below(&w->random, 10) == 0) {
			n = json_random_below(&w->random, 5);
			intern_ref_many(w->intern, refs[i], n);
			counts[i] += n;
		} else {
			n = 1 + json_random_below(&w->random, counts[i]);
			intern_unref_many(w->intern, refs[i], n);
			counts[i] -= n;
			live -= counts[i] == 0;
		}
		if (step % 1000 == 0)
			arena_reclaim(w->arena, UINT64_MAX);
		assert_int_equal(intern_count(w->intern), live);
	}
	for (uint32_t i = 0; i < VALUES; i++)
		if (counts[i])
			intern_unref_many(w->intern, refs[i], counts[i]);
	assert_int_equal(intern_count(w->intern), 0);
}

/* With its last reference, and not before, a value drops its own references, down to names. */
TEST(the_last_reference_drops_a_values_own_references)
{
	uint8_t shape[12] = {1, 0, 0, 0}, object[] = {TAG_OBJECT16, 5, 0, 0, 0, 0, 0, TAG_REF, 0, 0, 0, 0};
	uint32_t name = get_string(w, "name", false), text = get_string(w, "a text", false), ref;

	memcpy(shape + 8, &name, 4);
	ref = get(w, BLOCK_SHAPE, shape, sizeof(shape), false);
	memcpy(object + 3, &ref, 4);
	memcpy(object + 8, &text, 4);
	ref = get(w, BLOCK_VALUE, object, sizeof(object), false);
	assert_int_equal(get(w, BLOCK_VALUE, object, sizeof(object), true), ref);
	assert_int_equal(intern_count(w->intern), 4);
	intern_unref(w->intern, ref);
	assert_int_equal(intern_count(w->intern), 4);
	intern_ref(w->intern, text);
	intern_unref(w->intern, ref);
	assert_int_equal(intern_count(w->intern), 1);
	intern_unref(w->intern, text);
	assert_int_equal(intern_count(w->intern), 0);
}

/* Releasing an object's body gives back each ref in it, as often as it occurs. */
TEST(a_body_is_released_ref_by_ref)
{
	uint8_t body[] = {TAG_ARRAY16, 11, 0, TAG_REF, 0, 0, 0, 0, TAG_TRUE, TAG_REF, 0, 0, 0, 0};
	uint32_t text = get_string(w, "twice", false);

	get_string(w, "twice", true);
	memcpy(body + 4, &text, 4);
	memcpy(body + 10, &text, 4);
	intern_release_value(w->intern, body, body + sizeof(body));
	assert_int_equal(intern_count(w->intern), 0);
}

/* A table rebuilt ref by ref has the counts and the blocks of the old table. */
TEST(a_rebuilt_table_counts_the_same)
{
	struct intern *rebuilt = intern_new(w->arena);
	uint32_t refs[2000];

	for (uint32_t i = 0; i < 2000; i++) {
		refs[i] = get_number(w, i, false);
		for (uint32_t k = 0; k <= i % 3; k++) {
			bool first;

			assert_int_equal(intern_restore(rebuilt, refs[i], &first), 0);
			assert_int_equal(first, k == 0);
		}
	}
	intern_free(w->intern);
	w->intern = rebuilt;
	assert_int_equal(intern_count(rebuilt), 2000);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_int_equal(get_number(w, i, true), refs[i]);
		intern_unref_many(rebuilt, refs[i], i % 3 + 1);
		assert_int_equal(intern_count(rebuilt), 2000 - i);
		intern_unref(rebuilt, refs[i]);
	}
	assert_int_equal(intern_count(rebuilt), 0);
}

/* A full arena is an error that changes nothing. Known blocks are still found. */
TEST(a_full_arena_changes_nothing)
{
	uint8_t payload[2] = {TAG_STRING0 + 1, 'x'};
	uint32_t ref, text = get_string(w, "present", false);
	bool known;

	arena_fail_after(w->arena, 0);
	assert_int_equal(intern_get(w->intern, BLOCK_VALUE, payload, 2, &ref, &known), -ENOSPC);
	assert_int_equal(get_string(w, "present", true), text);
	assert_int_equal(intern_count(w->intern), 1);
	arena_fail_after(w->arena, UINT64_MAX);
	get(w, BLOCK_VALUE, payload, 2, false);
}

/* An entry has 12 bytes. The table is at most three quarters full, and at least three eighths once grown. */
TEST(the_table_stays_small)
{
	for (uint32_t i = 0; i < 100000; i++)
		get_number(w, i, false);
	assert_int_equal(intern_count(w->intern), 100000);
	assert_true(intern_private_bytes(w->intern) <= 100000 * 32ul);
}
