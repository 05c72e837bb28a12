/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collisions: several entries under one 64-bit key, because their hashes are equal. The payload of a
 * BLOCK_COLLISION is an array of at least two links: ordinals, POSTINGS or TOMBSTONEs, never a node or
 * another collision. The writer makes it; readers try each entry.
 *
 * leaf_link() visits the entries of any leaf, one or many:
 *
 *	for (uint32_t i = 0; (link = leaf_link(view, leaf, i)) != 0; i++)
 *		...
 */
#ifndef SHM_LAYOUT_COLLISION_H
#define SHM_LAYOUT_COLLISION_H

#include "shm-layout/trie.h"

static inline bool
leaf_is_collision(const struct arena_view *view, uint32_t leaf)
{
	return !link_is_immediate(leaf) &&
	       block_at(view, leaf, BLOCK_COLLISION, 2 * sizeof(uint32_t)) != NULL;
}

/* Entry i of a leaf; 0 past the end. A leaf that is no collision has one entry: itself. */
static inline uint32_t
leaf_link(const struct arena_view *view, uint32_t leaf, uint32_t i)
{
	const struct block *b = NULL;
	uint32_t length;

	if (!link_is_immediate(leaf))
		b = block_load(view, leaf, BLOCK_COLLISION, 2 * sizeof(uint32_t), &length);
	if (!b)
		return i == 0 ? leaf : 0;
	return i < length / sizeof(uint32_t) ? LOAD_ONCE(&((const uint32_t *)(const void *)b->payload)[i])
					     : 0;
}

/*
 * The entries of a leaf as one array, for lookups.
 *
 * ret_links  the links of a collision, or `leaf` itself. Load each link once
 * Returns    the number of links; 0: damaged
 */
static inline uint32_t
leaf_links(const struct arena_view *view, const uint32_t *leaf, const uint32_t **ret_links)
{
	const struct block *b;
	uint32_t type_length;

	*ret_links = leaf;
	if (__builtin_expect(link_is_immediate(*leaf), 1))
		return 1;
	b = block_any_load(view, *leaf, &type_length);
	if (!b)
		return 0;
	if (type_length >> 28 != BLOCK_COLLISION)
		return 1;
	*ret_links = (const uint32_t *)(const void *)b->payload;
	return (type_length & BLOCK_LENGTH_MAX) / (uint32_t)sizeof(uint32_t);
}

#endif
