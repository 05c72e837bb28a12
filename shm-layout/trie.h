/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one index structure: a persistent 64-way bitmap trie from u64 to *links*.
 *
 * A link is 32 bits:   0             nothing
 *                      bit 31 set    an immediate value in bits 0..30 (an ordinal)
 *                      otherwise     a ref: of a BLOCK_NODE, one goes deeper; of any other block, the leaf
 *
 * BLOCK_NODE: aux is its shift (0, 6, … 60), the payload:
 *
 *   0          8
 *   +----------+---------+---------+-- - -
 *   | map      | link    | link    |        one link a bit set in map, lowest bit first
 *   +----------+---------+---------+-- - -
 *
 * At a node, key's digit is (key >> shift) & 63; at shift 60 only 16 digits occur (64 is no multiple of 6).
 * Shifts fall on the way down, and levels at which all keys of a subtree agree have no node: a digit that no
 * node looked at may differ. So the leaf found is the only one that *can* have the key; whoever asks compares
 * the key that the leaf's owner carries (an object its name, its ordinal, its seq; postings their value).
 * That is what keeps a leaf at 4 bytes.
 *
 * Keys that are hashes can be equal though what they stand for is not. Such entries share a
 * BLOCK_COLLISION as their leaf: its payload is an array of at least two links.
 *
 * Invariant: a node has at least two links (a trie of one entry is that entry's link), a child's shift is
 * smaller than its parent's, and equal contents have equal form whatever the order of edits.
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

/* A node as it was checked: what is read of it is bounded by this map, and not by what stands there later. */
struct trie_level {
	const uint32_t *links;
	uint64_t map;
	unsigned shift;
};

/*
 * The node b, whose bounds were checked with this type and length: as many links as its map has bits, and a
 * shift that is a multiple of 6 below `below`. False when damaged.
 */
bool trie_level_of(const struct block *b, uint32_t type_length, unsigned below, struct trie_level *ret);
/* The same of one that does not change while one looks: the writer's. NULL when damaged. */
const struct trie_node *trie_node_of(const struct block *b, unsigned below);

/*
 * Find the leaf that can have this key.
 *
 * root      link of the trie
 * ret_leaf  set on success: a link that is no node; a block's ref is not checked, whoever reads it does
 *
 * Returns   1 found a candidate (compare its key!), 0 none, -EBADMSG damaged
 * Cost      one node a level that branches; no allocation
 */
int trie_get(const struct arena_view *view, uint32_t root, uint64_t key, uint32_t *ret_leaf);

/*
 * The key of a leaf, for ordered iteration and for the writer's edits.
 *
 * way   what is known of it from the nodes passed: (key & way.mask) == way.bits. An object that is filed
 *       under several keys of one trie has one leaf for each, and they look alike: just one of its keys fits
 *       the way.
 *
 * Returns 0, or -EBADMSG.
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

/* One node passed: `digit` was taken at `shift`. */
static inline void
trie_way_add(struct trie_way *way, unsigned shift, unsigned digit)
{
	way->mask |= 63ull << shift;
	way->bits |= (uint64_t)digit << shift;
}

/*
 * Ordered iteration over the leaves; a plain struct, nothing to free.
 *
 *	struct trie_iter it;
 *	for (int r = trie_first(&it, view, root); r > 0; r = trie_next(&it))
 *		use(it.leaf);
 *
 * trie_first and trie_seek set it to the first leaf, or the first with key >= from; trie_next to the next.
 * Returns 1 at a leaf, 0 at the end, -EBADMSG damaged. trie_seek needs the leaves' keys (a few calls of
 * key_of).
 */
struct trie_iter {
	const struct arena_view *view;
	uint32_t leaf;
	unsigned depth;
	struct {
		const uint32_t *next; /* link of the lowest bit of rest */
		unsigned shift;
		uint64_t rest; /* bits of map still to visit */
	} stack[TRIE_DEPTH_MAX];
};

int trie_first(struct trie_iter *it, const struct arena_view *view, uint32_t root);
int trie_seek(struct trie_iter *it, const struct arena_view *view, uint32_t root, uint64_t from,
	      const struct trie_keys *keys);
int trie_next(struct trie_iter *it);

#endif
