/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers what a handler was told, in a key table. The hash includes the namespace's length, because "a"
 * "bc" and "ab" "c" have the same bytes.
 */
#include "reader-lib/events/known_keys.h"

#include <string.h>

int
known_keys_init(const struct informer *inf, struct known_keys *t)
{
	return key_table_init(&t->table, &inf->memory, offsetof(struct known_key, key));
}

bool
known_keys_name(const struct known_keys *t, const struct arena_view *view, const struct object *o,
		struct known_name *ret)
{
	struct object_extent extent;
	uint32_t length;

	if (!object_measure_within(view, o, &extent))
		return false;
	length = extent.namespace_length + extent.name_length;
	*ret = (struct known_name){o->key,
				   key_table_hash(&t->table, o->key, length) + extent.namespace_length,
				   extent.namespace_length, length};
	return true;
}

uint64_t
known_keys_hash(const struct known_keys *t, const char *text, size_t length)
{
	uint64_t hash = length ? key_table_hash(&t->table, text, length) : 0;

	return length && !hash ? 1 : hash;
}

struct known_key *
known_keys_find(const struct known_keys *t, const struct known_name *name)
{
	return (struct known_key *)(void *)key_table_find(&t->table, name->hash, name->key, name->length);
}

struct known_key *
known_keys_make(const struct informer *inf, const struct known_name *name)
{
	struct known_key *e = memory_get(inf, sizeof(*e) + name->length);

	if (!e)
		return NULL;
	e->node.hash = (uint32_t)name->hash;
	e->node.length = name->length;
	e->ns_length = (uint8_t)name->ns_length;
	memcpy(e->key, name->key, name->length);
	return e;
}

void
known_keys_insert(struct known_keys *t, struct known_key *e)
{
	key_table_insert(&t->table, &e->node, e->node.hash, e->node.length);
}

void
known_keys_drop(const struct informer *inf, struct known_key *e)
{
	memory_put(inf, e);
}

void
known_keys_remove(struct known_keys *t, struct known_key *entry)
{
	if (!entry)
		return;
	key_table_remove(&t->table, &entry->node);
	allocator_put(&t->table.memory, entry);
}

struct known_key *
known_keys_unmet(const struct known_keys *t, uint32_t round, size_t *at)
{
	for (; *at < t->table.bucket_count; ++*at) {
		for (struct key_node *n = t->table.buckets[*at]; n; n = n->next) {
			struct known_key *e = (struct known_key *)(void *)n;

			if (e->round != round)
				return e;
		}
	}
	return NULL;
}

void
known_keys_clear(struct known_keys *t)
{
	struct key_node *n;

	while ((n = key_table_take(&t->table)))
		allocator_put(&t->table.memory, n);
}

void
known_keys_done(struct known_keys *t)
{
	known_keys_clear(t);
	key_table_done(&t->table);
}
