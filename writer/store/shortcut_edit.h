/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits one resource's two shortcut tables (shm-layout/shortcut.h), and notes the cells that its next commit
 * changes.
 *
 * Changes are noted while they are made. shortcut_apply() stores them just before the root, when nothing in
 * the commit can fail any more. Without memory for a note, or room for a table, the resource has no tables:
 * lookups are slower and still right.
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
	bool lost;           /* a note is missing: the tables must be dropped */
	uint64_t refused_at; /* number of objects when a table last found no room; 0: it found room */
};

void shortcut_edit_done(struct shortcut_edit *e);

void shortcut_note(struct shortcut_edit *e, uint64_t key_hash, uint32_t ordinal, uint32_t old_ref,
		   uint32_t new_ref);

/* All objects are gone: drop the tables. */
void shortcut_drop(struct shortcut_edit *e, struct arena *arena, struct resource *now);

/*
 * Call before the resource's block is written: make tables, or larger ones if there are too many objects for
 * the present ones.
 */
void shortcut_fit(struct shortcut_edit *e, struct arena *arena, struct resource *now);

/* Store the cells. Cannot fail. */
void shortcut_apply(struct shortcut_edit *e, const struct arena *arena, const struct resource *now);

/*
 * After adoption: clear the tables, which may hold cells of a commit that was never published, and fill them
 * from the ordinals trie.
 */
void shortcut_rebuild(const struct arena *arena, const struct resource *now);

#endif
