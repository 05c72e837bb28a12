/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any blocks that fit by books_fits() can be allocated: from fragments of any shape, in any sizes and order,
 * whatever is freed in between.
 */
#include "tests/room.h"
#include "tests/support/dice.h"
#include "writer/arena/arena_books.h"

#define UNITS 20000u
#define ROUNDS 400u
#define BLOCKS 20000u

/* `taken` has a byte a unit: 1 is in use. */
static struct world {
	uint8_t *base, taken[UNITS];
	struct arena_books *books;
	struct {
		uint32_t ref, units;
	} blocks[BLOCKS];
	unsigned count;
} w;

static uint32_t
take(uint32_t units)
{
	uint32_t ref = books_take(w.books, units);

	if (ref == 0)
		return 0;
	memset(w.taken + ref, 1, units);
	w.blocks[w.count].ref = ref;
	w.blocks[w.count++].units = units;
	return ref;
}

static void
give(unsigned i)
{
	memset(w.taken + w.blocks[i].ref, 0, w.blocks[i].units);
	books_give(w.books, w.blocks[i].ref, w.blocks[i].units);
	w.blocks[i] = w.blocks[--w.count];
}

/* Fill the books, then free blocks until there are holes of all sizes. */
static void
fragment(void)
{
	unsigned mostly = 1 + pick(300);

	while (take(1 + pick(pick(4) ? mostly : 1000)))
		;
	while (take(1))
		;
	for (unsigned n = w.count * (1 + pick(9)) / 10; n > 0; n--)
		give(pick(w.count));
}

/* The most units for which books_fits() must be true, by its contract; 0: for none. */
static uint64_t
most(uint32_t largest)
{
	uint64_t room = largest - 1;

	for (uint32_t u = 1, run = 0; u <= UNITS; u++) {
		if (u < UNITS && !w.taken[u]) {
			run++;
			continue;
		}
		room += run >= largest ? run - (largest - 1) : 0;
		run = 0;
	}
	return room >= largest ? room : 0;
}

/* Allocate blocks of one size, of two sizes, or of any size, until so many units are used. */
static void
use_up(uint64_t units, uint32_t largest)
{
	unsigned way = pick(3), size = 1 + pick(largest), other = 1 + pick(largest);

	while (units > 0) {
		unsigned u = way == 0 ? size : way == 1 ? 1 + pick(largest) : pick(2) ? size : other;

		u = u < units ? u : (unsigned)units;
		if (!take(u))
			fail_msg("%u units, of at most %u, with %llu to go", u, largest,
				 (unsigned long long)units);
		units -= u;
		if (pick(8) == 0)
			give(w.count - 1 - pick(w.count < 50 ? w.count : 50));
	}
}

static void
empty(void)
{
	w.books = books_new(w.base, UNITS);
	assert_non_null(w.books);
	books_extend(w.books, 1, UNITS);
	memset(w.taken, 0, sizeof(w.taken));
	w.count = 0;
}

TEST_CASE(blocks_that_fit_can_be_allocated)
{
	unsigned scattered = 0;

	w.base = aligned_alloc(4096, (UNITS + 255) / 256 * 4096ul);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t largest = 1 + pick(pick(3) ? 60 : 300);
		uint64_t units;

		empty();
		w.taken[0] = 1;
		fragment();
		units = most(largest);
		assert_false(books_fits(w.books, (uint32_t)(units ? units + 1 : largest), largest));
		if (units > 0) {
			assert_true(books_fits(w.books, (uint32_t)units, largest));
			scattered += !books_fits(w.books, (uint32_t)units, (uint32_t)units);
			use_up(units, largest);
		}
		books_free(w.books);
	}
	assert_true(scattered > ROUNDS / 2);
	free(w.base);
}
