/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the keys of leaves in the store's tries from the objects and tombstones that they lead to. store.h
 * offers the lookups for other rooms. Nothing here changes the store.
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

/* Computes the keys of a trie's leaves from the objects of a resource. */
struct store_keys {
	struct trie_keys keys;
	const struct store *store;
	const struct store_resource *resource;
};
struct store_keys store_identity_keys(const struct store *s, const struct store_resource *res);
struct store_keys store_by_seq_keys(const struct store *s, const struct store_resource *res);
extern const struct trie_keys store_ordinal_keys;

#endif
