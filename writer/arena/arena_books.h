/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's books say which 16-byte units are free, where the free runs are, and which blocks wait for
 * readers.
 *
 * They are private memory: one bit for each unit (set: free), the heads of the free lists by size class, and
 * a queue of retired refs. A free run keeps its links in its own bytes, which no reader reads:
 *
 *   0        4        8                             end - 4
 *   +--------+--------+--------+--- - - ---+--------+      next, prev: refs of the list's neighbours
 *   | next   | prev   | units  |           | units  |      units: the size, in front and behind
 *   +--------+--------+--------+--- - - ---+--------+      (a run of one unit: 16 bytes, all four words)
 *
 * Invariant: two free runs never touch (they are merged). So the units before and after a run are not free.
 * Units that a revoked reader may see, and units without memory, are in no free run (burial.h).
 *
 * Good fit: exact size classes below 64 units, eight classes to a power of two above. A run is split, and
 * its rest returned to the lists.
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

/* Units [from, to) now belong to the books and are free. */
void books_extend(struct arena_books *b, uint64_t from, uint64_t to);

uint64_t books_free_units(const struct arena_books *b);
/*
 * True if blocks of `units` in total, of 1 to `largest` each, can be taken one after another. Their sizes,
 * and blocks freed meanwhile, do not matter. True if
 *
 *	the sum of run - (largest - 1) over all free runs of at least `largest`, plus largest - 1,
 *
 * is at least `units`: each such run may end in largest - 1 units that no block fits, except the last. One
 * run of `units` is enough. Cost: constant if there is such a run; else a walk over the largest runs, at
 * most over all runs of at least `largest`
 */
bool books_fits(const struct arena_books *b, uint32_t units, uint32_t largest);
/* Take units from the front of a free run; 0: no run is that large. */
uint32_t books_take(struct arena_books *b, uint32_t units);
void books_give(struct arena_books *b, uint32_t ref, uint32_t units);

/*
 * Places that revoked readers see (burial.h).
 *
 * see         marks the units in [from, end) that are in use now
 * next_punch  finds at most `most` pages in a row in which nothing is in use and whose memory can be freed.
 *             Their free units leave the free runs, so an earlier answer of books_fits() may be untrue.
 *             False: none
 * dig_up      call when no revoked reader is left: frees buried units that have memory, at most so many runs
 *             a call; true while some are left
 * present     marks absent pages as free: they have got memory
 */
struct burial *books_burial(struct arena_books *b);
void books_see(struct arena_books *b, uint64_t from, uint64_t end);
bool books_dig_up(struct arena_books *b, unsigned runs);
bool books_next_punch(struct arena_books *b, uint64_t most, struct page_run *ret);
void books_present(struct arena_books *b, struct page_run run);

/* Retire: note {ref, units, epoch}; epochs never fall. False: no memory. */
bool books_retire(struct arena_books *b, uint32_t ref, uint32_t units, uint64_t epoch);
/*
 * Hand out blocks retired at or before horizon (lapsed blocks), oldest first, at most so many. give() frees
 * a block and returns its units.
 */
void books_reclaim(struct arena_books *b, uint64_t horizon, unsigned most,
		   uint32_t (*give)(void *context, uint32_t ref), void *context);

/*
 * Rebuilding: forget everything and count [from, end) as free; then mark the runs in use; then make free
 * runs of the rest.
 */
int books_clear(struct arena_books *b, uint64_t from, uint64_t end);	/* 0, -ENOMEM */
/* These pages are free and have no memory. Call before blocks are marked. */
void books_absent(struct arena_books *b, struct page_run run);
/*
 * 1 marked, 0 exactly this run was marked before, -1 it overlaps another run. A second bitmap holds the
 * start units.
 */
int books_mark(struct arena_books *b, uint32_t ref, uint32_t units);
void books_fill(struct arena_books *b);

/* retired: without the lapsed; buried: with the punched */
struct books_stats {
	uint64_t free_units, used_units, retired_units, lapsed_units;
	uint64_t buried_units, punched_units, absent_units, private_bytes;
};
void books_stats(const struct arena_books *b, struct books_stats *ret);

#endif
