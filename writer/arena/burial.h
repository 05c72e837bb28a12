/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps track of places in the arena that revoked readers may still see, and of pages without memory.
 *
 * A revoked reader still has the arena mapped (shm-layout/PROTOCOLS.md, Revoke). Each place that it can see
 * must hold what it saw, or zeros. So such a place goes through these states:
 *
 *	visible ── its block is freed ──▶ buried ── nothing in its page is in use ──▶ buried and punched
 *	                                    │                                                │
 *	               no revoked reader is left: free             absent: free, but without memory
 *
 * Invariant: a visible place is written only by the block that stood there when it became visible. Buried
 * units are in no free run and are not allocated. The writer does not touch a punched or absent page. An
 * absent page gets memory before it gets a free run.
 *
 * These are bits in private memory, a part of the books (arena_books.h). Pages are those of the file, 4 KiB
 * each.
 */
#ifndef WRITER_ARENA_BURIAL_H
#define WRITER_ARENA_BURIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/block.h"
#include "writer/arena/bitmap.h"

#define BURIAL_PAGE 4096u
#define BURIAL_PAGE_UNITS (BURIAL_PAGE / REF_UNIT)

/*
 * visible, buried     a bit for each unit
 * due                 a bit for each page: burial_is_out_of_use() was true when last looked at
 * punched, absent     a bit for each page
 * lowest, lowest_due  no unit below is buried, no page below is due
 * holds               something is visible
 */
struct burial {
	uint64_t *visible, *buried;
	uint64_t *due, *punched, *absent;
	uint64_t max_units, end;
	uint64_t lowest, lowest_due;
	uint64_t buried_units, due_pages, punched_pages, absent_pages;
	bool holds;
};

struct page_run {
	uint64_t from, count;	/* pages */
};

int burial_init(struct burial *b, uint64_t max_units);	/* 0, -ENOMEM (address space) */
void burial_done(struct burial *b);
/* Forget everything. */
void burial_clear(struct burial *b);

/* Mark the units in [from, end) as visible that are in use: neither free (by this bitmap) nor absent. */
void burial_see(struct burial *b, const uint64_t *free, uint64_t from, uint64_t end);
/* No revoked reader is left: burial_next_free() hands out buried units, and no page is due. */
void burial_end_sight(struct burial *b);

/*
 * True if a block at this unit lies in a visible place. All its units are visible, or none: free units are
 * not visible, and visible ones do not become free.
 */
static inline bool
burial_keeps(const struct burial *b, uint64_t unit)
{
	return __builtin_expect(b->holds, 0) && bit(b->visible, unit);
}

/* Bury these units: they are no longer in use, and are visible or lie in a page that is to be punched. */
void burial_bury(struct burial *b, uint64_t from, uint64_t units);

/*
 * True if nothing in this page is in use and at least half of it is buried; the rest is free by this bitmap.
 * (A page with less is kept: small free gaps between blocks would cost the memory of nearly every page.)
 */
bool burial_is_out_of_use(const struct burial *b, const uint64_t *free, uint64_t page);
/*
 * Set or clear a page's due mark; get the first due page (false: none); mark pages as punched, all their
 * units being buried.
 */
void burial_set_due(struct burial *b, uint64_t page, bool due);
bool burial_next_due(struct burial *b, uint64_t *ret_page);
void burial_set_punched(struct burial *b, struct page_run run);

/*
 * While nothing is visible: take a run of buried units that have memory; it is no longer buried. Punched
 * pages on the way become absent. False: nothing is buried.
 */
bool burial_next_free(struct burial *b, uint64_t *ret_from, uint64_t *ret_units);

/* The first run of at least `least` absent pages, cut to `most`; false: none. */
bool burial_next_absent(const struct burial *b, uint64_t least, uint64_t most, struct page_run *ret);
void burial_set_absent(struct burial *b, struct page_run run, bool absent);

/* The first run of pages without memory, punched or absent, at or after page `from`; false: none. */
bool burial_next_hole(const struct burial *b, uint64_t from, struct page_run *ret);

#endif
