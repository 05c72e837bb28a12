/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes, grows and shrinks collision blocks for the identity trie and the indexes. Each edit writes a new
 * block and drops the old one, since readers may be reading it.
 */
#include "writer/store/collision_edit.h"

#include <errno.h>

#include "shm-layout/collision.h"

int
collision_add(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t link, uint32_t *ret_leaf)
{
	uint32_t count = 0, ref;
	uint32_t *links;
	int r;

	while (leaf_link(&arena->view, leaf, count) != 0)
		count++;
	r = trie_edit_new_block(edit, BLOCK_COLLISION, (count + 1) * (uint32_t)sizeof(*links), 0, &ref);
	if (r < 0)
		return r;
	links = arena_payload(arena, ref);
	for (uint32_t i = 0; i < count; i++)
		links[i] = leaf_link(&arena->view, leaf, i);
	links[count] = link;
	if (leaf_is_collision(&arena->view, leaf))
		trie_edit_drop_block(edit, leaf);
	*ret_leaf = ref;
	return 0;
}

int
collision_set(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t i, uint32_t link,
	      uint32_t *ret_leaf)
{
	uint32_t count = block_length(arena_block(arena, leaf)) / (uint32_t)sizeof(uint32_t), ref;
	const uint32_t *old;
	uint32_t *links;
	int r;

	if (link == 0 && count == 2) { /* a single link needs no block */
		*ret_leaf = leaf_link(&arena->view, leaf, !i);
		trie_edit_drop_block(edit, leaf);
		return 0;
	}
	r = trie_edit_new_block(edit, BLOCK_COLLISION, (count - (link == 0)) * (uint32_t)sizeof(uint32_t), 0,
				&ref);
	if (r < 0)
		return r;
	old = arena_payload(arena, leaf);
	links = arena_payload(arena, ref);
	for (uint32_t k = 0; k < count; k++) {
		if (k != i)
			*links++ = old[k];
		else if (link != 0)
			*links++ = link;
	}
	trie_edit_drop_block(edit, leaf);
	*ret_leaf = ref;
	return 0;
}

int
collision_file(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
	       const struct trie_keys *keys)
{
	uint32_t leaf, wider;
	int r = trie_insert(edit, root, key, link, keys, &leaf);

	if (r <= 0)
		return r;
	r = collision_add(edit, arena, leaf, link, &wider);
	return r < 0 ? r : trie_exchange(edit, root, key, leaf, wider);
}

int
collision_unfile(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
		 const struct trie_keys *keys)
{
	uint32_t leaf, narrower, other, i = 0;
	int r = trie_find(edit, *root, key, keys, &leaf);

	if (r < 0)
		return r;
	if (r > 0 && leaf == link)
		return trie_remove(edit, root, key, link);
	if (r == 0 || !leaf_is_collision(&arena->view, leaf))
		return -EBADMSG;
	while ((other = leaf_link(&arena->view, leaf, i)) != link && other != 0)
		i++;
	if (other == 0)
		return -EBADMSG;
	r = collision_set(edit, arena, leaf, i, 0, &narrower);
	return r < 0 ? r : trie_exchange(edit, root, key, leaf, narrower);
}
