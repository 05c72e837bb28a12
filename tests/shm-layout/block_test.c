/* SPDX-License-Identifier: Apache-2.0 */
/* A block lies within the committed bytes, whatever its words say. */
#include "shm-layout/block.h"
#include "shm-layout/value.h"
#include "tests/room.h"

enum { COMMITTED = 4096, REF = 2 };

static _Alignas(REF_UNIT) uint8_t bytes[COMMITTED];
static const struct arena_view view = {.base = bytes, .committed = COMMITTED};

static void
set(uint32_t ref, enum block_type type, uint32_t length)
{
	struct block *b = (struct block *)(void *)(bytes + ref_offset(ref));

	b->type_length = (uint32_t)type << 28 | length;
}

static bool
loads(uint32_t ref, enum block_type type, uint32_t min_length)
{
	uint32_t length;

	return block_load(&view, ref, type, min_length, &length) != NULL;
}

TEST_CASE(a_block_ends_within_what_is_committed)
{
	const uint32_t fits = COMMITTED - (uint32_t)ref_offset(REF) - (uint32_t)sizeof(struct block);

	set(REF, BLOCK_VALUE, fits);
	assert_true(loads(REF, BLOCK_VALUE, fits));
	assert_non_null(block_any(&view, REF));
	set(REF, BLOCK_VALUE, fits + 1);
	assert_false(loads(REF, BLOCK_VALUE, 0));
	assert_null(block_any(&view, REF));
	assert_null(value_of_block(&view, REF).at);
	set(REF, BLOCK_VALUE, BLOCK_LENGTH_MAX);
	assert_false(loads(REF, BLOCK_VALUE, 0));
	assert_null(block_any(&view, REF));
}

TEST_CASE(a_ref_beyond_what_is_committed_names_nothing)
{
	static const uint32_t refs[] = {0, COMMITTED / REF_UNIT, COMMITTED / REF_UNIT + 1, REF_MAX,
					UINT32_MAX};

	for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
		assert_false(loads(refs[i], BLOCK_VALUE, 0));
		assert_null(block_any(&view, refs[i]));
	}
}

TEST_CASE(a_block_has_the_type_and_the_bytes_that_are_asked_for)
{
	set(REF, BLOCK_OBJECT, 20);
	assert_true(loads(REF, BLOCK_OBJECT, 20));
	assert_false(loads(REF, BLOCK_OBJECT, 21));
	assert_false(loads(REF, BLOCK_VALUE, 20));
}
