/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of an index: filing an ordinal under a value, and taking it out again.
 *
 * What stands under a value's hash grows and shrinks through four forms (posting.h): nothing, an immediate
 * ordinal, BLOCK_POSTINGS with an array, BLOCK_POSTINGS with a trie; and a BLOCK_COLLISION of them where
 * values share a hash. Equal contents have equal form.
 */
#ifndef WRITER_STORE_INDEX_EDIT_H
#define WRITER_STORE_INDEX_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/index_def.h"
#include "writer/store/trie_edit.h"
#include "writer/store/value_set.h"

/*
 * def       how values are computed
 * ordinals  the resource's ordinals trie as it is now: an immediate ordinal's value is read from its object
 *           there. So while an object changes, values leave while it still leads to the old state, and come
 *           when it leads to the new one.
 * ordinal   the object that changes
 * own       its values; while they come and go one by one, those marked `filed` are the ones that the index
 *           has
 */
struct index_edit {
	struct trie_edit *edit;
	struct arena *arena;
	const struct index_def *def;
	uint32_t ordinals;
	uint32_t ordinal;
	struct value_set *own;
};

/*
 * File the changing object under own's entry i, or take it out; the entry's mark is set or cleared.
 * Both leave the index as it was on failure. A value filed twice, or taken out without being there, is
 * -EBADMSG.
 */
int index_file(const struct index_edit *ix, uint32_t *root, size_t i);
int index_unfile(const struct index_edit *ix, uint32_t *root, size_t i);

/* Retire the whole index: nodes, postings and all. */
void index_retire_all(struct trie_edit *edit, struct arena *arena, uint32_t root);

/* Add an upper bound of what either allocates. */
void index_edit_need(size_t value_length, struct arena_need *need);

#endif
