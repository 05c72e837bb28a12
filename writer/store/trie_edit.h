/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits the persistent trie (shm-layout/trie.h) by copy-on-write: each commit copies a node at most once.
 *
 * A node made since the last commit is *fresh*. No reader can reach it, so it is edited in place, or moved
 * to a larger block and freed at once. A node of an earlier commit is copied, and the old one is retired.
 * trie_edit_seal() tags all fresh nodes in use.
 *
 * On errors the trie stays as it was: *root is stored only on success.
 */
#ifndef WRITER_STORE_TRIE_EDIT_H
#define WRITER_STORE_TRIE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/trie.h"
#include "writer/arena/arena.h"

struct trie_edit;

struct trie_edit *trie_edit_new(struct arena *arena);
void trie_edit_free(struct trie_edit *edit);

/*
 * Blocks with the life of a node, for data under leaves (postings, collisions). A block is fresh until the
 * next seal, which tags it. A fresh block may be changed in place. Drop frees a fresh block at once and
 * retires any other one.
 */
int trie_edit_new_block(struct trie_edit *edit, enum block_type type, uint32_t length, uint32_t aux,
			uint32_t *ret_ref);
bool trie_edit_is_fresh(const struct trie_edit *edit, uint32_t ref);
void trie_edit_drop_block(struct trie_edit *edit, uint32_t ref);

/* Reserve private memory for the next `blocks` new blocks. 0, -ENOMEM. */
int trie_edit_reserve(struct trie_edit *edit, size_t blocks);

/* Find the leaf with exactly this key: 1 and the link, 0 none, -EBADMSG. */
int trie_find(struct trie_edit *edit, uint32_t root, uint64_t key, const struct trie_keys *keys,
	      uint32_t *ret_leaf);

/*
 * Put a leaf under a key. If a leaf with the same key stands there, it is replaced, and its link returned in
 * *ret_old (0: there was none). The caller retires what the old leaf refers to.
 *
 * keys  computes the keys of leaves, where a new leaf meets an old one
 */
int trie_put(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf,
	     const struct trie_keys *keys, uint32_t *ret_old);

/* Like trie_put(), but a leaf with the same key stays: 0 put, 1 there is one (*ret_known), negative errno. */
int trie_insert(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf,
		const struct trie_keys *keys, uint32_t *ret_known);

/*
 * Replace old_leaf, which trie_find() found under this key, by `leaf`. No key is compared, and old_leaf's
 * block is not read: it may be dropped already.
 */
int trie_exchange(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t old_leaf, uint32_t leaf);

/* Take out this leaf, which stands under this key. No key is compared. -EBADMSG: it does not stand there. */
int trie_remove(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf);

/* Tag all fresh nodes; they are no longer fresh. Call before a commit publishes them. Cannot fail. */
void trie_edit_seal(struct trie_edit *edit);

/* Retire every node of a trie that has become unreachable. Its leaves are not retired. */
void trie_retire_all(struct trie_edit *edit, uint32_t root);

#endif
