/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks down several tries side by side (trie_warm.h). A node's first cache line holds its map, which tells
 * where the next link is. In a full node the digit alone tells it; there the link is far from the map.
 */
#include "writer/store/trie_warm.h"

static void
ask_for(const struct arena_view *view, uint32_t link, uint64_t key, unsigned above)
{
	const uint8_t *at = view->base + ref_offset(link);

	__builtin_prefetch(at);
	__builtin_prefetch(at + sizeof(struct block) + sizeof(struct trie_node) +
			   (above >= 6 ? trie_digit(key, above - 6) : 0) * sizeof(uint32_t));
}

/* Walk one step down, from a node below this shift. False: the walk is at a leaf, or at an empty place. */
static bool
step(const struct arena_view *view, struct trie_walk *w, uint8_t *below)
{
	const struct block *b = link_is_immediate(w->link) ? NULL : block_any(view, w->link);
	const struct trie_node *node;
	unsigned digit;

	if (!b || block_type(b) != BLOCK_NODE)
		return false;
	node = trie_node_of(b, *below);
	if (!node)
		return false;
	*below = (uint8_t)b->aux;
	digit = trie_digit(w->key, b->aux);
	if (!(node->map >> digit & 1)) {
		w->link = 0;
		return false;
	}
	w->link = node->links[__builtin_popcountll(node->map & ((1ull << digit) - 1))];
	if (link_is_immediate(w->link))
		return false;
	ask_for(view, w->link, w->key, b->aux);
	return true;
}

void
trie_warm(const struct arena_view *view, struct trie_walk *walks, size_t count)
{
	uint8_t below[TRIE_WARM_MAX];
	uint64_t going = 0;

	for (size_t i = 0; i < count; i++) {
		below[i] = TRIE_SHIFT_TOP + 6;
		if (walks[i].link != 0)
			going |= 1ull << i;
	}
	while (going)
		for (uint64_t rest = going; rest; rest &= rest - 1) {
			int i = __builtin_ctzll(rest);

			if (!step(view, &walks[i], &below[i]))
				going &= ~(1ull << i);
		}
}
