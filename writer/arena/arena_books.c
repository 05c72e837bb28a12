/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's books: a bitmap, segregated free lists with merging, and the queue of retired blocks.
 */
#include "writer/arena/arena_books.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/block.h"
#include "writer/arena/bitmap.h"
#include "writer/base/fifo_ring.h"

#define EXACT 64u		/* units below this have a class each */
#define CLASSES (EXACT + 26u * 8u)
#define AHEAD 8u                /* retired blocks prefetched before they are given back */
#define FIT_TRIES 8u		/* runs looked at in a class whose members may be too small */

struct free_run {
	uint32_t next;
	uint32_t prev;
	uint32_t units;
	uint32_t tail;	/* of a one-unit run; else the last word of the run */
};
_Static_assert(sizeof(struct free_run) == REF_UNIT, "arena_books: a free run's links fit one unit");

/*
 * Blocks retired at one epoch. Their refs stand in `refs`, oldest first. units: their sum until they lapse.
 */
struct epoch_group {
	uint64_t epoch;
	uint64_t count;
	uint64_t units;
};

struct arena_books {
	uint8_t *base;
	uint64_t max_units;
	uint64_t *free;		/* bitmap, reserved for max_units, touched as far as there are free units */
	uint64_t *starts;	/* bitmap of block starts, only while rebuilding */
	uint64_t from, end;	/* only while rebuilding */
	uint64_t nonempty[(CLASSES + 63) / 64];
	uint32_t heads[CLASSES];
	uint64_t free_units, used_units, retired_units;
	/* retired blocks that no reader needs any more: the first lapsed_groups groups */
	uint64_t lapsed_units, lapsed_groups;
	struct burial burial;

	struct fifo_ring refs, groups;	/* u32; struct epoch_group */
};

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

/* A run of at least this many units, still in its list; 0: there is none. */
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
		/* only the class itself is left: search all of it */
		for (uint32_t ref = b->heads[class_of(units)]; ref; ref = run_at(b, ref)->next)
			if (run_at(b, ref)->units >= units)
				return ref;
	}
	return 0;
}

/* ---- creating, taking, giving ---- */

struct arena_books *
books_new(uint8_t *base, uint64_t max_units)
{
	struct arena_books *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->base = base;
	b->max_units = max_units;
	b->free = bitmap_reserve(max_units);
	if (!b->free || burial_init(&b->burial, max_units) < 0) {
		bitmap_release(b->free, max_units);
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
	bitmap_release(b->free, b->max_units);
	bitmap_release(b->starts, b->max_units);
	burial_done(&b->burial);
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

/*
 * Why that is enough. Suppose that the take of u units is the first to fail. Every take cuts from the front
 * of a run. So each earlier run of at least `largest` still has its end, perhaps empty, in a free run shorter
 * than u. At least run - (u - 1) units of it were taken. All blocks before this one have at most units - u.
 * With n >= 1 such runs:
 *
 *	sum(run) - n (u - 1) <= units - u.
 *
 * Subtract n (largest - u) on the left, and largest - u, which is at most that, on the right:
 *
 *	sum(run) - n (largest - 1) <= units - largest.
 *
 * But the left side is at least units - (largest - 1): a contradiction.
 */
bool
books_fits(const struct arena_books *b, uint32_t units, uint32_t largest)
{
	uint64_t room = largest - 1;

	if (find_run(b, units))
		return true;
	if (b->free_units < units)
		return false;
	for (unsigned list = CLASSES - 1; list >= class_of(largest); list--)
		for (uint32_t ref = b->heads[list]; ref; ref = run_at(b, ref)->next) {
			uint32_t run = run_at(b, ref)->units;

			room += run >= largest ? run - (largest - 1) : 0;
			if (room >= units)
				return true;
		}
	return false;
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

/* Cut units [from, from + units) out of a free run; the rest of the run stays free. */
static void
cut_out(struct arena_books *b, uint64_t from, uint64_t units)
{
	uint64_t start = bits_run_start(b->free, from), end = start + run_at(b, start)->units;

	run_remove(b, start);
	if (start < from)
		run_insert(b, start, from - start);
	if (from + units < end)
		run_insert(b, from + units, end - (from + units));
	bits_fill(b->free, from, units, false);
	b->free_units -= units;
}

/* Mark the pages among these as due in which nothing is in use. */
static void
find_due(struct arena_books *b, uint64_t first, uint64_t last)
{
	for (uint64_t page = first; page <= last; page++)
		if (burial_is_out_of_use(&b->burial, b->free, page))
			burial_set_due(&b->burial, page, true);
}

void
books_give(struct arena_books *b, uint32_t ref, uint32_t units)
{
	b->used_units -= units;
	if (burial_keeps(&b->burial, ref)) {
		burial_bury(&b->burial, ref, units);
	} else {
		b->free_units += units;
		make_free(b, ref, units);
	}
	if (__builtin_expect(b->burial.holds, 0))
		find_due(b, ref / BURIAL_PAGE_UNITS, (ref + units - 1) / BURIAL_PAGE_UNITS);
}

/* ---- buried units and punched pages ---- */

struct burial *
books_burial(struct arena_books *b)
{
	return &b->burial;
}

void
books_see(struct arena_books *b, uint64_t from, uint64_t end)
{
	bool left = !b->burial.holds && b->burial.buried_units > 0; /* books_dig_up() was not finished */

	burial_see(&b->burial, b->free, from, end);
	if (left)
		find_due(b, from / BURIAL_PAGE_UNITS, end / BURIAL_PAGE_UNITS - 1);
}

bool
books_dig_up(struct arena_books *b, unsigned runs)
{
	uint64_t from, units;

	burial_end_sight(&b->burial);
	for (; runs > 0 && burial_next_free(&b->burial, &from, &units); runs--)
		books_extend(b, from, from + units);
	return b->burial.buried_units > 0;
}

/* Bury all of a page if still nothing in it is in use. */
static bool
bury_page(struct arena_books *b, uint64_t page)
{
	uint64_t at = page * BURIAL_PAGE_UNITS, end = at + BURIAL_PAGE_UNITS;

	burial_set_due(&b->burial, page, false);
	if (!burial_is_out_of_use(&b->burial, b->free, page))
		return false;
	while ((at = bits_next(b->free, at, end, true)) < end) {
		uint64_t stop = bits_next(b->free, at, end, false);

		cut_out(b, at, stop - at);
		burial_bury(&b->burial, at, stop - at);
	}
	return true;
}

bool
books_next_punch(struct arena_books *b, uint64_t most, struct page_run *ret)
{
	uint64_t page;

	ret->count = 0;
	while (ret->count < most && burial_next_due(&b->burial, &page)) {
		if (ret->count > 0 && page != ret->from + ret->count)
			break;
		if (!bury_page(b, page))
			continue;
		if (ret->count++ == 0)
			ret->from = page;
	}
	return ret->count > 0;
}

void
books_present(struct arena_books *b, struct page_run run)
{
	burial_set_absent(&b->burial, run, false);
	books_extend(b, run.from * BURIAL_PAGE_UNITS, (run.from + run.count) * BURIAL_PAGE_UNITS);
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
	if (!last || last->epoch != epoch || b->lapsed_groups == b->groups.count) {
		if (fifo_ring_reserve(&b->groups, sizeof(*last), 1) < 0)
			return false;
		last = fifo_ring_push(&b->groups, sizeof(*last));
		*last = (struct epoch_group){.epoch = epoch};
	}
	*(uint32_t *)fifo_ring_push(&b->refs, sizeof(ref)) = ref;
	last->count++;
	last->units += units;
	b->retired_units += units;
	return true;
}

void
books_reclaim(struct arena_books *b, uint64_t horizon, unsigned most,
	      uint32_t (*give)(void *context, uint32_t ref), void *context)
{
	for (; b->lapsed_groups < b->groups.count; b->lapsed_groups++) {
		const struct epoch_group *group = fifo_ring_at(&b->groups, sizeof(*group), b->lapsed_groups);

		if (group->epoch > horizon)
			break;
		b->retired_units -= group->units;
		b->lapsed_units += group->units;
	}
	for (; b->lapsed_groups > 0; b->lapsed_groups--) {
		struct epoch_group *oldest = fifo_ring_at(&b->groups, sizeof(*oldest), 0);

		for (; oldest->count > 0; oldest->count--) {
			uint32_t ref = *(const uint32_t *)fifo_ring_at(&b->refs, sizeof(ref), 0);

			/* retired blocks have left the caches: prefetch some */
			if (b->refs.count > AHEAD)
				__builtin_prefetch(run_at(b, *(const uint32_t *)fifo_ring_at(
								     &b->refs, sizeof(ref), AHEAD)),
						   1);

			if (most-- == 0)
				return;
			fifo_ring_pop(&b->refs);
			b->lapsed_units -= give(context, ref);
		}
		fifo_ring_pop(&b->groups);
	}
}

/* ---- rebuilding ---- */

int
books_clear(struct arena_books *b, uint64_t from, uint64_t end)
{
	/* dropping the pages zeroes the bitmap and frees its memory */
	bitmap_drop(b->free, b->max_units);
	burial_clear(&b->burial);
	if (!b->starts)
		b->starts = bitmap_reserve(b->max_units);
	if (!b->starts)
		return -ENOMEM;
	memset(b->nonempty, 0, sizeof(b->nonempty));
	memset(b->heads, 0, sizeof(b->heads));
	b->free_units = b->used_units = b->retired_units = b->lapsed_units = b->lapsed_groups = 0;
	b->refs.count = b->groups.count = 0;
	b->from = from;
	b->end = end;
	bits_fill(b->free, from, end - from, true);
	return 0;
}

void
books_absent(struct arena_books *b, struct page_run run)
{
	burial_set_absent(&b->burial, run, true);
	bits_fill(b->free, run.from * BURIAL_PAGE_UNITS, run.count * BURIAL_PAGE_UNITS, false);
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

	bitmap_release(b->starts, b->max_units);
	b->starts = NULL;
	while ((at = bits_next(b->free, at, b->end, true)) < b->end) {
		uint64_t stop = bits_next(b->free, at, b->end, false);

		run_insert(b, at, stop - at);
		b->free_units += stop - at;
		at = stop;
	}
}

void
books_stats(const struct arena_books *b, struct books_stats *ret)
{
	ret->free_units = b->free_units;
	ret->used_units = b->used_units;
	ret->retired_units = b->retired_units;
	ret->lapsed_units = b->lapsed_units;
	ret->buried_units = b->burial.buried_units;
	ret->punched_units = b->burial.punched_pages * BURIAL_PAGE_UNITS;
	ret->absent_units = b->burial.absent_pages * BURIAL_PAGE_UNITS;
	ret->private_bytes = sizeof(*b) + (b->free_units + b->used_units) / 8 +
			     (b->burial.holds ? b->burial.end / 4 : 0) +
			     b->refs.capacity * sizeof(uint32_t) +
			     b->groups.capacity * sizeof(struct epoch_group);
}
