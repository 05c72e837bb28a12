/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes collision blocks (shm-layout/collision.h): entries with equal 64-bit keys, in the identity trie and
 * in indexes.
 *
 * add and set return a new leaf and drop the old block. The caller stores the new leaf without reading the
 * old one (trie_exchange() does not read it). On failure nothing has changed.
 */
#ifndef WRITER_STORE_COLLISION_EDIT_H
#define WRITER_STORE_COLLISION_EDIT_H

#include <stdint.h>

#include "writer/store/trie_edit.h"

/* Add `link` to leaf: returns a fresh BLOCK_COLLISION. If leaf is one, it is dropped. */
int collision_add(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t link,
		  uint32_t *ret_leaf);

/* In leaf, a BLOCK_COLLISION, replace the link at position i by `link`; 0: take that link out. */
int collision_set(struct trie_edit *edit, struct arena *arena, uint32_t leaf, uint32_t i, uint32_t link,
		  uint32_t *ret_leaf);

/* Put a link into a trie under this key, beside the links with the same key. 0 or negative errno. */
int collision_file(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
		   const struct trie_keys *keys);
/* Take exactly this link out again. 0 or negative errno; -EBADMSG: it is not there. */
int collision_unfile(struct trie_edit *edit, struct arena *arena, uint32_t *root, uint64_t key, uint32_t link,
		     const struct trie_keys *keys);

#endif
