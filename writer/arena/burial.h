/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places of the arena that a revoked reader may still look at, and pages without memory.
 *
 * The arena cannot be taken from a reader that was revoked (shm-layout/PROTOCOLS.md, Revoke). It is promised
 * that in each place which it can see stands what it saw, or zeros. So such a place is
 *
 *	visible ──its block is given back──▶ buried ──nothing of its page in use──▶ buried, and punched
 *	                                       │                                              │
 *	                 nobody is revoked any more: free                 absent: free, but without memory
 *
 * Invariant: in a visible place nothing is written but by whoever has the block that stood there when it
 * became visible: buried units are in no free run and are not given out. Nobody touches a page that is
 * punched or absent; an absent one gets memory before it gets a free run.
 *
 * Bits in private memory only, a part of the books (arena_books.h). Pages are the file's, numbered by 4 KiB.
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
 * visible, buried    a bit a unit
 * due                a bit a page: burial_is_out_of_use() when that was looked at
 * punched, absent    a bit a page
 * lowest, lowest_due  no unit below is buried, no page due
 * holds              something is visible
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
/* Forget all of it. */
void burial_clear(struct burial *b);

/* The units in [from, end) that are in use, neither free (by this bitmap) nor absent, are visible. */
void burial_see(struct burial *b, const uint64_t *free, uint64_t from, uint64_t end);
/* Nobody sees anything any more: burial_next_free() gives out what is buried, nothing is punched. */
void burial_end_sight(struct burial *b);

/*
 * A block lies in a visible place with all its units or with none: what was free when somebody was revoked is
 * not visible, and what is visible does not become free meanwhile.
 */
static inline bool
burial_keeps(const struct burial *b, uint64_t unit)
{
	return __builtin_expect(b->holds, 0) && bit(b->visible, unit);
}

/* These units are in use no more; they are visible, or lie in a page that is to be punched. */
void burial_bury(struct burial *b, uint64_t from, uint64_t units);

/*
 * Of this page nothing is in use: what is not buried is free, by this bitmap, and that is less than half.
 * (What is free between blocks is mostly too small for anything, and would keep the memory of nearly every
 * page.)
 */
bool burial_is_out_of_use(const struct burial *b, const uint64_t *free, uint64_t page);
/* It may be one to be punched, or not any more; the first of these, false: none. Then: all buried, it was. */
void burial_set_due(struct burial *b, uint64_t page, bool due);
bool burial_next_due(struct burial *b, uint64_t *ret_page);
void burial_set_punched(struct burial *b, struct page_run run);

/*
 * While nothing is visible: a run of buried units that have memory; they are buried no more. Pages that are
 * punched become absent on the way. False: nothing is buried.
 */
bool burial_next_free(struct burial *b, uint64_t *ret_from, uint64_t *ret_units);

/* The first run of absent pages of at least so many, `most` of it at most; false: none. */
bool burial_next_absent(const struct burial *b, uint64_t least, uint64_t most, struct page_run *ret);
void burial_set_absent(struct burial *b, struct page_run run, bool absent);

/* The first run of pages without memory, punched or absent, from a page on; false: none. */
bool burial_next_hole(const struct burial *b, uint64_t from, struct page_run *ret);

#endif
