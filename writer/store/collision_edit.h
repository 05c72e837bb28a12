/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of collisions (shm-layout/collision.h): entries whose 64-bit keys are equal, of the
 * identity trie and of indexes.
 *
 * add and set return a new leaf and drop the old block, which whoever stores the new leaf must not look at
 * any more (trie_exchange() does not). On failure nothing has changed.
 */
#ifndef WRITER_STORE_COLLISION_EDIT_H
#define WRITER_STORE_COLLISION_EDIT_H

#include <stdint.h>

#include "writer/store/trie_edit.h"

/* leaf with `link` added: a BLOCK_COLLISION (fresh). leaf itself is dropped when it was one. */
int collision_add(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t link,
		  uint32_t *ret_leaf);

/*
 * leaf, which is a BLOCK_COLLISION, with the link at position i replaced by `link`, or taken out when that is
 * 0.
 */
int collision_set(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t i, uint32_t link,
		  uint32_t *ret_leaf);

/* Put a link into a trie under this key, beside those that are there. 0 or negative errno. */
int collision_file(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
		   const struct trie_keys *keys);
/* Take it out again, and no other. 0 or negative errno; -EBADMSG: it is not there. */
int collision_unfile(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
		     const struct trie_keys *keys);

#endif
