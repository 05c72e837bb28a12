/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the bits of visible, buried, punched and absent places (burial.h).
 */
#include "writer/arena/burial.h"

#include <errno.h>
#include <string.h>

#define PAGE_WORDS (BURIAL_PAGE_UNITS / 64)

static uint64_t
pages_of(uint64_t units)
{
	return (units + BURIAL_PAGE_UNITS - 1) / BURIAL_PAGE_UNITS;
}

int
burial_init(struct burial *b, uint64_t max_units)
{
	uint64_t pages = pages_of(max_units);

	*b = (struct burial){.max_units = max_units, .lowest = UINT64_MAX, .lowest_due = UINT64_MAX};
	b->visible = bitmap_reserve(max_units);
	b->buried = bitmap_reserve(max_units);
	b->due = bitmap_reserve(pages);
	b->punched = bitmap_reserve(pages);
	b->absent = bitmap_reserve(pages);
	if (b->visible && b->buried && b->due && b->punched && b->absent)
		return 0;
	burial_done(b);
	return -ENOMEM;
}

void
burial_done(struct burial *b)
{
	uint64_t pages = pages_of(b->max_units);

	bitmap_release(b->visible, b->max_units);
	bitmap_release(b->buried, b->max_units);
	bitmap_release(b->due, pages);
	bitmap_release(b->punched, pages);
	bitmap_release(b->absent, pages);
	*b = (struct burial){0};
}

void
burial_clear(struct burial *b)
{
	uint64_t pages = pages_of(b->end);

	bitmap_drop(b->visible, b->end);
	bitmap_drop(b->buried, b->end);
	bitmap_drop(b->due, pages);
	bitmap_drop(b->punched, pages);
	bitmap_drop(b->absent, pages);
	b->end = 0;
	b->lowest = b->lowest_due = UINT64_MAX;
	b->buried_units = b->due_pages = b->punched_pages = b->absent_pages = 0;
	b->holds = false;
}

static void
reach(struct burial *b, uint64_t end)
{
	b->end = end > b->end ? end : b->end;
}

/* ---- visible units ---- */

void
burial_see(struct burial *b, const uint64_t *free, uint64_t from, uint64_t end)
{
	struct page_run run = {0};
	uint64_t page = 0, pages = pages_of(end);

	reach(b, end);
	for (uint64_t at = from; at < end; at = (at / 64 + 1) * 64)
		b->visible[at / 64] |= ~free[at / 64] & bits_mask(at, bits_in_word(at, end - at));
	while (b->absent_pages > 0 && page < pages) {
		run.from = bits_next(b->absent, page, pages, true);
		page = bits_next(b->absent, run.from, pages, false);
		bits_fill(b->visible, run.from * BURIAL_PAGE_UNITS, (page - run.from) * BURIAL_PAGE_UNITS,
			  false);
	}
	b->holds = true;
}

void
burial_end_sight(struct burial *b)
{
	if (!b->holds)
		return;
	b->holds = false;
	bitmap_drop(b->visible, b->end);
	bitmap_drop(b->due, pages_of(b->end));
	b->due_pages = 0;
}

/* ---- buried units ---- */

void
burial_bury(struct burial *b, uint64_t from, uint64_t units)
{
	bits_fill(b->buried, from, units, true);
	b->buried_units += units;
	if (from < b->lowest)
		b->lowest = from / BURIAL_PAGE_UNITS * BURIAL_PAGE_UNITS;
}

/* ---- pages to be punched ---- */

bool
burial_is_out_of_use(const struct burial *b, const uint64_t *free, uint64_t page)
{
	unsigned buried = 0;

	if (bit(b->punched, page))
		return false;
	for (uint64_t w = page * PAGE_WORDS; w < (page + 1) * PAGE_WORDS; w++) {
		if ((b->buried[w] | free[w]) != ~0ull)
			return false;
		buried += (unsigned)__builtin_popcountll(b->buried[w]);
	}
	return buried >= BURIAL_PAGE_UNITS / 2;
}

void
burial_set_due(struct burial *b, uint64_t page, bool due)
{
	if (bit(b->due, page) == due)
		return;
	bits_fill(b->due, page, 1, due);
	b->due_pages += due ? 1 : -1ull;
	if (due && page < b->lowest_due)
		b->lowest_due = page;
}

bool
burial_next_due(struct burial *b, uint64_t *ret_page)
{
	if (b->due_pages == 0)
		return false;
	*ret_page = b->lowest_due = bits_next(b->due, b->lowest_due, pages_of(b->end), true);
	return true;
}

void
burial_set_punched(struct burial *b, struct page_run run)
{
	bits_fill(b->punched, run.from, run.count, true);
	b->punched_pages += run.count;
}

/* ---- free units ---- */

/* The run of punched pages that begins at `page` becomes absent and free. Returns the first unit after it. */
static uint64_t
punched_to_absent(struct burial *b, uint64_t page)
{
	struct page_run run = {page, bits_next(b->punched, page, pages_of(b->end), false) - page};

	bits_fill(b->punched, run.from, run.count, false);
	b->punched_pages -= run.count;
	bits_fill(b->buried, run.from * BURIAL_PAGE_UNITS, run.count * BURIAL_PAGE_UNITS, false);
	b->buried_units -= run.count * BURIAL_PAGE_UNITS;
	burial_set_absent(b, run, true);
	return (run.from + run.count) * BURIAL_PAGE_UNITS;
}

bool
burial_next_free(struct burial *b, uint64_t *ret_from, uint64_t *ret_units)
{
	while (b->buried_units > 0) {
		uint64_t from = bits_next(b->buried, b->lowest, b->end, true), to, page;

		if (bit(b->punched, from / BURIAL_PAGE_UNITS)) {
			b->lowest = punched_to_absent(b, from / BURIAL_PAGE_UNITS);
			continue;
		}
		to = bits_next(b->buried, from, b->end, false);
		page = bits_next(b->punched, from / BURIAL_PAGE_UNITS, pages_of(to), true);
		if (page * BURIAL_PAGE_UNITS < to)
			to = page * BURIAL_PAGE_UNITS;
		bits_fill(b->buried, from, to - from, false);
		b->buried_units -= to - from;
		b->lowest = to;
		*ret_from = from;
		*ret_units = to - from;
		return true;
	}
	b->lowest = UINT64_MAX;
	return false;
}

/* ---- absent pages ---- */

bool
burial_next_absent(const struct burial *b, uint64_t least, uint64_t most, struct page_run *ret)
{
	uint64_t page = 0, pages = pages_of(b->end);

	while (b->absent_pages >= least && page < pages) {
		uint64_t from = bits_next(b->absent, page, pages, true);

		page = bits_next(b->absent, from, pages, false);
		if (page - from < least || from == pages)
			continue;
		*ret = (struct page_run){from, page - from < most ? page - from : most};
		return true;
	}
	return false;
}

void
burial_set_absent(struct burial *b, struct page_run run, bool absent)
{
	reach(b, (run.from + run.count) * BURIAL_PAGE_UNITS);
	bits_fill(b->absent, run.from, run.count, absent);
	if (absent)
		b->absent_pages += run.count;
	else
		b->absent_pages -= run.count;
}

bool
burial_next_hole(const struct burial *b, uint64_t from, struct page_run *ret)
{
	uint64_t pages = pages_of(b->end), punched, absent, to;
	const uint64_t *map;

	if (b->punched_pages + b->absent_pages == 0 || from >= pages)
		return false;
	punched = bits_next(b->punched, from, pages, true);
	absent = bits_next(b->absent, from, pages, true);
	map = punched < absent ? b->punched : b->absent;
	ret->from = punched < absent ? punched : absent;
	to = bits_next(map, ret->from, pages, false);
	ret->count = to - ret->from;
	return ret->count > 0;
}
