/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's books: bitmap, segregated free lists with merging, and the queue of the retired.
 */
#include "writer/arena/arena_books.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm-layout/block.h"
#include "writer/base/fifo_ring.h"

#define EXACT 64u		/* units below this have a class each */
#define CLASSES (EXACT + 26u * 8u)
#define FIT_TRIES 8u		/* runs looked at in a class whose members may be too small */

struct free_run {
	uint32_t next;
	uint32_t prev;
	uint32_t units;
	uint32_t tail;	/* of a one-unit run; else the last word of the run */
};
_Static_assert(sizeof(struct free_run) == REF_UNIT, "arena_books: a free run's links fit one unit");

/* Refs retired for one epoch; the refs themselves stand in `refs`, oldest first. */
struct epoch_group {
	uint64_t epoch;
	uint64_t count;
};

struct arena_books {
	uint8_t *base;
	uint64_t max_units;
	uint64_t *free;		/* bitmap, reserved for max_units, touched as far as there are free units */
	uint64_t *starts;	/* bitmap of block starts, only while rebuilding */
	uint64_t from, end;	/* only while rebuilding */
	uint64_t bitmap_bytes;
	uint64_t nonempty[(CLASSES + 63) / 64];
	uint32_t heads[CLASSES];
	uint64_t free_units, used_units, retired_units;

	struct fifo_ring refs, groups;	/* u32; struct epoch_group */
};

/* ---- bitmap ---- */

static uint64_t *
bitmap_reserve(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static bool
bit(const uint64_t *map, uint64_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

static void
bits_fill(uint64_t *map, uint64_t from, uint64_t count, bool value)
{
	while (count > 0) {
		uint64_t in_word = 64 - from % 64, n = count < in_word ? count : in_word;
		uint64_t mask = (n == 64 ? ~0ull : (1ull << n) - 1) << (from % 64);

		if (value)
			map[from / 64] |= mask;
		else
			map[from / 64] &= ~mask;
		from += n;
		count -= n;
	}
}

static bool
bits_all(const uint64_t *map, uint64_t from, uint64_t count)
{
	while (count > 0) {
		uint64_t in_word = 64 - from % 64, n = count < in_word ? count : in_word;
		uint64_t mask = (n == 64 ? ~0ull : (1ull << n) - 1) << (from % 64);

		if ((map[from / 64] & mask) != mask)
			return false;
		from += n;
		count -= n;
	}
	return true;
}

/* ---- free runs ---- */

static struct free_run *
run_at(const struct arena_books *b, uint64_t ref)
{
	return (struct free_run *)(void *)(b->base + ref * REF_UNIT);
}

static unsigned
class_of(uint64_t units)
{
	unsigned log;

	if (units < EXACT)
		return (unsigned)units;
	log = 63u - (unsigned)__builtin_clzll(units);
	return EXACT + (log - 6) * 8 + (unsigned)(units >> (log - 3) & 7);
}

static void
run_insert(struct arena_books *b, uint64_t ref, uint64_t units)
{
	struct free_run *run = run_at(b, ref);
	unsigned class = class_of(units);

	run->next = b->heads[class];
	run->prev = 0;
	run->units = (uint32_t)units;
	((uint32_t *)(void *)(b->base + (ref + units) * REF_UNIT))[-1] = (uint32_t)units;
	if (run->next)
		run_at(b, run->next)->prev = (uint32_t)ref;
	b->heads[class] = (uint32_t)ref;
	b->nonempty[class / 64] |= 1ull << (class % 64);
}

static void
run_remove(struct arena_books *b, uint64_t ref)
{
	struct free_run *run = run_at(b, ref);
	unsigned class = class_of(run->units);

	if (run->next)
		run_at(b, run->next)->prev = run->prev;
	if (run->prev)
		run_at(b, run->prev)->next = run->next;
	else
		b->heads[class] = run->next;
	if (!b->heads[class])
		b->nonempty[class / 64] &= ~(1ull << (class % 64));
}

static unsigned
next_nonempty(const struct arena_books *b, unsigned class)
{
	for (unsigned w = class / 64; w < sizeof(b->nonempty) / sizeof(b->nonempty[0]); w++) {
		uint64_t bits = b->nonempty[w];

		if (w == class / 64)
			bits &= ~0ull << (class % 64);
		if (bits)
			return w * 64 + (unsigned)__builtin_ctzll(bits);
	}
	return CLASSES;
}

/* A run of at least this many units, still in its list; 0 when there is none. */
static uint32_t
find_run(const struct arena_books *b, uint32_t units)
{
	unsigned class = class_of(units);

	if (units >= EXACT) {
		uint32_t ref = b->heads[class];

		for (unsigned tries = 0; ref && tries < FIT_TRIES; tries++, ref = run_at(b, ref)->next)
			if (run_at(b, ref)->units >= units)
				return ref;
		class++;
	}
	class = next_nonempty(b, class);
	if (class < CLASSES)
		return b->heads[class];
	if (units >= EXACT) {
		/* only the class itself is left: look at all of it before saying no */
		for (uint32_t ref = b->heads[class_of(units)]; ref; ref = run_at(b, ref)->next)
			if (run_at(b, ref)->units >= units)
				return ref;
	}
	return 0;
}

/* ---- life ---- */

struct arena_books *
books_new(uint8_t *base, uint64_t max_units)
{
	struct arena_books *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->base = base;
	b->max_units = max_units;
	b->bitmap_bytes = (max_units + 63) / 64 * 8;
	b->free = bitmap_reserve(b->bitmap_bytes);
	if (!b->free) {
		free(b);
		return NULL;
	}
	return b;
}

void
books_free(struct arena_books *b)
{
	if (!b)
		return;
	munmap(b->free, b->bitmap_bytes);
	if (b->starts)
		munmap(b->starts, b->bitmap_bytes);
	fifo_ring_done(&b->refs);
	fifo_ring_done(&b->groups);
	free(b);
}

/* Units [from, from + units) become a free run; free neighbours are merged in. */
static void
make_free(struct arena_books *b, uint64_t from, uint64_t units)
{
	bits_fill(b->free, from, units, true);
	if (from > 0 && bit(b->free, from - 1)) {
		uint32_t before = ((const uint32_t *)(const void *)(b->base + from * REF_UNIT))[-1];

		run_remove(b, from - before);
		from -= before;
		units += before;
	}
	if (from + units < b->max_units && bit(b->free, from + units)) {
		uint32_t after = run_at(b, from + units)->units;

		run_remove(b, from + units);
		units += after;
	}
	run_insert(b, from, units);
}

void
books_extend(struct arena_books *b, uint64_t from, uint64_t to)
{
	b->free_units += to - from;
	make_free(b, from, to - from);
}

uint64_t
books_free_units(const struct arena_books *b)
{
	return b->free_units;
}

bool
books_fits(const struct arena_books *b, uint32_t units)
{
	return find_run(b, units) != 0;
}

uint32_t
books_take(struct arena_books *b, uint32_t units)
{
	uint32_t ref = find_run(b, units);
	uint32_t rest;

	if (!ref)
		return 0;
	run_remove(b, ref);
	rest = run_at(b, ref)->units - units;
	if (rest)
		run_insert(b, ref + units, rest);
	bits_fill(b->free, ref, units, false);
	b->free_units -= units;
	b->used_units += units;
	return ref;
}

void
books_give(struct arena_books *b, uint32_t ref, uint32_t units)
{
	b->free_units += units;
	b->used_units -= units;
	make_free(b, ref, units);
}

/* ---- retirement ---- */

bool
books_retire(struct arena_books *b, uint32_t ref, uint32_t units, uint64_t epoch)
{
	struct epoch_group *last = NULL;

	if (fifo_ring_reserve(&b->refs, sizeof(ref), 1) < 0)
		return false;
	if (b->groups.count > 0)
		last = fifo_ring_at(&b->groups, sizeof(*last), b->groups.count - 1);
	if (!last || last->epoch != epoch) {
		if (fifo_ring_reserve(&b->groups, sizeof(*last), 1) < 0)
			return false;
		last = fifo_ring_push(&b->groups, sizeof(*last));
		*last = (struct epoch_group){.epoch = epoch};
	}
	*(uint32_t *)fifo_ring_push(&b->refs, sizeof(ref)) = ref;
	last->count++;
	b->retired_units += units;
	return true;
}

void
books_reclaim(struct arena_books *b, uint64_t horizon, uint32_t (*give)(void *context, uint32_t ref),
	      void *context)
{
	while (b->groups.count > 0) {
		struct epoch_group *oldest = fifo_ring_at(&b->groups, sizeof(*oldest), 0);

		if (oldest->epoch > horizon)
			return;
		for (; oldest->count > 0; oldest->count--) {
			uint32_t ref = *(const uint32_t *)fifo_ring_at(&b->refs, sizeof(ref), 0);

			fifo_ring_pop(&b->refs);
			b->retired_units -= give(context, ref);
		}
		fifo_ring_pop(&b->groups);
	}
}

/* ---- rebuilding ---- */

int
books_clear(struct arena_books *b, uint64_t from, uint64_t end)
{
	/* dropping the pages both zeroes the bitmap and gives its memory back */
	madvise(b->free, b->bitmap_bytes, MADV_DONTNEED);
	if (!b->starts)
		b->starts = bitmap_reserve(b->bitmap_bytes);
	if (!b->starts)
		return -ENOMEM;
	memset(b->nonempty, 0, sizeof(b->nonempty));
	memset(b->heads, 0, sizeof(b->heads));
	b->free_units = b->used_units = b->retired_units = 0;
	b->refs.count = b->groups.count = 0;
	b->from = from;
	b->end = end;
	bits_fill(b->free, from, end - from, true);
	return 0;
}

int
books_mark(struct arena_books *b, uint32_t ref, uint32_t units)
{
	if (bit(b->starts, ref))
		return 0;
	if (!bits_all(b->free, ref, units))
		return -1;
	bits_fill(b->starts, ref, 1, true);
	bits_fill(b->free, ref, units, false);
	b->used_units += units;
	return 1;
}

void
books_fill(struct arena_books *b)
{
	uint64_t at = b->from;

	munmap(b->starts, b->bitmap_bytes);
	b->starts = NULL;
	while (at < b->end) {
		uint64_t stop = at;

		while (stop < b->end && bit(b->free, stop))
			stop++;
		if (stop > at) {
			run_insert(b, at, stop - at);
			b->free_units += stop - at;
		}
		at = stop + 1;
	}
}

void
books_stats(const struct arena_books *b, struct books_stats *ret)
{
	ret->free_units = b->free_units;
	ret->used_units = b->used_units;
	ret->retired_units = b->retired_units;
	ret->private_bytes = sizeof(*b) + (b->free_units + b->used_units) / 8 +
			     b->refs.capacity * sizeof(uint32_t) +
			     b->groups.capacity * sizeof(struct epoch_group);
}
