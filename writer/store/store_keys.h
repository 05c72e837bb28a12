/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the store's objects are found again: by key through identity and ordinals, and how the keys of its
 * tries' leaves are read from the objects and tombstones that they lead to. Nothing here changes anything.
 */
#ifndef WRITER_STORE_STORE_KEYS_H
#define WRITER_STORE_STORE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/trie.h"

struct store;
struct store_resource;

/* The ref of the resource's object with this ordinal, or 0. */
uint32_t store_ordinal_ref(const struct store *s, const struct store_resource *res, uint32_t ordinal);

/*
 * The ref of the object with this key, or 0; the leaf of its hash in the identity trie, and its position in
 * that.
 */
uint32_t store_find_key(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns,
			size_t ns_length, const char *name, size_t name_length, uint32_t *ret_leaf,
			uint32_t *ret_i);

/* How the keys of a trie's leaves are found in the objects of a resource. */
struct store_keys {
	struct trie_keys keys;
	const struct store *store;
	const struct store_resource *resource;
};
struct store_keys store_identity_keys(const struct store *s, const struct store_resource *res);
struct store_keys store_by_seq_keys(const struct store *s, const struct store_resource *res);
extern const struct trie_keys store_ordinal_keys;

#endif
