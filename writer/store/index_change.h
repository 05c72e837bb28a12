/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one object's change means for the indexes of its resource: which values leave, which enter, which
 * stay.
 *
 * An index in which both states have the same values is left alone. The values in the others are computed
 * once, before anything is touched, so that the memory needed is known; then those that leave are taken out
 * while ordinals still leads to the old state, and those that enter are filed when it leads to the new one.
 */
#ifndef WRITER_STORE_INDEX_CHANGE_H
#define WRITER_STORE_INDEX_CHANGE_H

#include <stdbool.h>

#include "writer/store/index_edit.h"
#include "writer/store/trie_warm.h"

struct index_change {
	unsigned capacity;		/* of both */
	struct value_set *old, *new;    /* by index; both empty where nothing changes */
};

/* A resource's indexes. */
struct index_table {
	unsigned count;
	struct index_def *defs;
	uint32_t *roots;
	struct index_plan *plan;	/* of all defs; NULL: it is made when it is needed */
};

/* Its definitions are others now, or go. */
void index_table_changed(struct index_table *table);

/*
 * before, after  the object's states; at == NULL where there is none
 * replaced       they are two objects: nothing stays
 * ret_need       what leaving and entering allocate at most
 * Returns 0, -ENOMEM, -EBADMSG
 */
int index_change_prepare(struct index_change *change, struct index_table *table, const uint8_t hash_key[16],
			 struct value before, struct value after, bool replaced, struct arena_need *ret_need);

/* ordinals: the resource's trie as it is at this moment. */
int index_change_leave(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		       struct arena *arena, uint32_t ordinals, uint32_t ordinal);
int index_change_enter(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		       struct arena *arena, uint32_t ordinals, uint32_t ordinal);

/* Where those that enter go, for trie_warm(): how many walks, `most` at most. */
size_t index_change_walks(const struct index_change *change, const struct index_table *table,
			  struct trie_walk *walks, size_t most);

void index_change_done(struct index_change *change);

#endif
