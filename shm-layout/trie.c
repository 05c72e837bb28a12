/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the trie: get, and ordered iteration with seek.
 */
#include "shm-layout/trie.h"

#include <errno.h>

#define NO_PARENT 66u	/* above every shift */

bool
trie_level_of(const struct block *b, uint32_t type_length, unsigned below, struct trie_level *ret)
{
	const struct trie_node *node = (const struct trie_node *)(const void *)b->payload;
	uint32_t length = type_length & BLOCK_LENGTH_MAX;

	ret->shift = LOAD_ONCE(&b->aux);
	if (type_length >> 28 != BLOCK_NODE || length < sizeof(*node) || ret->shift >= below ||
	    ret->shift % 6 != 0)
		return false;
	ret->links = node->links;
	ret->map = LOAD_ONCE(&node->map);
	if (length != sizeof(*node) + (uint32_t)__builtin_popcountll(ret->map) * sizeof(node->links[0]))
		return false;
	return ret->shift != TRIE_SHIFT_TOP || ret->map <= 0xffff;
}

const struct trie_node *
trie_node_of(const struct block *b, unsigned below)
{
	struct trie_level level;

	return trie_level_of(b, b->type_length, below, &level)
		       ? (const struct trie_node *)(const void *)b->payload
		       : NULL;
}

/*
 * Whether a link is a node, with at least one link: 1; 0: a leaf; -EBADMSG. Of a leaf's block, only the type
 * is looked at; the caller checks the rest.
 */
static int
look_at_link(const struct arena_view *view, uint32_t link, unsigned below, struct trie_level *ret)
{
	const struct block *b;
	uint32_t type_length;

	if (link_is_immediate(link))
		return 0;
	b = block_any_load(view, link, &type_length);
	if (!b)
		return -EBADMSG;
	if (type_length >> 28 != BLOCK_NODE)
		return 0;
	return trie_level_of(b, type_length, below, ret) && ret->map ? 1 : -EBADMSG;
}

static unsigned
rank_of(uint64_t map, unsigned digit)
{
	return (unsigned)__builtin_popcountll(map & ((1ull << digit) - 1));
}

/*
 * One step down a link, on the hot path of trie_get(). Checks only what is needed to touch the node and load
 * one of its links. Walks check the form, too, by trie_node_of(): the length fits the map, shifts are
 * multiples of 6.
 *
 * Returns the child link; 0: none; link itself: it is a leaf; BAD: damaged.
 */
#define BAD (LINK_IMMEDIATE - 1)	/* a ref that no block has: its offset is the arena's largest size */

static inline uint32_t
step_down(const struct arena_view *view, uint32_t link, uint64_t key, unsigned *below)
{
	uint64_t off = ref_offset(link), map;
	const struct block *b;
	const struct trie_node *node;
	uint32_t type_length, length, shift;
	unsigned digit, rank;

	if (off + sizeof(*b) > view->committed)
		return BAD;
	b = (const struct block *)(const void *)(view->base + off);
	type_length = LOAD_ONCE(&b->type_length);
	if (type_length >> 28 != BLOCK_NODE)
		return link;
	length = type_length & BLOCK_LENGTH_MAX;
	shift = LOAD_ONCE(&b->aux);
	if (shift >= *below || length < sizeof(*node) || off + sizeof(*b) + length > view->committed)
		return BAD;
	if (__builtin_expect(view->verifier != NULL, 0) && !block_verify(view, link, b, type_length))
		return BAD;
	*below = shift;
	node = (const struct trie_node *)(const void *)b->payload;
	map = LOAD_ONCE(&node->map);
	digit = trie_digit(key, shift);
	if (!(map >> digit & 1))
		return 0;
	rank = rank_of(map, digit);
	if (sizeof(*node) + (rank + 1) * sizeof(node->links[0]) > length)
		return BAD;
	link = LOAD_ONCE(&node->links[rank]);
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
		if (below == 0) /* nothing lies deeper: a leaf, and its block need not be touched */
			break;
	}
	*ret_leaf = link;
	return link != 0;
}

/* Push a level. rest: the map of its links that are still to be visited. */
static void
push(struct trie_iter *it, const struct trie_level *level, uint64_t rest)
{
	it->stack[it->depth].next = level->links +
				    rank_of(level->map, rest ? (unsigned)__builtin_ctzll(rest) : 0);
	it->stack[it->depth].shift = level->shift;
	it->stack[it->depth].rest = rest;
	it->depth++;
}

/* Descend from link by the lowest digits to the first leaf. */
static int
descend(struct trie_iter *it, uint32_t link)
{
	for (;;) {
		unsigned below = it->depth ? it->stack[it->depth - 1].shift : NO_PARENT;
		struct trie_level level;
		int r = link == 0 ? -EBADMSG : look_at_link(it->view, link, below, &level);

		if (r < 0)
			return r;
		if (r == 0) {
			it->leaf = link;
			return 1;
		}
		/* shifts fall by 6 at least, so depth stays below TRIE_DEPTH_MAX */
		push(it, &level, level.map & (level.map - 1));
		link = LOAD_ONCE(&level.links[0]);
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
		uint64_t rest = it->stack[it->depth - 1].rest;
		const uint32_t *next = it->stack[it->depth - 1].next;

		if (rest == 0) {
			it->depth--;
			continue;
		}
		it->stack[it->depth - 1].rest = rest & (rest - 1);
		it->stack[it->depth - 1].next++;
		return descend(it, LOAD_ONCE(next));
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
 * Levels without a node are not compared on the way down, so a seek takes two steps. (1) Follow from's
 * digits, where they exist, to a leaf, and learn its key k. (2) Descend again to the first node below the
 * highest digit at which k and from differ. All its leaves agree with k there: all are above from, or all
 * below.
 */
int
trie_seek(struct trie_iter *it, const struct arena_view *view, uint32_t root, uint64_t from,
	  const struct trie_keys *keys)
{
	uint32_t link = root;
	struct trie_level level = {.shift = NO_PARENT};
	struct trie_way way = {0, 0};
	unsigned differ;
	uint64_t key;
	int r;

	it->view = view;
	it->depth = 0;
	it->leaf = 0;
	if (root == 0)
		return 0;
	while ((r = look_at_link(view, link, level.shift, &level)) > 0) {
		unsigned digit = trie_digit(from, level.shift);

		if (!(level.map >> digit & 1))
			digit = (unsigned)__builtin_ctzll(level.map);
		trie_way_add(&way, level.shift, digit);
		link = LOAD_ONCE(&level.links[rank_of(level.map, digit)]);
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
	level.shift = NO_PARENT;
	for (;;) {
		unsigned digit;

		r = look_at_link(view, link, level.shift, &level);
		if (r < 0)
			return r;
		if (r == 0 || (key != from && level.shift < differ))
			break;
		/* above the difference, from and k have equal digits; at it, from's link may be missing */
		digit = trie_digit(from, level.shift);
		push(it, &level, digit == 63 ? 0 : level.map & (~0ull << (digit + 1)));
		if (!(level.map >> digit & 1))
			return trie_next(it);
		link = LOAD_ONCE(&level.links[rank_of(level.map, digit)]);
		if (key != from && level.shift == differ)
			return descend(it, link);
	}
	/* all leaves below link agree with k down to the difference */
	if (key >= from)
		return descend(it, link);
	return trie_next(it);
}
