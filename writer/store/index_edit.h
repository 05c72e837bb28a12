/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits one index: files an ordinal under a value, and takes it out again.
 *
 * Under a value's hash stands one of four forms (posting.h): nothing, an immediate ordinal, BLOCK_POSTINGS
 * with an array, or BLOCK_POSTINGS with a trie. If values share a hash, a BLOCK_COLLISION holds their forms.
 * Equal contents have equal form. Values are filed values here (shm-layout/index_def.h).
 */
#ifndef WRITER_STORE_INDEX_EDIT_H
#define WRITER_STORE_INDEX_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/index_def.h"
#include "writer/store/trie_edit.h"
#include "writer/store/value_set.h"

/*
 * def       computes values
 * ordinals  the resource's ordinals trie at this moment: an immediate ordinal's value is read from its
 *           object there. So values leave while the trie leads to the object's old state, and enter once it
 *           leads to the new state.
 * ordinal   the object that changes
 * own       its values; while they come and go one by one, the index has those marked `filed`
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
 * File the changing object under own's entry i, or take it out, and set or clear the entry's mark. On
 * failure the index stays as it was. -EBADMSG: the value is filed already, or not filed.
 */
int index_file(const struct index_edit *ix, uint32_t *root, size_t i);
int index_unfile(const struct index_edit *ix, uint32_t *root, size_t i);

/* Retire the whole index, with its nodes and postings. */
void index_retire_all(struct trie_edit *edit, struct arena *arena, uint32_t root);

/* Add an upper bound of what index_file() or index_unfile() allocates. */
void index_edit_need(size_t value_length, struct arena_need *need);

#endif
