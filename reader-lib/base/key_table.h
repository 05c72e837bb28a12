/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of things that have a key of bytes: the keys of a workqueue, the values of a private index.
 *
 * The nodes stand in the caller's structs, and the caller owns them. The hash is keyed at random, because
 * keys come from whoever may create objects. Removing never allocates and cannot fail.
 */
#ifndef READER_LIB_BASE_KEY_TABLE_H
#define READER_LIB_BASE_KEY_TABLE_H

#include <stdint.h>

#include "reader-lib/base/allocator.h"

/* key: the caller's, for as long as the node is in the table. */
struct key_node {
	struct key_node *next;
	uint64_t hash;
	const char *key;
	size_t length;
};

struct key_table {
	struct allocator memory;
	struct key_node **buckets;
	size_t bucket_count;	/* a power of two */
	size_t count;
	uint8_t hash_key[16];
};

/* Returns 0 or -ENOMEM. sodium_init() was called. */
int key_table_init(struct key_table *t, const struct allocator *memory);
/* Nodes are the caller's to free. All zero is fine. */
void key_table_done(struct key_table *t);

uint64_t key_table_hash(const struct key_table *t, const char *key, size_t length);
/* The node of a key with this hash, or NULL. */
struct key_node *key_table_find(const struct key_table *t, uint64_t hash, const char *key, size_t length);
/*
 * node->key, length and hash are set, and no such key is there. The table grows with its content while memory
 * allows.
 */
void key_table_insert(struct key_table *t, struct key_node *node);
void key_table_remove(struct key_table *t, struct key_node *node);
/* Take some node out; NULL: none is left. For taking a table down. */
struct key_node *key_table_take(struct key_table *t);

#endif
