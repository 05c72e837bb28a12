/* SPDX-License-Identifier: Apache-2.0 */
/* Bitmaps against an array of bools, for runs of bits that end at the ends of words and in between. */
#include "tests/room.h"
#include "tests/support/dice.h"
#include "writer/arena/bitmap.h"

#define BITS 300u
#define STEPS 20000u

static bool model[BITS];

/* Often chooses ends of words, and runs of whole words. */
static void
pick_run(uint64_t *from, uint64_t *count)
{
	*from = pick(3) ? pick(BITS) : pick(BITS / 64) * 64 + pick(2) * 63;
	*count = pick(3) ? pick(BITS - *from + 1) : 64 * pick((BITS - *from) / 64 + 1);
}

static bool
model_all(uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < from + count; i++)
		if (!model[i])
			return false;
	return true;
}

static uint64_t
model_next(uint64_t from, uint64_t end, bool value)
{
	while (from < end && model[from] != value)
		from++;
	return from;
}

static void
assert_same(const uint64_t *map)
{
	for (uint64_t i = 0; i < BITS; i++)
		assert_int_equal(bit(map, i), model[i]);
}

TEST_CASE(each_run_agrees_with_an_array_of_bools)
{
	uint64_t *map = bitmap_reserve(BITS);

	assert_non_null(map);
	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t from, count, start;
		bool value = pick(2);

		pick_run(&from, &count);
		bits_fill(map, from, count, value);
		for (uint64_t i = from; i < from + count; i++)
			model[i] = value;
		assert_same(map);
		pick_run(&from, &count);
		assert_int_equal(bits_all(map, from, count), model_all(from, count));
		assert_int_equal(bits_next(map, from, from + count, value),
				 model_next(from, from + count, value));
		if (!model[from])
			continue;
		for (start = from; start > 0 && model[start - 1];)
			start--;
		assert_int_equal(bits_run_start(map, from), start);
	}
	bitmap_release(map, BITS);
}

/* Dropped bits are zero again. The drop may go beyond the given bits, up to the end of a page. */
TEST_CASE(dropped_bits_are_zero)
{
	const uint64_t page = 4096ull * 8, bits = 3 * page;
	uint64_t *map = bitmap_reserve(bits);

	assert_non_null(map);
	bits_fill(map, 0, bits, true);
	bitmap_drop(map, 0);
	assert_true(bits_all(map, 0, bits));
	bitmap_drop(map, page + 1);
	assert_int_equal(bits_next(map, 0, bits, true), 2 * page);
	assert_true(bits_all(map, 2 * page, page));
	bitmap_release(map, bits);
	bitmap_release(NULL, bits);
}
