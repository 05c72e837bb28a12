/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a resource's two shortcut tables for the store: notes changes, stores the cells just before the
 * root, makes a new table when one is too small, and drops both when memory is short.
 */
#include "writer/store/shortcut_edit.h"

#include <stdlib.h>
#include <string.h>

#include "shm-layout/shortcut.h"
#include "shm-layout/trie.h"

/* With fewer objects a trie of one or two nodes is as fast. */
#define OBJECTS_MIN 16u
/* Notes whose memory is kept between commits; only a large list needs more. */
#define KEEP 4096u

void
shortcut_edit_done(struct shortcut_edit *e)
{
	free(e->changes);
	*e = (struct shortcut_edit){0};
}

void
shortcut_note(struct shortcut_edit *e, uint64_t key_hash, uint32_t ordinal, uint32_t old_ref,
	      uint32_t new_ref)
{
	if (e->count == e->room) {
		size_t room = e->room ? 2 * e->room : 64;
		struct shortcut_change *changes = realloc(e->changes, room * sizeof(*changes));

		if (!changes) {
			e->lost = true;
			return;
		}
		e->changes = changes;
		e->room = room;
	}
	e->changes[e->count++] = (struct shortcut_change){key_hash, ordinal, old_ref, new_ref};
}

static void
drop_table(struct arena *arena, uint32_t *table)
{
	if (*table)
		arena_retire(arena, *table);
	*table = 0;
}

void
shortcut_drop(struct shortcut_edit *e, struct arena *arena, struct resource *now)
{
	drop_table(arena, &now->by_key);
	drop_table(arena, &now->by_ordinal);
	e->count = 0;
	e->lost = false;
}

/* ---- cells ---- */

static void
fill_key(void *cells, uint32_t count, uint64_t hash, uint32_t ref)
{
	_Atomic uint64_t *bucket = shortcut_bucket(cells, count, hash);

	for (unsigned i = 0; i < SHORTCUT_BUCKET; i++) {
		if (atomic_load_explicit(&bucket[i], memory_order_relaxed) != 0)
			continue;
		/*
		 * Meets the acquire load in shortcut_by_key() (shm-layout/shortcut.h): the object was written
		 * before its ref. Without it a reader could read what the object's place held before.
		 */
		atomic_store_explicit(&bucket[i], hash >> 32 << 32 | ref, memory_order_release);
		return;
	}
}

/*
 * Exchange the cell of old_ref. An object that is new, or found no cell before, takes an empty one. An object
 * never has two cells: its next change would exchange only one, and the other would show an old state.
 */
static void
change_key(void *cells, uint32_t count, const struct shortcut_change *c)
{
	uint64_t tag = c->key_hash >> 32 << 32;
	_Atomic uint64_t *bucket = shortcut_bucket(cells, count, c->key_hash), *old = NULL;
	bool is_there = false;

	for (unsigned i = 0; i < SHORTCUT_BUCKET; i++) {
		uint64_t cell = atomic_load_explicit(&bucket[i], memory_order_relaxed);

		if (c->old_ref && cell == (tag | c->old_ref))
			old = &bucket[i];
		else if (c->new_ref && cell == (tag | c->new_ref))
			is_there = true;
	}
	if (old)
		/* As in fill_key(). */
		atomic_store_explicit(old, c->new_ref && !is_there ? tag | c->new_ref : 0,
				      memory_order_release);
	else if (c->new_ref && !is_there)
		fill_key(cells, count, c->key_hash, c->new_ref);
}

void
shortcut_apply(struct shortcut_edit *e, const struct arena *arena, const struct resource *now)
{
	uint32_t by_key_count = 0, by_ordinal_count = 0;
	void *by_key = now->by_key ? shortcut_cells(&arena->view, now->by_key, SHORTCUT_BY_KEY, &by_key_count)
				   : NULL;
	_Atomic uint32_t *by_ordinal = now->by_ordinal
					       ? shortcut_cells(&arena->view, now->by_ordinal,
								SHORTCUT_BY_ORDINAL, &by_ordinal_count)
					       : NULL;

	for (size_t i = 0; i < e->count; i++) {
		const struct shortcut_change *c = &e->changes[i];

		if (by_key)
			change_key(by_key, by_key_count, c);
		if (by_ordinal && c->ordinal < by_ordinal_count)
			/* As in fill_key(); meets shortcut_cell(). */
			atomic_store_explicit(&by_ordinal[c->ordinal], c->new_ref, memory_order_release);
	}
	e->count = 0;
	if (e->room > KEEP) {
		free(e->changes);
		e->changes = NULL;
		e->room = 0;
	}
}

/* ---- tables ---- */

static uint32_t
new_table(struct arena *arena, enum shortcut_kind kind, uint64_t cells)
{
	uint64_t length = shortcut_length(kind, cells);
	struct shortcut *s;
	uint32_t ref;

	if (length > BLOCK_LENGTH_MAX ||
	    arena_new_block(arena, BLOCK_SHORTCUT, (uint32_t)length, 0, &ref) < 0)
		return 0;
	s = arena_payload(arena, ref);
	memset(s, 0, length);
	*s = (struct shortcut){(uint32_t)cells, (uint32_t)kind};
	arena_seal(arena, ref);
	return ref;
}

/* Fill one or both empty tables with what the ordinals trie leads to. */
static void
fill(const struct arena *arena, const struct resource *now, uint32_t by_key, uint32_t by_ordinal)
{
	uint32_t by_key_count = 0, by_ordinal_count = 0;
	void *keys = by_key ? shortcut_cells(&arena->view, by_key, SHORTCUT_BY_KEY, &by_key_count) : NULL;
	_Atomic uint32_t *ordinals = by_ordinal ? shortcut_cells(&arena->view, by_ordinal,
								 SHORTCUT_BY_ORDINAL, &by_ordinal_count)
						: NULL;
	struct trie_iter it;

	for (int r = trie_first(&it, &arena->view, now->ordinals); r > 0; r = trie_next(&it)) {
		const struct object *o = link_is_immediate(it.leaf) ? NULL : object_at(&arena->view, it.leaf);

		if (!o)
			continue;
		if (keys)
			fill_key(keys, by_key_count, o->key_hash, it.leaf);
		if (ordinals && o->ordinal < by_ordinal_count)
			/* As in fill_key(); only the next root leads to the table. */
			atomic_store_explicit(&ordinals[o->ordinal], it.leaf, memory_order_release);
	}
}

static uint64_t
power_of_two_above(uint64_t n)
{
	return n <= SHORTCUT_BUCKET ? SHORTCUT_BUCKET : 1ull << (64 - __builtin_clzll(n));
}

/* True if the table is missing or damaged, or has too few or far too many cells. */
static bool
does_not_fit(const struct arena *arena, uint32_t table, enum shortcut_kind kind, uint64_t needed)
{
	uint32_t count;

	return !table || !shortcut_cells(&arena->view, table, kind, &count) || count < needed ||
	       count > 8 * power_of_two_above(needed);
}

void
shortcut_fit(struct shortcut_edit *e, struct arena *arena, struct resource *now)
{
	/*
	 * A bucket of 8 cells has at most 5.3 keys on average: one key in fifty finds no cell and is looked
	 * up in the tries.
	 */
	uint64_t key_cells = now->object_count + now->object_count / 2;
	uint32_t by_key = 0, by_ordinal = 0;

	if (e->lost || now->object_count < OBJECTS_MIN / 2)
		shortcut_drop(e, arena, now);
	/* after a refusal, try again when the number of objects has changed */
	if (now->object_count < OBJECTS_MIN ||
	    (e->refused_at && now->object_count / 16 == e->refused_at / 16))
		return;
	e->refused_at = 0;
	if (does_not_fit(arena, now->by_key, SHORTCUT_BY_KEY, key_cells)) {
		by_key = new_table(arena, SHORTCUT_BY_KEY, power_of_two_above(key_cells));
		if (!by_key)
			e->refused_at = now->object_count;
	}
	if (does_not_fit(arena, now->by_ordinal, SHORTCUT_BY_ORDINAL, now->next_ordinal)) {
		by_ordinal = new_table(arena, SHORTCUT_BY_ORDINAL, power_of_two_above(now->next_ordinal));
		if (!by_ordinal)
			e->refused_at = now->object_count;
	}
	if (!by_key && !by_ordinal)
		return;
	/* the working tries have this commit's changes already */
	fill(arena, now, by_key, by_ordinal);
	if (by_key) {
		drop_table(arena, &now->by_key);
		now->by_key = by_key;
	}
	if (by_ordinal) {
		drop_table(arena, &now->by_ordinal);
		now->by_ordinal = by_ordinal;
	}
}

void
shortcut_rebuild(const struct arena *arena, const struct resource *now)
{
	static const enum shortcut_kind kinds[2] = {SHORTCUT_BY_KEY, SHORTCUT_BY_ORDINAL};
	const uint32_t tables[2] = {now->by_key, now->by_ordinal};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t count;
		void *cells = tables[i] ? shortcut_cells(&arena->view, tables[i], kinds[i], &count) : NULL;

		if (cells)
			memset(cells, 0, shortcut_length(kinds[i], count) - shortcut_length(kinds[i], 0));
	}
	fill(arena, now, now->by_key, now->by_ordinal);
}
