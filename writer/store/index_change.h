/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies one object's change to the indexes of its resource: which values leave, which enter, which stay.
 *
 * An index whose values do not change is left alone. For the others all values are computed first, so that
 * the memory needed is known. Then leaving values are taken out while the ordinals trie still leads to the
 * old state. Entering values are filed once it leads to the new state.
 */
#ifndef WRITER_STORE_INDEX_CHANGE_H
#define WRITER_STORE_INDEX_CHANGE_H

#include <stdbool.h>

#include "writer/store/index_edit.h"
#include "writer/store/trie_warm.h"

/*
 * gains  the object may have a value that it had not before. With a prefix, values are compared as filed, so
 *        each change of a value counts
 */
struct index_change {
	unsigned capacity;           /* of both arrays */
	struct value_set *old, *new; /* by index; both empty if the index does not change */
	bool gains;
};

/* A resource's indexes. */
struct index_table {
	unsigned count;
	struct index_def *defs;
	uint32_t *roots;
	struct index_plan *plan; /* of all defs; NULL: made when first needed */
};

/* The table's definitions changed, or the table goes: drop its plan. */
void index_table_changed(struct index_table *table);

/*
 * Compute what leaves and enters.
 *
 * before, after  the object's states; at == NULL: there is none
 * replaced       they are two different objects: no value stays
 * ret_need       upper bound of what leaving and entering allocate
 * Returns        0, -ENOMEM, -EBADMSG
 */
int index_change_prepare(struct index_change *change, struct index_table *table, const uint8_t hash_key[16],
			 struct value before, struct value after, bool replaced, struct arena_need *ret_need);

/* Take out leaving values; file entering values. ordinals: the resource's trie at this moment */
int index_change_leave(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		       struct arena *arena, uint32_t ordinals, uint32_t ordinal);
int index_change_enter(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		       struct arena *arena, uint32_t ordinals, uint32_t ordinal);

/* The trie walks of the entering values, for trie_warm(); returns how many, at most `most`. */
size_t index_change_walks(const struct index_change *change, const struct index_table *table,
			  struct trie_walk *walks, size_t most);

void index_change_done(struct index_change *change);

#endif
