/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of the persistent trie (shm-layout/trie.h): copy-on-write, a node copied at most once a commit.
 *
 * A node made since the last commit is *fresh*: no reader can reach it, so it is edited in place (or moved to
 * a larger block and the old one freed at once). A node of an earlier commit is copied, and the old one
 * retired. trie_edit_seal() gives every fresh node that is still in use its tag.
 *
 * Errors leave the trie as it was: *root is stored only on success.
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
 * Blocks with the life of a node, for what hangs on leaves (postings, collisions): fresh until the next seal,
 * which tags them. A fresh block may be changed in place; drop frees a fresh block at once and retires
 * another one.
 */
int trie_edit_new_block(struct trie_edit *edit, enum block_type type, uint32_t length, uint32_t aux,
			uint32_t *ret_ref);
bool trie_edit_is_fresh(const struct trie_edit *edit, uint32_t ref);
void trie_edit_drop_block(struct trie_edit *edit, uint32_t ref);

/* Make sure that the next `blocks` new blocks need no private memory. 0, -ENOMEM. */
int trie_edit_reserve(struct trie_edit *edit, size_t blocks);

/* The leaf of just this key: 1 and the link, 0 none, -EBADMSG. */
int trie_find(struct trie_edit *edit, uint32_t root, uint64_t key, const struct trie_keys *keys,
	      uint32_t *ret_leaf);

/*
 * Put a leaf under a key. keys gives the keys of leaves (needed where a new leaf meets an old one).
 *
 * replace   the leaf that stands there for the same key is exchanged for leaf; its link is returned in
 *           *ret_old (0: there was none). What the old leaf refers to is the caller's to retire.
 */
int trie_put(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf,
	     const struct trie_keys *keys, uint32_t *ret_old);

/*
 * The same, but a leaf that stands there stays: 0 put, 1 there is one (*ret_known), negative as above.
 */
int trie_insert(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf,
		const struct trie_keys *keys, uint32_t *ret_known);

/*
 * Let old_leaf, which stands under this key (trie_find said so), be `leaf`. No key is compared, and
 * old_leaf's block, which may be dropped already, is not looked at.
 */
int trie_exchange(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t old_leaf, uint32_t leaf);

/* Take this leaf, which stands under this key, out; as trie_exchange(). -EBADMSG: it does not stand there. */
int trie_remove(struct trie_edit *edit, uint32_t *root, uint64_t key, uint32_t leaf);

/*
 * Tag all fresh nodes; to be called before a commit publishes them. After it, they are no longer fresh.
 * Cannot fail.
 */
void trie_edit_seal(struct trie_edit *edit);

/* Retire every node of a trie (not its leaves): the whole trie has become unreachable. */
void trie_retire_all(struct trie_edit *edit, uint32_t root);

#endif
