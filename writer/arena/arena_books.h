/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's books: which 16-byte units are free, where the free runs are, what waits for readers.
 *
 * In private memory: one bit a unit (set: free), the heads of the free lists by size class, and a queue of
 * retired refs. A free run keeps its links in its own bytes, which no reader reads:
 *
 *   0        4        8                             end - 4
 *   +--------+--------+--------+--- - - ---+--------+      next, prev: refs of the list's neighbours
 *   | next   | prev   | units  |           | units  |      units: the size, in front and behind
 *   +--------+--------+--------+--- - - ---+--------+      (a run of one unit: 16 bytes, all four words)
 *
 * Invariant: two free runs never touch (they are merged), so the units before and after a run are not free.
 * What a revoked reader may see, and what has no memory, is not free and in no run (burial.h).
 *
 * Good fit: exact size classes below 64 units, eight to a power of two above; a run is split, its rest goes
 * back.
 */
#ifndef WRITER_ARENA_ARENA_BOOKS_H
#define WRITER_ARENA_ARENA_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/arena/burial.h"

struct arena_books;

/* base: where the arena is mapped; max_units bounds its growth. NULL: no memory. */
struct arena_books *books_new(uint8_t *base, uint64_t max_units);
void books_free(struct arena_books *b);

/* Units [from, to) are these books' from now on, and free. */
void books_extend(struct arena_books *b, uint64_t from, uint64_t to);

uint64_t books_free_units(const struct arena_books *b);
/*
 * Can blocks of so many units in all, of 1 to `largest` each, be taken one after another, whatever their
 * sizes, and whatever is given back between? True where
 *
 *	the sum of run - (largest - 1) over all free runs of at least `largest`, and largest - 1 once,
 *
 * is at least `units`: each of these runs may end in largest - 1 units that no block fits, but for the last.
 * So one run of `units` is enough. Cost: next to nothing where there is one; else a look at the largest runs
 * until they suffice, or at all runs of at least `largest`.
 */
bool books_fits(const struct arena_books *b, uint32_t units, uint32_t largest);
/* The front of a free run; 0 when none is that large. */
uint32_t books_take(struct arena_books *b, uint32_t units);
void books_give(struct arena_books *b, uint32_t ref, uint32_t units);

/*
 * Places that revoked readers see (burial.h).
 *
 * see         those in [from, end) that are in use now
 * next_punch  pages in a row that nobody uses and whose memory can go, at most so many; nothing of them is
 *             free from then on. Cuts free runs: what books_fits() said may be untrue then. False: none
 * dig_up      nobody sees anything any more, what is buried and has memory is free again; at most so many
 *             runs at a time, true while some are left
 * present     absent pages have got memory, and are free
 */
struct burial *books_burial(struct arena_books *b);
void books_see(struct arena_books *b, uint64_t from, uint64_t end);
bool books_dig_up(struct arena_books *b, unsigned runs);
bool books_next_punch(struct arena_books *b, uint64_t most, struct page_run *ret);
void books_present(struct arena_books *b, struct page_run run);

/* Retirement: remember {ref, units, epoch}; epochs never fall. False: no memory. */
bool books_retire(struct arena_books *b, uint32_t ref, uint32_t units, uint64_t epoch);
/*
 * What was retired at or before horizon has lapsed: it is handed out, at most so many at a time, the oldest
 * first: give() frees it and returns its units.
 */
void books_reclaim(struct arena_books *b, uint64_t horizon, unsigned most,
		   uint32_t (*give)(void *context, uint32_t ref), void *context);

/*
 * Rebuilding: forget all, everything in [from, end) is free; take out the runs in use; make free runs of what
 * is left.
 */
int books_clear(struct arena_books *b, uint64_t from, uint64_t end);	/* 0, -ENOMEM */
/* These pages are free and have no memory; before what lies there could be marked. */
void books_absent(struct arena_books *b, struct page_run run);
/*
 * 1 marked, 0 it was marked exactly so before, -1 it overlaps something else. Start units are told apart by a
 * second bitmap.
 */
int books_mark(struct arena_books *b, uint32_t ref, uint32_t units);
void books_fill(struct arena_books *b);

/* retired: without the lapsed; buried: punched ones too */
struct books_stats {
	uint64_t free_units, used_units, retired_units, lapsed_units;
	uint64_t buried_units, punched_units, absent_units, private_bytes;
};
void books_stats(const struct arena_books *b, struct books_stats *ret);

#endif
