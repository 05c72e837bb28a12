/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers what a handler was told, as entries in a key table. The hash counts the namespace's length in,
 * for "a" "bc" is not "ab" "c" though the bytes are the same.
 */
#include "reader-lib/events/told_keys.h"

#include <string.h>

int
told_keys_init(const struct informer *inf, struct told_keys *t)
{
	return key_table_init(&t->table, &inf->memory);
}

bool
told_keys_name(const struct told_keys *t, const struct arena_view *view, const struct object *o,
	       struct told_name *ret)
{
	struct object_extent extent;
	uint32_t length;

	if (!object_measure_within(view, o, &extent))
		return false;
	length = extent.namespace_length + extent.name_length;
	*ret = (struct told_name){o->key, key_table_hash(&t->table, o->key, length) + extent.namespace_length,
				  extent.namespace_length, length};
	return true;
}

uint64_t
told_keys_hash(const struct told_keys *t, const char *text, size_t length)
{
	uint64_t hash = length ? key_table_hash(&t->table, text, length) : 0;

	return length && !hash ? 1 : hash;
}

struct told_key *
told_keys_find(const struct told_keys *t, const struct told_name *name)
{
	return (struct told_key *)(void *)key_table_find(&t->table, name->hash, name->key, name->length);
}

struct told_key *
told_keys_make(const struct informer *inf, const struct told_name *name)
{
	struct told_key *e = memory_get(inf, sizeof(*e) + name->length);

	if (!e)
		return NULL;
	e->node.hash = (uint32_t)name->hash;
	e->node.length = name->length;
	e->ns_length = (uint8_t)name->ns_length;
	memcpy(e->key, name->key, name->length);
	return e;
}

void
told_keys_insert(struct told_keys *t, struct told_key *e)
{
	key_table_insert(&t->table, &e->node, e->node.hash, e->key, e->node.length);
}

void
told_keys_drop(const struct informer *inf, struct told_key *e)
{
	memory_put(inf, e);
}

void
told_keys_remove(struct told_keys *t, struct told_key *entry)
{
	if (!entry)
		return;
	key_table_remove(&t->table, &entry->node);
	allocator_put(&t->table.memory, entry);
}

struct told_key *
told_keys_unmet(const struct told_keys *t, uint32_t round, size_t *at)
{
	for (; *at < t->table.bucket_count; ++*at) {
		for (struct key_node *n = t->table.buckets[*at]; n; n = n->next) {
			struct told_key *e = (struct told_key *)(void *)n;

			if (e->round != round)
				return e;
		}
	}
	return NULL;
}

void
told_keys_clear(struct told_keys *t)
{
	struct key_node *n;

	while ((n = key_table_take(&t->table)))
		allocator_put(&t->table.memory, n);
}

void
told_keys_done(struct told_keys *t)
{
	told_keys_clear(t);
	key_table_done(&t->table);
}
