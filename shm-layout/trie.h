/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries: each map of the arena is a persistent 64-way bitmap trie from 64-bit keys to *links*. The writer
 * builds new nodes for each commit; readers search and iterate.
 *
 * A link is 32 bits:   0             nothing
 *                      bit 31 set    an immediate value in bits 0..30: an ordinal; a leaf
 *                      otherwise     a ref: of a BLOCK_NODE, where the search goes on; of any other block: a
 *                                    leaf
 *
 * BLOCK_NODE: aux is the shift (0, 6, … 60). The payload:
 *
 *   0          8
 *   +----------+---------+---------+-- - -
 *   | map      | link    | link    |        one link a bit set in map, lowest bit first
 *   +----------+---------+---------+-- - -
 *
 * At a node, the digit of a key is (key >> shift) & 63. At shift 60 a key has only 4 bits left: 16 digits.
 *
 * Levels at which all keys of a subtree agree have no node, so a search does not compare each digit. The leaf
 * that it finds is only a candidate: no other leaf can have the key. The caller compares the key of what the
 * leaf leads to: the name, ordinal or seq of an object, the value of postings.
 *
 * Entries whose keys are equal hashes share a BLOCK_COLLISION as their leaf (collision.h).
 *
 * Invariant: a node has at least two links; a trie with one entry is the link of that entry. A child's shift
 * is smaller than its parent's. Equal contents have equal form, whatever the order of edits.
 */
#ifndef SHM_LAYOUT_TRIE_H
#define SHM_LAYOUT_TRIE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/block.h"

#define LINK_IMMEDIATE 0x80000000u
#define TRIE_DEPTH_MAX 11u
#define TRIE_SHIFT_TOP 60u

struct trie_node {
	uint64_t map;
	uint32_t links[];
};
_Static_assert(offsetof(struct trie_node, links) == 8, "trie_node: links moved");

static inline bool
link_is_immediate(uint32_t link)
{
	return (link & LINK_IMMEDIATE) != 0;
}

static inline uint32_t
link_value(uint32_t link)
{
	return link & ~LINK_IMMEDIATE;
}

static inline uint32_t
link_of(uint32_t value)
{
	return value | LINK_IMMEDIATE;
}

static inline unsigned
trie_digit(uint64_t key, unsigned shift)
{
	return (unsigned)(key >> shift) & 63u;
}

/* A checked node. Under a revoked reader the node may change, so readers use this copy of its map. */
struct trie_level {
	const uint32_t *links;
	uint64_t map;
	unsigned shift;
};

/*
 * Check the node b: it has a link for each bit of its map, and its shift is a multiple of 6 below `below`.
 *
 * type_length  the copy by which b's bounds were checked
 * Returns      false when damaged
 */
bool trie_level_of(const struct block *b, uint32_t type_length, unsigned below, struct trie_level *ret);
/* As trie_level_of(), for a node that cannot change: the writer's. NULL when damaged. */
const struct trie_node *trie_node_of(const struct block *b, unsigned below);

/*
 * Find the leaf that can have this key.
 *
 * root      link of the trie
 * ret_leaf  set on success: an ordinal, or the ref of a block that is no node. The caller checks that block
 *
 * Returns   1 a candidate: compare its key; 0 none; -EBADMSG damaged
 * Cost      one node for each level that branches; no allocation
 */
int trie_get(const struct arena_view *view, uint32_t root, uint64_t key, uint32_t *ret_leaf);

/*
 * Compute the key of a leaf, for trie_seek() and for the writer's edits.
 *
 * way   the digits that led to the leaf: (key & way.mask) == way.bits. An object with several keys in one
 *       trie has a leaf for each key, and these leaves are equal; exactly one of its keys fits the way
 *
 * Returns 0, or -EBADMSG
 */
struct trie_way {
	uint64_t mask;
	uint64_t bits;
};

struct trie_keys {
	int (*key_of)(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf,
		      struct trie_way way, uint64_t *ret_key);
	void *context;
};

/* Add a node to the way: the search took `digit` at `shift`. */
static inline void
trie_way_add(struct trie_way *way, unsigned shift, unsigned digit)
{
	way->mask |= 63ull << shift;
	way->bits |= (uint64_t)digit << shift;
}

/*
 * Iteration over the leaves in the order of their keys. A plain struct: nothing to free.
 *
 *	struct trie_iter it;
 *	for (int r = trie_first(&it, view, root); r > 0; r = trie_next(&it))
 *		use(it.leaf);
 *
 * trie_first() goes to the first leaf, trie_seek() to the first leaf with key >= from, trie_next() to the
 * next leaf. trie_seek() calls keys->key_of() for a few leaves.
 *
 * Return 1 at a leaf, 0 at the end, -EBADMSG damaged
 */
struct trie_iter {
	const struct arena_view *view;
	uint32_t leaf;
	unsigned depth;
	struct {
		const uint32_t *next; /* link of the lowest bit in rest */
		unsigned shift;
		uint64_t rest; /* bits of map still to visit */
	} stack[TRIE_DEPTH_MAX];
};

int trie_first(struct trie_iter *it, const struct arena_view *view, uint32_t root);
int trie_seek(struct trie_iter *it, const struct arena_view *view, uint32_t root, uint64_t from,
	      const struct trie_keys *keys);
int trie_next(struct trie_iter *it);

#endif
