/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manages the memory of an arena: checks its budget, grows the file, and frees pages that nothing uses while
 * a revoked reader still has them mapped (burial.h).
 *
 * Invariant: all bytes up to committed_bytes have memory, except pages in which nothing is in use.
 */
#include <errno.h>

#include "shm-layout/huge_map.h"
#include "shm-layout/page_size.h"
#include "writer/arena/arena_internal.h"
#include "writer/arena/arena_pages.h"

#define GROWTH_MIN (512ull * 1024)
#define GROWTH_MAX (32ull * 1024 * 1024)
/* Limits of one call: runs punched, pages of each run, runs dug up. */
#define PUNCH_RUNS 32u
#define PUNCH_PAGES 1024u
#define DIG_RUNS 8192u

/* ---- size ---- */

void
arena_set_budget(struct arena *a, uint64_t bytes)
{
	a->private->budget = bytes;
}

uint64_t
arena_budget(const struct arena *a)
{
	return a->private->budget;
}

uint64_t
arena_present_bytes(const struct arena *a)
{
	const struct burial *burial = books_burial(a->private->books);

	return a->view.committed - (burial->punched_pages + burial->absent_pages) * BURIAL_PAGE;
}

/* How much more memory the arena may take. */
static uint64_t
budget_left(const struct arena *a)
{
	uint64_t present = arena_present_bytes(a);

	return a->private->budget > present ? a->private->budget - present : 0;
}

/* The least growth: an eighth, within bounds, so that the file seldom grows. */
static uint64_t
comfortable_step(const struct arena *a)
{
	uint64_t step = a->view.committed / 8;

	return step < GROWTH_MIN ? GROWTH_MIN : step > GROWTH_MAX ? GROWTH_MAX : step;
}

/*
 * The file's new length: a step more, or as much as is needed. From 4 MiB on it is a multiple of 2 MiB, so
 * that all of it can be huge pages.
 */
static uint64_t
comfortable_bytes(const struct arena *a, uint64_t need)
{
	uint64_t old = a->view.committed, step = comfortable_step(a), left = budget_left(a) & ~4095ull,
		 unit = old < 2 * HUGE_PAGE_BYTES ? 4096 : HUGE_PAGE_BYTES, bytes;

	bytes = (old + (need > step ? need : step) + unit - 1) / unit * unit;
	bytes = bytes < a->max_bytes ? bytes : a->max_bytes;
	return bytes - old <= left ? bytes : old + left;
}

/* Add at least `need` bytes to the end of the file. */
static int
arena_extend(struct arena *a, uint64_t need)
{
	uint64_t old = a->view.committed, least = (old + need + 4095) & ~4095ull,
		 bytes = comfortable_bytes(a, need);
	int r;

	if (least > a->max_bytes || least - old > budget_left(a))
		return -ENOSPC;
	r = arena_pages_extend(a->fd, a->header, old, bytes);
	if (r < 0 && least < bytes) { /* no room for a whole step */
		bytes = least;
		r = arena_pages_extend(a->fd, a->header, old, bytes);
	}
	if (r < 0)
		return r;
	books_extend(a->private->books, old / REF_UNIT, bytes / REF_UNIT);
	a->view.committed = bytes;
	/*
	 * Readers may touch the new bytes from here on. Meets the acquire loads in open_snapshot() and
	 * snapshot_stretch() (reader-lib/attach/snapshot.c): the pages were allocated before. Without it a
	 * reader could follow a ref to a page without memory (SIGBUS).
	 */
	atomic_store_explicit(&a->header->committed_bytes, bytes, memory_order_release);
	return 0;
}

/* Allocate memory for absent pages, at least so many in a row. -ENOENT: there is no such run. */
static int
arena_fill(struct arena *a, uint64_t pages)
{
	struct arena_books *books = a->private->books;
	uint64_t most = comfortable_step(a) / BURIAL_PAGE, left = budget_left(a) / BURIAL_PAGE;
	struct page_run run;
	int r;

	if (!burial_next_absent(books_burial(books), pages, most > pages ? most : pages, &run))
		return -ENOENT;
	if (pages > left)
		return -ENOSPC;
	if (run.count > left)
		run.count = left;
	r = arena_pages_fill(a->fd, a->header, run.from * BURIAL_PAGE, (run.from + run.count) * BURIAL_PAGE);
	if (r < 0 && run.count > pages) {
		run.count = pages;
		r = arena_pages_fill(a->fd, a->header, run.from * BURIAL_PAGE,
				     (run.from + run.count) * BURIAL_PAGE);
	}
	if (r == 0)
		books_present(books, run);
	return r;
}

static bool
has_hole(const struct arena *a, uint64_t from, uint64_t to)
{
	struct page_run run;

	return burial_next_hole(books_burial(a->private->books), from / BURIAL_PAGE, &run) &&
	       run.from * BURIAL_PAGE < to;
}

bool
arena_gather_pages(struct arena *a)
{
	uint64_t from = a->private->huge_bytes;

	if (from + HUGE_PAGE_BYTES > a->view.committed)
		return false;
	/*
	 * The region is not offered again, even after a failure. A region with a page without memory is
	 * skipped: the page would get memory.
	 */
	if (!has_hole(a, from, from + HUGE_PAGE_BYTES))
		arena_pages_gather((uint8_t *)a->header + from);
	a->private->huge_bytes = from + HUGE_PAGE_BYTES;
	return a->private->huge_bytes + HUGE_PAGE_BYTES <= a->view.committed;
}

/* ---- pages visible to revoked readers ---- */

void
arena_see(struct arena *a)
{
	books_see(a->private->books, HEADER_BYTES / REF_UNIT, a->view.committed / REF_UNIT);
}

/*
 * The part of a run that is whole pages of the kernel's, which may be larger than the books'. Punching less
 * than a page frees nothing, and a reader could see it half done. What is cut off stays buried.
 */
static struct page_run
whole_pages(struct page_run run)
{
	uint64_t from = page_round_up(run.from * BURIAL_PAGE),
		 to = (run.from + run.count) * BURIAL_PAGE & ~(uint64_t)(page_size() - 1);

	return (struct page_run){from / BURIAL_PAGE, to > from ? (to - from) / BURIAL_PAGE : 0};
}

bool
arena_punch(struct arena *a)
{
	struct burial *burial = books_burial(a->private->books);
	struct page_run run;

	for (unsigned i = 0; i < PUNCH_RUNS && books_next_punch(a->private->books, PUNCH_PAGES, &run); i++) {
		uint64_t from;

		run = whole_pages(run);
		from = run.from * BURIAL_PAGE;
		/* a run that cannot be punched stays buried */
		if (run.count > 0 && arena_pages_punch(a->fd, from, from + run.count * BURIAL_PAGE) == 0)
			burial_set_punched(burial, run);
	}
	return burial->due_pages > 0;
}

bool
arena_dig_up(struct arena *a)
{
	return books_dig_up(a->private->books, DIG_RUNS);
}

void
arena_punch_again(struct arena *a)
{
	const struct burial *burial = books_burial(a->private->books);
	uint64_t should = arena_present_bytes(a), excess = arena_pages_taken(a->fd);
	struct page_run run = {0};

	excess = excess > should ? excess - should : 0;
	if (excess > a->private->excess_bytes) {
		while (burial_next_hole(burial, run.from + run.count, &run))
			arena_pages_punch(a->fd, run.from * BURIAL_PAGE,
					  (run.from + run.count) * BURIAL_PAGE);
		excess = arena_pages_taken(a->fd);
		excess = excess > should ? excess - should : 0;
	}
	/* What the file system counts beyond that cannot be freed: do not try again for it. */
	a->private->excess_bytes = excess;
}

/* ---- growing ---- */

void
arena_open_reserve(struct arena *a, bool open)
{
	a->private->reserve_open = open;
}

bool
arena_was_refused(struct arena *a)
{
	bool refused = a->private->refused;

	a->private->refused = false;
	return refused;
}

/* Punch pages that are due, or dig up buried places. False: there is nothing to do. */
static bool
find_more(struct arena *a)
{
	const struct burial *burial = books_burial(a->private->books);

	if (burial->due_pages > 0) {
		arena_punch(a);
		return true;
	}
	if (burial->holds || burial->buried_units == 0)
		return false;
	arena_dig_up(a);
	return true;
}

/* Grow until `units` more fit, in blocks of at most `largest`: absent pages first, then the file. */
static int
arena_grow(struct arena *a, uint32_t units, uint32_t largest)
{
	uint64_t reserve = a->private->reserve_open ? 0 : ARENA_RESERVE;

	for (;;) {
		bool fits = books_fits(a->private->books, units, largest);
		int r;

		if (fits && arena_has_room(a, units))
			return 0;
		r = arena_fill(a, fits ? 1 : (largest + BURIAL_PAGE_UNITS - 1) / BURIAL_PAGE_UNITS);
		if (r == -ENOENT)
			return arena_extend(a, (uint64_t)units * REF_UNIT + reserve);
		if (r < 0)
			return r;
	}
}

void
arena_on_full(struct arena *a, bool (*make_room)(void *context), void *context)
{
	a->private->make_room = make_room;
	a->private->make_room_context = context;
}

static int
find_room(struct arena *a, struct arena_need need)
{
	struct arena_private *private = a->private;
	uint32_t units = (uint32_t)(need.bytes / REF_UNIT), largest = (uint32_t)(need.largest / REF_UNIT);
	int r;

	if (need.bytes / REF_UNIT > UINT32_MAX || private->fail_after == 0)
		return -ENOSPC;
	if (units == 0 || (arena_has_room(a, units) && books_fits(private->books, units, largest)))
		return 0;
	do
		r = arena_grow(a, units, largest);
	while (r == -ENOSPC &&
	       (find_more(a) || (private->make_room && private->make_room(private->make_room_context))));
	return r;
}

int
arena_ensure(struct arena *a, struct arena_need need)
{
	int r = find_room(a, need);

	a->private->refused |= r == -ENOSPC;
	return r;
}
