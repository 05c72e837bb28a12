/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the store's objects are found again, beside what store.h offers to all (by key, by ordinal): how the
 * keys of its tries' leaves are read from the objects and tombstones that they lead to. Nothing here changes
 * anything.
 */
#ifndef WRITER_STORE_STORE_KEYS_H
#define WRITER_STORE_STORE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/object.h"
#include "shm-layout/trie.h"

struct store;
struct store_resource;

/* The ref of the resource's object with this ordinal, or 0. */
uint32_t store_ordinal_ref(const struct store *s, const struct store_resource *res, uint32_t ordinal);

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
