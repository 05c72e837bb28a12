/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of nodes with a key of bytes: a workqueue's keys, the values of a private index, what a
 * handler was told.
 *
 * A node is a member of the caller's struct, and the caller owns it. The hash has a random key, because users
 * who may create objects choose the keys. Removing a node never allocates and cannot fail.
 */
#ifndef READER_LIB_BASE_KEY_TABLE_H
#define READER_LIB_BASE_KEY_TABLE_H

#include <stdint.h>

#include "reader-lib/base/allocator.h"

/* length: of its key. hash: the lower 32 bits. */
struct key_node {
	struct key_node *next;
	uint32_t length;
	uint32_t hash;
};

/*
 * key_at  where a node's key stands, in bytes from the node
 * taken   the buckets before it are empty; an insert sets it to 0
 */
struct key_table {
	struct allocator memory;
	size_t key_at;
	struct key_node **buckets;
	size_t bucket_count;	/* a power of two */
	size_t count;
	size_t taken;
	uint8_t hash_key[16];
};

/* Returns 0 or -ENOMEM. Call sodium_init() first. */
int key_table_init(struct key_table *t, const struct allocator *memory, size_t key_at);
/* Free the table, not its nodes. An all-zero table is allowed. */
void key_table_done(struct key_table *t);

static inline const char *
key_table_key(const struct key_table *t, const struct key_node *node)
{
	return (const char *)node + t->key_at;
}

uint64_t key_table_hash(const struct key_table *t, const char *key, size_t length);
/*
 * The node with this key and hash, or NULL. A caller may mix more than the key's bytes into the hash, the
 * same at insert and find.
 */
struct key_node *key_table_find(const struct key_table *t, uint64_t hash, const char *key, size_t length);
/*
 * Insert a node, behind which its key stands (shorter than 4 GiB), with its hash; neither is in the table.
 * The table grows while there is memory; without memory, chains get longer.
 */
void key_table_insert(struct key_table *t, struct key_node *node, uint64_t hash, size_t length);
/*
 * The node of a key, or a new node with a terminated copy of the key. NULL: out of memory. A new node is the
 * first member of a zeroed struct from the table's memory. The key's copy is the struct's last member.
 */
struct key_node *key_table_get(struct key_table *t, const char *key, size_t length);
void key_table_remove(struct key_table *t, struct key_node *node);
/* Remove any node; NULL: the table is empty. For emptying a table. */
struct key_node *key_table_take(struct key_table *t);

#endif
