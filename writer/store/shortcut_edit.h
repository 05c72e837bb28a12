/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts, the writer's side (shm-layout/shortcut.h): one resource's two tables, and the cells that its
 * next commit changes.
 *
 * Changes are noted while they are made, and stored by shortcut_apply() when nothing of the commit can fail
 * any more, just before its root is. Without memory for a note, or room for a table, the resource goes on
 * without tables: slower, never wrong.
 */
#ifndef WRITER_STORE_SHORTCUT_EDIT_H
#define WRITER_STORE_SHORTCUT_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/root.h"
#include "writer/arena/arena.h"

struct shortcut_change {
	uint64_t key_hash;
	uint32_t ordinal;
	uint32_t old_ref;	/* 0: it is new */
	uint32_t new_ref;	/* 0: it is gone */
};

/* Zeroed is empty. */
struct shortcut_edit {
	struct shortcut_change *changes;
	size_t count, room;
	bool lost;		/* a note is missing: the tables have to go */
	uint64_t refused_at;	/* objects there were when there was no room for a table; 0: there was */
};

void shortcut_edit_done(struct shortcut_edit *e);

void shortcut_note(struct shortcut_edit *e, uint64_t key_hash, uint32_t ordinal, uint32_t old_ref,
		   uint32_t new_ref);

/* All objects are gone: so are the tables. */
void shortcut_drop(struct shortcut_edit *e, struct arena *arena, struct resource *now);

/*
 * Before the resource's block is written: make tables, or larger ones, where the objects have become too many
 * for those there are.
 */
void shortcut_fit(struct shortcut_edit *e, struct arena *arena, struct resource *now);

/* Store the cells. Cannot fail. */
void shortcut_apply(struct shortcut_edit *e, const struct arena *arena, const struct resource *now);

/*
 * After adoption: what the tables hold may belong to a commit that never was. Clear them, and fill them from
 * the ordinals trie.
 */
void shortcut_rebuild(const struct arena *arena, const struct resource *now);

#endif
