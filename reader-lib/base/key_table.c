/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains in buckets, with two keys a bucket at most on average. Without memory for more buckets, the chains
 * grow longer.
 */
#include <errno.h>
#include <string.h>

#include <sodium.h>

#include "reader-lib/base/key_table.h"

#define FIRST_BUCKETS 64u
#define NODES_A_BUCKET 2u

int
key_table_init(struct key_table *t, const struct allocator *memory, size_t key_at)
{
	t->memory = *memory;
	t->key_at = key_at;
	t->count = t->taken = 0;
	t->bucket_count = FIRST_BUCKETS;
	t->buckets = allocator_get(memory, FIRST_BUCKETS * sizeof(t->buckets[0]));
	if (!t->buckets)
		return -ENOMEM;
	randombytes_buf(t->hash_key, sizeof(t->hash_key));
	return 0;
}

void
key_table_done(struct key_table *t)
{
	if (t->buckets)
		allocator_put(&t->memory, t->buckets);
	t->buckets = NULL;
}

uint64_t
key_table_hash(const struct key_table *t, const char *key, size_t length)
{
	uint64_t hash;

	crypto_shorthash((unsigned char *)&hash, (const unsigned char *)key, length, t->hash_key);
	return hash;
}

static struct key_node **
bucket_of(const struct key_table *t, uint32_t hash)
{
	return &t->buckets[hash & (t->bucket_count - 1)];
}

struct key_node *
key_table_find(const struct key_table *t, uint64_t hash, const char *key, size_t length)
{
	uint32_t low = (uint32_t)hash;

	for (struct key_node *n = *bucket_of(t, low); n; n = n->next) {
		if (n->hash == low && n->length == length &&
		    (length == 0 || memcmp(key_table_key(t, n), key, length) == 0))
			return n;
	}
	return NULL;
}

static void
grow(struct key_table *t)
{
	struct key_table bigger = *t;

	bigger.bucket_count *= 2;
	bigger.buckets = allocator_get(&t->memory, bigger.bucket_count * sizeof(bigger.buckets[0]));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < t->bucket_count; i++) {
		while (t->buckets[i]) {
			struct key_node *n = t->buckets[i], **bucket = bucket_of(&bigger, n->hash);

			t->buckets[i] = n->next;
			n->next = *bucket;
			*bucket = n;
		}
	}
	allocator_put(&t->memory, t->buckets);
	*t = bigger;
}

void
key_table_insert(struct key_table *t, struct key_node *node, uint64_t hash, size_t length)
{
	struct key_node **bucket;

	if (t->count >= NODES_A_BUCKET * t->bucket_count)
		grow(t);
	bucket = bucket_of(t, (uint32_t)hash);
	*node = (struct key_node){*bucket, (uint32_t)length, (uint32_t)hash};
	*bucket = node;
	t->count++;
	t->taken = 0;
}

struct key_node *
key_table_get(struct key_table *t, const char *key, size_t length)
{
	uint64_t hash = key_table_hash(t, key, length);
	struct key_node *node = key_table_find(t, hash, key, length);

	if (node)
		return node;
	/* 8 more bytes: the struct may have padding after the place of its last member */
	node = allocator_get(&t->memory, t->key_at + length + sizeof(uint64_t));
	if (!node)
		return NULL;
	if (length > 0)
		memcpy((char *)node + t->key_at, key, length);
	key_table_insert(t, node, hash, length);
	return node;
}

void
key_table_remove(struct key_table *t, struct key_node *node)
{
	struct key_node **at = bucket_of(t, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	t->count--;
}

struct key_node *
key_table_take(struct key_table *t)
{
	if (!t->buckets || t->count == 0)
		return NULL;
	for (; t->taken < t->bucket_count; t->taken++) {
		struct key_node *n = t->buckets[t->taken];

		if (n) {
			t->buckets[t->taken] = n->next;
			t->count--;
			return n;
		}
	}
	return NULL;
}
