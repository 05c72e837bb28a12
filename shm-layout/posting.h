/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postings: an index value and the ordinals of the objects that have it.
 *
 * An index is a trie from the hash of a value (key_hash.h) to
 *   - an immediate ordinal, when one object has the value (compare the object's own index value!),
 *   - a BLOCK_POSTINGS, when several have it,
 *   - a BLOCK_COLLISION of BLOCK_POSTINGS, when several values share the hash; there, one ordinal has
 *     postings too, for an ordinal alone would not say for which of its object's values it stands.
 *
 * BLOCK_POSTINGS payload:
 *
 *   0        4              8
 *   +--------+--------------+----------------------------+---------------+
 *   | count  | value_length | ordinals[count], or a link | value bytes   |
 *   +--------+--------------+----------------------------+---------------+
 *
 *   count <= POSTING_ARRAY_MAX   the ordinals themselves stand there, ascending, 4 bytes each
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
 * Postings as they were checked: what is read of them is bounded by this, and not by what stands there later.
 *
 * ordinals  count of them, or one link
 */
struct posting_list {
	uint32_t count;
	uint32_t value_length;
	const uint32_t *ordinals;
	const char *value;
};

/* The postings of this block, checked against its length; false when damaged or another type. */
bool posting_load(const struct arena_view *view, uint32_t ref, struct posting_list *ret);

/* The same of a block that does not change while one looks: the writer's. NULL: damaged or another type. */
const struct posting *posting_at(const struct arena_view *view, uint32_t ref);

/* The value's bytes (posting->value_length of them). */
const char *posting_value(const struct posting *p);

/*
 * Walk a set of ordinals, ascending.
 *
 *	for (int r = ordinal_first(&it, view, leaf); r > 0; r = ordinal_next(&it))
 *		use(it.ordinal);
 *
 * leaf   an immediate ordinal or the ref of a BLOCK_POSTINGS
 * Returns 1 at an ordinal, 0 at the end, -EBADMSG damaged.
 */
struct ordinal_iter {
	uint32_t ordinal;
	const uint32_t *array;	/* what is left of an array, or NULL */
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
