/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the trie: get, and ordered iteration with a seek.
 */
#include "shm-layout/trie.h"

#include <errno.h>

#define NO_PARENT 66u	/* above every shift */

const struct trie_node *
trie_node_of(const struct block *b, unsigned below)
{
	const struct trie_node *node = (const struct trie_node *)(const void *)b->payload;
	uint32_t length = block_length(b);

	if (block_type(b) != BLOCK_NODE || length < sizeof(*node) || b->aux >= below || b->aux % 6 != 0)
		return NULL;
	if (length != sizeof(*node) + (uint32_t)__builtin_popcountll(node->map) * sizeof(node->links[0]))
		return NULL;
	if (b->aux == TRIE_SHIFT_TOP && node->map > 0xffff)
		return NULL;
	return node;
}

/*
 * Is this link a node? 1 and the node, 0 a leaf, -EBADMSG.
 * A leaf's block is looked at for its type only; whoever reads it checks the rest.
 */
static int
look_at_link(const struct arena_view *view, uint32_t link, unsigned below, const struct trie_node **ret_node,
	     unsigned *ret_shift)
{
	const struct block *b;

	if (link_is_immediate(link))
		return 0;
	b = block_any(view, link);
	if (!b)
		return -EBADMSG;
	if (block_type(b) != BLOCK_NODE)
		return 0;
	*ret_node = trie_node_of(b, below);
	*ret_shift = b->aux;
	return *ret_node ? 1 : -EBADMSG;
}

static unsigned
rank_of(uint64_t map, unsigned digit)
{
	return (unsigned)__builtin_popcountll(map & ((1ull << digit) - 1));
}

/*
 * One step down a link, for trie_get(), whose time is a reader's time: just what is needed to touch the node
 * safely and take one of its links. What trie_node_of() looks at beside that (is the length the map's, are
 * the shifts multiples of 6) is form, which walks check.
 *
 * Returns the child link; 0 none; link itself when it is a leaf; BAD when damaged.
 */
#define BAD (LINK_IMMEDIATE - 1)	/* a ref that no block has: its offset is the arena's largest size */

static inline uint32_t
step_down(const struct arena_view *view, uint32_t link, uint64_t key, unsigned *below)
{
	uint64_t off = ref_offset(link), map;
	const struct block *b;
	const struct trie_node *node;
	uint32_t length, shift;
	unsigned digit, rank;

	if (off + sizeof(*b) > view->committed)
		return BAD;
	b = (const struct block *)(const void *)(view->base + off);
	if (block_type(b) != BLOCK_NODE)
		return link;
	length = block_length(b);
	shift = b->aux;
	if (shift >= *below || length < sizeof(*node) || off + sizeof(*b) + length > view->committed)
		return BAD;
	if (__builtin_expect(view->verifier != NULL, 0) && !block_verify(view, link, b))
		return BAD;
	*below = shift;
	node = (const struct trie_node *)(const void *)b->payload;
	map = node->map;
	digit = trie_digit(key, shift);
	if (!(map >> digit & 1))
		return 0;
	rank = rank_of(map, digit);
	if (sizeof(*node) + (rank + 1) * sizeof(node->links[0]) > length)
		return BAD;
	link = node->links[rank];
	return link ? link : BAD;
}

int
trie_get(const struct arena_view *view, uint32_t root, uint64_t key, uint32_t *ret_leaf)
{
	unsigned below = TRIE_SHIFT_TOP + 1;
	uint32_t link = root;

	while (link != 0 && !link_is_immediate(link)) {
		uint32_t next = step_down(view, link, key, &below);

		if (next == BAD)
			return -EBADMSG;
		if (next == link)
			break;
		link = next;
		if (below == 0) /* nothing lies deeper: a leaf, which need not be touched to know it */
			break;
	}
	*ret_leaf = link;
	return link != 0;
}

/* Go down from link along the lowest digits to its first leaf. */
static int
descend(struct trie_iter *it, uint32_t link)
{
	for (;;) {
		unsigned below = it->depth ? it->stack[it->depth - 1].shift : NO_PARENT;
		const struct trie_node *node;
		unsigned shift;
		int r = link == 0 ? -EBADMSG : look_at_link(it->view, link, below, &node, &shift);

		if (r < 0)
			return r;
		if (r == 0) {
			it->leaf = link;
			return 1;
		}
		/* shifts fall by 6 at least, so depth stays below TRIE_DEPTH_MAX */
		it->stack[it->depth].node = node;
		it->stack[it->depth].shift = shift;
		it->stack[it->depth].rest = node->map & (node->map - 1);
		it->depth++;
		if (node->map == 0)
			return -EBADMSG;
		link = node->links[0];
	}
}

int
trie_first(struct trie_iter *it, const struct arena_view *view, uint32_t root)
{
	it->view = view;
	it->depth = 0;
	it->leaf = 0;
	return root == 0 ? 0 : descend(it, root);
}

int
trie_next(struct trie_iter *it)
{
	while (it->depth > 0) {
		const struct trie_node *node = it->stack[it->depth - 1].node;
		uint64_t rest = it->stack[it->depth - 1].rest;
		unsigned digit;

		if (rest == 0) {
			it->depth--;
			continue;
		}
		digit = (unsigned)__builtin_ctzll(rest);
		it->stack[it->depth - 1].rest = rest & (rest - 1);
		return descend(it, node->links[rank_of(node->map, digit)]);
	}
	it->leaf = 0;
	return 0;
}

/* Bits of key at and above shift's digit. */
static uint64_t
from_shift(uint64_t key, unsigned shift)
{
	return key >> shift;
}

/*
 * Levels without a node were not compared on the way down, so a seek takes two steps: (1) follow from's
 * digits as far as they exist to some leaf and learn its key k; (2) with the highest digit at which k and
 * from differ, go down again and stop at the first node below that digit: all its leaves agree with k there,
 * so all are above or all below from.
 */
int
trie_seek(struct trie_iter *it, const struct arena_view *view, uint32_t root, uint64_t from,
	  const struct trie_keys *keys)
{
	uint32_t link = root;
	unsigned shift = NO_PARENT, differ;
	const struct trie_node *node;
	struct trie_way way = {0, 0};
	uint64_t key;
	int r;

	it->view = view;
	it->depth = 0;
	it->leaf = 0;
	if (root == 0)
		return 0;
	while ((r = look_at_link(view, link, shift, &node, &shift)) > 0) {
		unsigned digit = trie_digit(from, shift);

		if (node->map == 0)
			return -EBADMSG;
		if (!(node->map >> digit & 1))
			digit = (unsigned)__builtin_ctzll(node->map);
		trie_way_add(&way, shift, digit);
		link = node->links[rank_of(node->map, digit)];
		if (link == 0)
			return -EBADMSG;
	}
	if (r < 0)
		return r;
	r = keys->key_of(keys, view, link, way, &key);
	if (r < 0)
		return r;
	differ = 0;
	if (key != from) {
		differ = TRIE_SHIFT_TOP;
		while (from_shift(key, differ) == from_shift(from, differ))
			differ -= 6;
	}

	link = root;
	shift = NO_PARENT;
	for (;;) {
		unsigned digit;
		uint64_t later;

		r = look_at_link(view, link, shift, &node, &shift);
		if (r < 0)
			return r;
		if (r == 0 || (key != from && shift < differ))
			break;
		/* above the difference every digit of from is k's; at it, from's may be missing */
		digit = trie_digit(from, shift);
		later = digit == 63 ? 0 : node->map & (~0ull << (digit + 1));
		it->stack[it->depth].node = node;
		it->stack[it->depth].shift = shift;
		it->stack[it->depth].rest = later;
		it->depth++;
		if (!(node->map >> digit & 1) || (key != from && shift == differ))
			return node->map >> digit & 1 ? descend(it, node->links[rank_of(node->map, digit)])
						      : trie_next(it);
		link = node->links[rank_of(node->map, digit)];
	}
	/* everything below link agrees with k down to the difference */
	if (key >= from)
		return descend(it, link);
	return trie_next(it);
}
