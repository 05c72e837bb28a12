/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that holds a snapshot for ever is revoked, and thousands of changes follow. The file's memory
 * stays bounded. The reader sees what it saw, or zeros. Other readers see everything. The next writer finds
 * everything. When the reader has gone, what was kept for it is used again.
 */
#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/support/arena_text.h"
#include "tests/support/dice.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"

#define PODS 3000u
#define CHANGES 10000u
#define BATCH 50u
#define SMALL (3u << 20)

struct reader {
	struct slot *slot;
	struct pin_cell *cell;
	unsigned id;
	uint64_t root;
	uint8_t *saw; /* the file, at the time of the pin */
	uint64_t bytes;
};

static struct generations generations;
static struct store_fixture *fx;
static unsigned version;

static void
put(unsigned pod)
{
	version++;
	assert_int_equal(
		store_fixture_putf(
			fx,
			"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns\",\"uid\":\"uid-%u\","
			"\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"a%u\",\"v\":\"%u\"},"
			"\"annotations\":{\"filler\":\"%0*u\"}},\"spec\":{\"nodeName\":\"node-%u\"}}",
			pod, pod, version, pod % 50, version, 100 + (int)pick(1400), version, pick(20)),
		0);
}

static void
commit(void)
{
	assert_int_equal(store_commit(fx->store), 0);
	store_reclaim(fx->store);
}

static void
change(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		put(pick(PODS));
		if (i % BATCH == BATCH - 1)
			commit();
	}
	commit();
}

static uint64_t
memory(void)
{
	struct stat st;

	assert_int_equal(fstat(fx->arena->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static uint64_t
live(void)
{
	struct store_stats stats;

	store_stats(fx->store, &stats);
	return stats.used_bytes - stats.retired_bytes;
}

/* Reads by system call, which gives no memory to a page without any. */
static uint8_t *
copy_file(uint64_t *ret_bytes)
{
	uint8_t *copy = malloc(fx->arena->view.committed);

	assert_non_null(copy);
	assert_int_equal(pread(fx->arena->fd, copy, fx->arena->view.committed, 0), fx->arena->view.committed);
	*ret_bytes = fx->arena->view.committed;
	return copy;
}

static void
reader_begin(struct reader *r)
{
	int fd;

	assert_int_equal(pins_add(fx->pins, store_epoch(fx->store), &r->id, &fd), 0);
	r->slot = test_map_slot(fd);
	r->cell = slot_claim(r->slot, 0);
	assert_non_null(r->cell);
	r->root = slot_load_root(fx->arena->header);
	slot_pin(r->cell, root_at(&fx->arena->view, r->root)->epoch);
	r->saw = copy_file(&r->bytes);
}

static void
reader_end(struct reader *r)
{
	slot_unpin(r->cell);
	pins_remove(fx->pins, r->id);
	test_unmap_slot(r->slot);
	free(r->saw);
}

/* Units that the reader's root reaches: unchanged ones, and zero ones. */
struct seen {
	const struct reader *reader;
	const uint8_t *now;
	struct walk_seen blocks;
	uint64_t same, zero;
};

static int
compare_block(void *context, uint32_t ref, const struct block *b)
{
	static const uint8_t zeros[REF_UNIT];
	struct seen *seen = context;
	/* the cells of a shortcut change in place */
	uint64_t length = block_type(b) == BLOCK_SHORTCUT ? 8 : block_length(b),
		 bytes = block_footprint((uint32_t)length);

	if (!walk_seen_first(&seen->blocks, ref))
		return 0;
	for (uint64_t at = 0; at < bytes; at += REF_UNIT) {
		const uint8_t *now = seen->now + ref_offset(ref) + at;
		const uint8_t *saw = seen->reader->saw + ref_offset(ref) + at;
		/* bytes behind the block's end are not read */
		size_t n = sizeof(*b) + length - at < REF_UNIT ? (size_t)(sizeof(*b) + length - at)
							       : REF_UNIT;

		if (memcmp(now, saw, n) == 0)
			seen->same++;
		else if (memcmp(now, zeros, n) == 0)
			seen->zero++;
		else
			fail_msg("block %u of type %d was written over", ref, (int)block_type(b));
	}
	return 1;
}

static struct seen
look(const struct reader *r)
{
	const struct arena_view view = {r->saw, r->bytes, NULL};
	struct seen seen = {.reader = r};
	struct walk_visitor visitor = {compare_block, &seen};
	struct walk_damage damage;
	uint64_t bytes;
	uint8_t *now = copy_file(&bytes);

	seen.now = now;
	assert_int_equal(walk_seen_init(&seen.blocks, r->bytes), 0);
	assert_int_equal(walk_root(&view, r->root, &visitor, &damage), 0);
	walk_seen_done(&seen.blocks);
	free(now);
	return seen;
}

/* Reads through the mapping, as a reader does: a page without memory is given some. */
static void
touch_all(const struct reader *r)
{
	volatile const uint8_t *base = fx->arena->view.base;

	for (uint64_t at = HEADER_BYTES; at < r->bytes; at += 4096)
		(void)base[at];
}

static int
begin(void **state)
{
	(void)state;
	dice = 20261122;
	version = 0;
	generations_begin(&generations);
	generations.place.max_bytes = 256u << 20;
	fx = generations_store(&generations, NULL);
	store_set_tombstone_limits(fx->store, fx->pods, (struct tombstone_limits){0});
	for (unsigned i = 0; i < PODS; i++)
		put(i);
	commit();
	return 0;
}

static int
end(void **state)
{
	(void)state;
	store_fixture_free(fx);
	generations_end(&generations);
	return 0;
}

#define TEST(name) TEST_CASE_IN(begin, end, name)

/* Pages with shared objects stay. At most these are kept, beside the current content. */
TEST(memory_stays_bounded)
{
	struct store_stats stats;
	struct reader reader, other;
	uint64_t whole = memory(), most = 0;

	reader_begin(&reader);
	change(1000);
	store_stats(fx->store, &stats);
	assert_true(stats.retired_bytes > 1u << 20);
	store_revoke(fx->store, reader.id);
	assert_int_equal(slot_is_closed(reader.slot), true);
	store_stats(fx->store, &stats);
	assert_true(stats.retired_bytes < 64u << 10);
	for (unsigned i = 0; i < CHANGES / 1000; i++) {
		reader_begin(&other);
		change(500);
		assert_int_equal(look(&other).zero, 0);
		reader_end(&other);
		change(500);
		look(&reader);
		most = memory() > most ? memory() : most;
		assert_int_equal(store_fixture_verify(fx), 0);
	}
	assert_true(look(&reader).zero > 0);
	assert_true(most <= whole + live() + SMALL);
	reader_end(&reader);
}

/* Several readers are revoked at different times. Kept ranges are free when the last reader has gone. */
TEST(kept_ranges_are_used_again)
{
	struct store_stats stats;
	struct reader first, second;
	uint64_t bytes;

	reader_begin(&first);
	store_revoke(fx->store, first.id);
	change(CHANGES / 2);
	reader_begin(&second);
	change(CHANGES / 2);
	store_revoke(fx->store, second.id);
	assert_int_equal(pins_revoked(fx->pins), 2);
	change(CHANGES / 2);
	look(&first);
	look(&second);
	reader_end(&first);
	change(100);
	store_stats(fx->store, &stats);
	assert_true(stats.buried_bytes > 2u << 20);
	look(&second);
	reader_end(&second);
	assert_int_equal(pins_revoked(fx->pins), 0);
	store_reclaim(fx->store);
	store_stats(fx->store, &stats);
	assert_int_equal(stats.buried_bytes, 0);
	assert_true(stats.absent_bytes > 2u << 20);
	assert_int_equal(memory(), stats.present_bytes);
	/* a live reader holds blocks back: the arena needs more than is free, and grows */
	bytes = stats.arena_bytes;
	reader_begin(&first);
	change(2000);
	assert_int_equal(look(&first).zero, 0);
	reader_end(&first);
	change(1);
	store_stats(fx->store, &stats);
	assert_int_equal(stats.arena_bytes, bytes);
	assert_int_equal(memory(), stats.present_bytes);
	assert_int_equal(store_fixture_verify(fx), 0);
}

/* Without a change the next commit, or the next reclaim, frees the ranges. */
TEST(kept_ranges_need_no_change_to_be_used_again)
{
	struct store_stats stats;
	struct reader reader;

	reader_begin(&reader);
	store_revoke(fx->store, reader.id);
	change(CHANGES / 2);
	reader_end(&reader);
	put(1);
	assert_int_equal(store_commit(fx->store), 0);
	store_stats(fx->store, &stats);
	assert_int_equal(stats.buried_bytes, 0);
}

TEST(a_file_with_holes_is_adopted)
{
	struct reader reader;
	char *before, *after;

	reader_begin(&reader);
	store_revoke(fx->store, reader.id);
	change(CHANGES);
	touch_all(&reader);
	before = arena_text(&fx->arena->view, &fx->arena->keys);
	test_unmap_slot(reader.slot);
	free(reader.saw);
	store_fixture_free(fx);
	fx = generations_store(&generations, NULL);
	after = arena_text(&fx->arena->view, &fx->arena->keys);
	assert_string_equal(after, before);
	assert_null(strstr(after, "DAMAGED"));
	free(before);
	free(after);
	change(1000);
	assert_int_equal(store_fixture_verify(fx), 0);
}

/* A change is refused in a budget that a reader's blocks fill. After the revocation it fits. */
TEST(a_revocation_makes_room)
{
	struct reader reader;
	unsigned refused = 0;

	arena_set_budget(fx->arena, memory() + SMALL);
	reader_begin(&reader);
	for (unsigned i = 0; i < CHANGES; i++) {
		int r = store_fixture_putf(
			fx,
			"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns\","
			"\"resourceVersion\":\"%u\",\"annotations\":{\"filler\":\"%01000u\"}}}",
			i % PODS, PODS + i, i);

		if (r == 0 && i % BATCH == BATCH - 1)
			r = store_commit(fx->store);
		if (r == 0)
			continue;
		assert_int_equal(r, -ENOSPC);
		assert_int_equal(refused++, 0);
		store_revoke(fx->store, reader.id);
		assert_int_equal(store_commit(fx->store), 0);
	}
	assert_int_equal(refused, 1);
	assert_true(memory() <= arena_budget(fx->arena));
	assert_int_equal(store_fixture_verify(fx), 0);
	look(&reader);
	reader_end(&reader);
}
