/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of things that have a key of bytes: the keys of a workqueue, the values of a private index,
 * what a handler was told of.
 *
 * The nodes stand in the caller's structs, and the caller owns them. The hash is keyed at random, because
 * keys come from whoever may create objects. Removing never allocates and cannot fail.
 */
#ifndef READER_LIB_BASE_KEY_TABLE_H
#define READER_LIB_BASE_KEY_TABLE_H

#include <stdint.h>

#include "reader-lib/base/allocator.h"

/* key: the caller's, for as long as the node is in the table. hash: its lower half. */
struct key_node {
	struct key_node *next;
	const char *key;
	uint32_t length;
	uint32_t hash;
};

/* taken: buckets before it are empty, unless something was inserted since (0). */
struct key_table {
	struct allocator memory;
	struct key_node **buckets;
	size_t bucket_count;	/* a power of two */
	size_t count;
	size_t taken;
	uint8_t hash_key[16];
};

/* Returns 0 or -ENOMEM. sodium_init() was called. */
int key_table_init(struct key_table *t, const struct allocator *memory);
/* Nodes are the caller's to free. All zero is fine. */
void key_table_done(struct key_table *t);

uint64_t key_table_hash(const struct key_table *t, const char *key, size_t length);
/*
 * The node of a key with this hash, or NULL. Who puts more into the hash than the key's bytes finds only what
 * was inserted with the same.
 */
struct key_node *key_table_find(const struct key_table *t, uint64_t hash, const char *key, size_t length);
/*
 * Under this key (shorter than 4 GiB) and hash, which is not there yet. The table grows with its content
 * while memory allows.
 */
void key_table_insert(struct key_table *t, struct key_node *node, uint64_t hash, const char *key,
		      size_t length);
/*
 * The node of a key, or a new one with a copy of the key, terminated. A new one is zeroed, and comes from the
 * table's memory: a struct whose first member is its node, and whose last one, at `key_at`, takes the key.
 * NULL: no memory.
 */
struct key_node *key_table_get(struct key_table *t, const char *key, size_t length, size_t key_at);
void key_table_remove(struct key_table *t, struct key_node *node);
/* Take some node out; NULL: none is left. For taking a table down. */
struct key_node *key_table_take(struct key_table *t);

#endif
