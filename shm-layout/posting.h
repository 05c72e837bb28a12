/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postings: one filed value of an index (index_def.h), and the ordinals of the objects that have it. The
 * writer makes a new block for each change; readers walk it.
 *
 * An index is a trie from the hash of a filed value (key_hash.h) to
 *   - an immediate ordinal, when one object has the value: the reader computes the object's values and
 *   compares;
 *   - a BLOCK_POSTINGS, when several objects have it;
 *   - a BLOCK_COLLISION of BLOCK_POSTINGS, when several values share the hash. There a single ordinal has
 *     postings too, because the postings name the value.
 *
 * BLOCK_POSTINGS payload:
 *
 *   0        4              8
 *   +--------+--------------+----------------------------+---------------+
 *   | count  | value_length | ordinals[count], or a link | value bytes   |
 *   +--------+--------------+----------------------------+---------------+
 *
 *   count <= POSTING_ARRAY_MAX   the ordinals, ascending, 4 bytes each
 *   count >  POSTING_ARRAY_MAX   the link (4 bytes) of a trie ordinal -> immediate ordinal
 */
#ifndef SHM_LAYOUT_POSTING_H
#define SHM_LAYOUT_POSTING_H

#include <stdint.h>

#include "shm-layout/block.h"
#include "shm-layout/trie.h"

#define POSTING_ARRAY_MAX 128u

struct posting {
	uint32_t count;
	uint32_t value_length;
	uint32_t ordinals[];	/* or one link */
};
_Static_assert(offsetof(struct posting, ordinals) == 8, "posting: ordinals moved");

/*
 * Checked postings. Under a revoked reader the block may change, so readers use these copies of its lengths.
 *
 * ordinals  `count` ordinals; one link when count > POSTING_ARRAY_MAX
 */
struct posting_list {
	uint32_t count;
	uint32_t value_length;
	const uint32_t *ordinals;
	const char *value;
};

/* Load and check the postings of this ref. False when damaged or of another type. */
bool posting_load(const struct arena_view *view, uint32_t ref, struct posting_list *ret);

/* As posting_load(), for a block that cannot change: the writer's. NULL: damaged, or another type. */
const struct posting *posting_at(const struct arena_view *view, uint32_t ref);

/* The value: p->value_length bytes, not terminated. */
const char *posting_value(const struct posting *p);

/*
 * Walk a set of ordinals, ascending.
 *
 *	for (int r = ordinal_first(&it, view, leaf); r > 0; r = ordinal_next(&it))
 *		use(it.ordinal);
 *
 * leaf     an immediate ordinal, or the ref of a BLOCK_POSTINGS
 * Returns  1 at an ordinal, 0 at the end, -EBADMSG damaged
 */
struct ordinal_iter {
	uint32_t ordinal;
	const uint32_t *array;	/* the rest of an array, or NULL */
	uint32_t array_left;
	bool in_trie;
	struct trie_iter trie;
};

int ordinal_first(struct ordinal_iter *it, const struct arena_view *view, uint32_t leaf);
int ordinal_next_in_trie(struct ordinal_iter *it);
static inline int
ordinal_next(struct ordinal_iter *it)
{
	if (it->array_left == 0)
		return ordinal_next_in_trie(it);
	it->ordinal = LOAD_ONCE(it->array);
	it->array++;
	it->array_left--;
	return 1;
}

#endif
