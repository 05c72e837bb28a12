/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that revoked readers see, against a plain model. A block that was in use at a revocation keeps its
 * bytes or reads as zeros until it is dug up. Nothing is allocated there meanwhile. The file's memory equals
 * the sum in the books.
 */
#include "tests/room.h"
#include "tests/support/arena_fixture.h"
#include "tests/support/dice.h"
#include "tests/support/large_pages.h"
#include "writer/arena/arena.h"
#include "writer/arena/arena_pages.h"

#define BLOCKS 4000u
#define MAX_BYTES (24u << 20)
#define STEPS 30000u
#define LOOK_EVERY 250u
#define MANY 80000u

struct model_block {
	uint32_t ref, length;
	uint64_t retired; /* epoch; 0: in use */
};

/*
 * seen a byte a unit: 1 if a revoked reader may see it
 * saved  the bytes at the first revocation that saw the unit
 */
static struct model {
	struct arena arena;
	struct model_block blocks[BLOCKS];
	unsigned count, sights;
	uint64_t epoch;
	uint8_t *seen, *saved, *now;
	bool revoked;
} m;

static uint64_t
units_of(uint32_t length)
{
	return block_footprint(length) / REF_UNIT;
}

static uint64_t
file_bytes(void)
{
	struct stat st;

	assert_int_equal(fstat(m.arena.fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* Reads by system call: a read through the mapping would give memory to a page without any. */
static void
read_file(uint8_t *to)
{
	assert_int_equal(pread(m.arena.fd, to, m.arena.view.committed, 0), m.arena.view.committed);
}

static void
assert_sums(void)
{
	struct arena_stats stats;

	arena_stats(&m.arena, &stats);
	assert_int_equal(stats.committed_bytes,
			 stats.used_bytes + stats.free_bytes + stats.buried_bytes + stats.absent_bytes);
	assert_int_equal(stats.present_bytes,
			 stats.committed_bytes - stats.punched_bytes - stats.absent_bytes);
	assert_int_equal(file_bytes(), stats.present_bytes);
}

/* Check each visible unit, and each block in use. */
static void
assert_nothing_was_lost(void)
{
	static const uint8_t zeros[REF_UNIT];

	read_file(m.now);
	for (uint64_t u = 0; u < m.arena.view.committed / REF_UNIT; u++) {
		const uint8_t *here = m.now + u * REF_UNIT;

		if (m.seen[u] && memcmp(here, zeros, REF_UNIT) != 0 &&
		    memcmp(here, m.saved + u * REF_UNIT, REF_UNIT) != 0)
			fail_msg("unit %llu is neither zero nor what it was", (unsigned long long)u);
	}
	for (unsigned i = 0; i < m.count; i++) {
		const uint8_t *payload = m.now + ref_offset(m.blocks[i].ref) + sizeof(struct block);

		for (uint32_t k = 0; k < m.blocks[i].length; k++)
			if (payload[k] != (uint8_t)(m.blocks[i].ref + k))
				fail_msg("block %u was written over", m.blocks[i].ref);
	}
}

static void
make(void)
{
	struct model_block *b = &m.blocks[m.count];
	uint32_t length = pick(20) == 0 ? 3000 + pick(30000) : pick(700);
	uint8_t *payload;

	if (m.count == BLOCKS || arena_new_block(&m.arena, BLOCK_VALUE, length, 0, &b->ref) < 0)
		return;
	payload = arena_payload(&m.arena, b->ref);
	for (uint32_t k = 0; k < length; k++)
		payload[k] = (uint8_t)(b->ref + k);
	if (pick(4) == 0) {
		length -= length / 3;
		arena_trim_block(&m.arena, b->ref, length);
	}
	for (uint64_t u = b->ref; u < b->ref + units_of(length); u++)
		assert_false(m.seen[u]);
	b->length = length;
	b->retired = 0;
	m.count++;
}

static void
drop(unsigned i)
{
	m.blocks[i] = m.blocks[--m.count];
}

static void
retire_or_free(void)
{
	unsigned i = pick(m.count ? m.count : 1);

	if (m.count == 0 || m.blocks[i].retired)
		return;
	if (pick(3) == 0) {
		arena_free(&m.arena, m.blocks[i].ref);
		drop(i);
	} else {
		arena_retire(&m.arena, m.blocks[i].ref);
		m.blocks[i].retired = m.epoch;
	}
}

static void
reclaim(void)
{
	uint64_t horizon = m.epoch - pick(3);

	arena_reclaim(&m.arena, horizon);
	for (unsigned i = m.count; i-- > 0;)
		if (m.blocks[i].retired && m.blocks[i].retired <= horizon)
			drop(i);
	arena_set_working_epoch(&m.arena, ++m.epoch);
}

static void
someone_is_revoked(void)
{
	arena_see(&m.arena);
	m.revoked = true;
	m.sights++;
	read_file(m.now);
	for (unsigned i = 0; i < m.count; i++)
		for (uint64_t u = m.blocks[i].ref; u < m.blocks[i].ref + units_of(m.blocks[i].length); u++)
			if (!m.seen[u]) {
				m.seen[u] = 1;
				memcpy(m.saved + u * REF_UNIT, m.now + u * REF_UNIT, REF_UNIT);
			}
}

/* Read as a revoked reader does. */
static void
touch(void)
{
	volatile const uint8_t *base = m.arena.view.base;

	for (uint64_t page = 0; page < m.arena.view.committed / 4096; page++)
		if (m.seen[page * 256])
			(void)base[page * 4096];
	arena_punch_again(&m.arena);
}

static void
all_have_gone(void)
{
	m.revoked = false;
	memset(m.seen, 0, MAX_BYTES / REF_UNIT);
	arena_dig_up(&m.arena);
}

static int
set_up(void **state)
{
	(void)state;
	m.epoch = 5;
	assert_int_equal(arena_fixture_make(&m.arena, MAX_BYTES), 0);
	arena_set_working_epoch(&m.arena, m.epoch);
	m.seen = calloc(1, MAX_BYTES / REF_UNIT);
	m.saved = calloc(1, MAX_BYTES);
	m.now = calloc(1, MAX_BYTES);
	assert_true(m.seen && m.saved && m.now);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(m.seen);
	free(m.saved);
	free(m.now);
	arena_close(&m.arena);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, tear_down, name)

static struct arena_stats
stats(void)
{
	struct arena_stats now;

	arena_stats(&m.arena, &now);
	return now;
}

static uint32_t
block(uint32_t length)
{
	uint32_t ref;

	assert_int_equal(arena_new_block(&m.arena, BLOCK_VALUE, length, 0, &ref), 0);
	return ref;
}

static void
free_all(void)
{
	arena_reclaim(&m.arena, m.epoch);
	for (unsigned i = 0; i < m.count; i++)
		if (!m.blocks[i].retired)
			arena_free(&m.arena, m.blocks[i].ref);
	m.count = 0;
}

TEST(visible_bytes_stay_or_are_zero)
{
	struct arena_stats now;
	uint64_t punched = 0, absent = 0, filled = 0, before = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned what = pick(1000);

		if (what < 480)
			make();
		else if (what < 960)
			retire_or_free();
		else if (what < 985)
			reclaim();
		else if (what < 988)
			someone_is_revoked();
		else if (what < 990)
			touch();
		else if (what < 991)
			all_have_gone();
		else
			arena_punch(&m.arena);
		now = stats();
		punched = now.punched_bytes > punched ? now.punched_bytes : punched;
		absent = now.absent_bytes > absent ? now.absent_bytes : absent;
		filled += now.absent_bytes < before;
		before = now.absent_bytes;
		if (step % LOOK_EVERY == 0) {
			assert_nothing_was_lost();
			assert_sums();
		}
	}
	/* the test did something */
	assert_true(m.sights > 20);
	assert_true(punched > 0);
	assert_true(absent > 0);
	assert_true(filled > 0);
	assert_nothing_was_lost();
	all_have_gone();
	free_all();
	assert_sums();
	assert_int_equal(stats().used_bytes, HEADER_BYTES);
	assert_int_equal(stats().buried_bytes, 0);
}

/* Allocate blocks of more than a page until nothing fits. */
static unsigned
fill(uint32_t *refs, unsigned most)
{
	unsigned n = 0;

	while (n < most && arena_new_block(&m.arena, BLOCK_VALUE, 8192 - 16, 0, &refs[n]) == 0)
		n++;
	return n;
}

/* The budget limits memory, not addresses: punching makes room, at once when an allocation would fail. */
TEST(punched_pages_are_room_in_the_budget)
{
	static uint32_t refs[MAX_BYTES / 8192], more[MAX_BYTES / 8192];
	unsigned n, again;

	arena_set_budget(&m.arena, 6u << 20);
	n = fill(refs, MAX_BYTES / 8192);
	assert_true(stats().present_bytes <= 6u << 20);
	assert_in_range(n, 600, 6u << 20 >> 13);
	assert_int_equal(fill(more, 1), 0);
	/* the reader is revoked, then all blocks are freed */
	arena_see(&m.arena);
	for (unsigned i = 0; i < n; i++)
		arena_free(&m.arena, refs[i]);
	again = fill(more, MAX_BYTES / 8192);
	assert_in_range(again, n - 2, n + 2);
	assert_sums();
	assert_true(stats().present_bytes <= 6u << 20);
	/* fill a third time, in the place of the first blocks */
	assert_false(arena_dig_up(&m.arena));
	for (unsigned i = 0; i < again; i++)
		arena_free(&m.arena, more[i]);
	assert_true(stats().absent_bytes > 5u << 20);
	arena_set_budget(&m.arena, MAX_BYTES);
	arena_see(&m.arena); /* absent pages are not seen */
	n = fill(refs, MAX_BYTES / 8192);
	assert_int_equal(stats().absent_bytes, 0);
	assert_int_equal(stats().committed_bytes, MAX_BYTES);
	assert_sums();
	for (unsigned i = 0; i < n; i++)
		arena_free(&m.arena, refs[i]);
	assert_int_equal(stats().buried_bytes, 0);
}

/* A reader is revoked while a part is dug up. The remaining part is buried again, and punched. */
TEST(a_part_not_dug_up_yet_is_buried_again)
{
	static uint32_t small[40000];
	uint32_t large, punched;

	for (unsigned i = 0; i < 40000; i++)
		small[i] = block(16);
	large = block(100000);
	punched = block(100000);
	block(16);
	arena_see(&m.arena);
	for (unsigned i = 0; i < 40000; i += 2)
		arena_free(&m.arena, small[i]);
	arena_free(&m.arena, punched);
	assert_false(arena_punch(&m.arena));
	arena_free(&m.arena, large);
	assert_true(arena_dig_up(&m.arena));
	assert_true(stats().buried_bytes > 200000);
	assert_true(stats().punched_bytes > 0);
	assert_false(arena_punch(&m.arena)); /* no reader sees it */
	assert_sums();
	arena_see(&m.arena);
	assert_false(arena_punch(&m.arena));
	assert_true(stats().punched_bytes >= 200000 - 3 * 4096);
	assert_sums(); /* each byte counts once */
	while (arena_dig_up(&m.arena))
		;
	assert_int_equal(stats().buried_bytes, 0);
	assert_sums();
}

/* Where the kernel's pages are larger (arm64), only those that are buried as a whole are punched. */
TEST(large_pages_are_punched_as_a_whole)
{
	uint32_t large, last;
	uint64_t punched;

	large_page_bytes = 65536;
	large = block(300000);
	last = block(16);
	arena_see(&m.arena);
	arena_free(&m.arena, large);
	assert_false(arena_punch(&m.arena));
	punched = stats().punched_bytes;
	assert_true(punched > 300000 - 2 * 65536 && punched <= 300000);
	assert_int_equal(punched % 65536, 0);
	assert_true(stats().buried_bytes >= 300000);
	assert_sums();
	while (arena_dig_up(&m.arena))
		;
	assert_int_equal(stats().buried_bytes, 0);
	assert_int_equal(stats().absent_bytes, punched);
	assert_sums();
	arena_free(&m.arena, last);
}

/* A page with few buried bytes keeps its memory: its free bytes are useful. */
TEST(a_page_that_is_mostly_free_is_not_punched)
{
	uint32_t rest, little, last;

	rest = block(3 * 4096);
	little = block(1000);
	last = block(3 * 4096);
	arena_free(&m.arena, rest);
	arena_free(&m.arena, last);
	arena_see(&m.arena);
	arena_free(&m.arena, little);
	assert_false(arena_punch(&m.arena));
	assert_int_equal(stats().buried_bytes, block_footprint(1000));
	assert_int_equal(stats().punched_bytes, 0);
	assert_sums();
}

/* Allocates all other room, so the next block goes where a block was freed. */
static void
fill_the_rest(void)
{
	static uint32_t refs[MAX_BYTES / 8192];

	arena_set_budget(&m.arena, m.arena.view.committed);
	fill(refs, MAX_BYTES / 8192);
}

/* After all revoked readers have gone, nothing is remembered of what they saw. */
TEST(seen_blocks_are_forgotten_after_the_last_reader)
{
	uint32_t ref;

	ref = block(100000);
	block(16);
	fill_the_rest();
	for (unsigned i = 0; i < 3; i++) {
		arena_see(&m.arena);
		arena_free(&m.arena, ref);
		if (i > 0) { /* in the first round it is due, but not punched before they go */
			assert_false(arena_punch(&m.arena));
			assert_true(stats().punched_bytes >= 100000 - 2 * 4096);
		}
		while (arena_dig_up(&m.arena))
			;
		/* free at this revocation, so the next block here is not seen */
		arena_see(&m.arena);
		assert_int_equal(block(100000), ref);
		arena_free(&m.arena, ref);
		assert_int_equal(stats().buried_bytes, 0);
		assert_int_equal(block(100000), ref);
		assert_false(arena_dig_up(&m.arena));
		assert_sums();
	}
}

/* Absent pages get only the memory that is needed: none in runs that are too short, a part of a long one. */
TEST(absent_pages_get_as_much_as_is_needed)
{
	uint32_t shorter[10], longer;
	uint64_t absent;

	for (unsigned i = 0; i < 10; i++) {
		shorter[i] = block(3 * 4096);
		block(16);
	}
	longer = block(1u << 20);
	block(16);
	arena_open_reserve(&m.arena, true);
	fill_the_rest();
	arena_see(&m.arena);
	for (unsigned i = 0; i < 10; i++)
		arena_free(&m.arena, shorter[i]);
	arena_free(&m.arena, longer);
	while (arena_punch(&m.arena))
		;
	while (arena_dig_up(&m.arena))
		;
	absent = stats().absent_bytes;
	assert_true(absent >= (1u << 20) + 10 * 2 * 4096 - 4096);
	block(6 * 4096);
	assert_int_equal(absent - stats().absent_bytes, 1u << 19); /* the step of growth */
	assert_sums();
}

/* A page that revoked readers touch gets memory again. It is punched again. */
TEST(touched_pages_are_punched_again)
{
	uint32_t ref;
	uint64_t before;

	ref = block(300000);
	block(100);
	arena_see(&m.arena);
	before = file_bytes();
	arena_free(&m.arena, ref);
	assert_false(arena_punch(&m.arena));
	assert_in_range(before - file_bytes(), 300000 - 2 * 4096, 300000);
	before = file_bytes();
	for (uint32_t at = 8192; at < 200000; at += 4096)
		assert_int_equal(*(volatile uint8_t *)((uint8_t *)arena_block(&m.arena, ref) + at), 0);
	assert_true(file_bytes() > before + 180000);
	arena_punch_again(&m.arena);
	assert_int_equal(file_bytes(), before);
}

/* No huge page is made of pages with holes: the holes would get memory. */
TEST(holes_are_not_gathered)
{
	uint32_t refs[80];
	uint64_t before;

	for (unsigned i = 0; i < 80; i++)
		refs[i] = block(100000);
	arena_see(&m.arena);
	for (unsigned i = 0; i < 80; i += 2)
		arena_free(&m.arena, refs[i]);
	while (arena_punch(&m.arena))
		;
	before = file_bytes();
	while (arena_gather_pages(&m.arena))
		;
	assert_int_equal(file_bytes(), before);
	assert_sums();
}

/* Holes of a copied file are free, and get memory before a block is allocated there. */
TEST(absent_pages_of_a_copy_get_memory_first)
{
	const uint64_t from = HEADER_BYTES + 8 * 4096ull, to = from + 40 * 4096ull;
	uint64_t before;
	uint32_t ref, outside = HEADER_BYTES / REF_UNIT;
	bool first;

	ref = block(4000);
	assert_int_equal(ref, outside);
	assert_int_equal(arena_pages_punch(m.arena.fd, from, to), 0);
	assert_int_equal(arena_books_begin(&m.arena), 0);
	/* a block in such a hole is damage */
	assert_int_equal(arena_books_mark(&m.arena, (uint32_t)(from / REF_UNIT), &first), -EBADMSG);
	assert_int_equal(arena_books_mark(&m.arena, outside, &first), 0);
	arena_books_finish(&m.arena);
	assert_int_equal(arena_pages_punch(m.arena.fd, from, to), 0);
	assert_sums();
	assert_int_equal(stats().absent_bytes, to - from);
	/* all free bytes are used, absent pages included, before the file grows */
	before = stats().committed_bytes;
	arena_open_reserve(&m.arena, true);
	while (stats().absent_bytes > 0) {
		ref = block(4000);
		memset(arena_payload(&m.arena, ref), 0xa5, 4000);
		assert_int_equal(stats().committed_bytes, before);
		assert_sums();
	}
}

/* Many blocks that lapse at once come free in parts, and no longer count as waiting for readers. */
TEST(lapsed_blocks_come_free_in_parts)
{
	uint32_t ref;
	uint64_t used;

	for (unsigned i = 0; i < MANY; i++) {
		ref = block(16);
		arena_retire(&m.arena, ref);
	}
	used = stats().used_bytes;
	assert_int_equal(stats().retired_bytes, MANY * 32ull);
	arena_reclaim(&m.arena, m.epoch - 1);
	assert_int_equal(stats().retired_bytes, MANY * 32ull);
	assert_int_equal(stats().lapsed_bytes, 0);
	arena_reclaim(&m.arena, m.epoch);
	assert_int_equal(stats().retired_bytes, 0);
	assert_in_range(stats().lapsed_bytes, 32, MANY * 32ull - 32);
	assert_int_equal(stats().used_bytes, used - MANY * 32ull + stats().lapsed_bytes);
	/* blocks retired meanwhile wait for their readers */
	ref = block(16);
	arena_set_working_epoch(&m.arena, ++m.epoch);
	arena_retire(&m.arena, ref);
	for (unsigned i = 0; stats().lapsed_bytes > 0; i++) {
		assert_true(i < 10);
		arena_reclaim(&m.arena, m.epoch - 1);
		assert_int_equal(stats().retired_bytes, 32);
	}
	assert_int_equal(stats().used_bytes, used - MANY * 32ull + 32);
	arena_reclaim(&m.arena, m.epoch);
	assert_int_equal(stats().used_bytes, used - MANY * 32ull);
	assert_sums();
}
