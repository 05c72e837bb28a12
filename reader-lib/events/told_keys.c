/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the keys that a handler with track_keys was told of, with UID and version, for its RESYNCs:
 * entries in a key table. The hash counts the namespace's length in, for "a" "bc" is not "ab" "c" though the
 * bytes are the same.
 */
#include "reader-lib/events/told_keys.h"

#include <string.h>

static size_t
key_length(const struct object *o)
{
	return (size_t)o->namespace_length + o->name_length;
}

static uint64_t
hash_of(const struct told_keys *t, const struct object *o)
{
	return key_table_hash(&t->table, o->key, key_length(o)) + o->namespace_length;
}

uint64_t
told_keys_hash(const struct told_keys *t, struct value text)
{
	const char *data;
	size_t length;
	uint64_t hash;

	if (!t->table.buckets || !value_string(text, &data, &length))
		return 0;
	hash = key_table_hash(&t->table, data, length);
	return hash ? hash : 1;
}

static struct told_key *
find(const struct told_keys *t, uint64_t hash, const struct object *o)
{
	return (struct told_key *)(void *)key_table_find(&t->table, hash, o->key, key_length(o));
}

struct told_key *
told_keys_find(const struct told_keys *t, const struct object *o)
{
	return t->table.count ? find(t, hash_of(t, o), o) : NULL;
}

struct told_key *
told_keys_get(const struct informer *inf, struct told_keys *t, const struct object *o)
{
	size_t length = key_length(o);
	struct told_key *e;
	uint64_t hash;

	if (!t->table.buckets && key_table_init(&t->table, &inf->memory) < 0)
		return NULL;
	hash = hash_of(t, o);
	e = find(t, hash, o);
	if (e)
		return e;
	e = memory_get(inf, sizeof(*e) + length);
	if (!e)
		return NULL;
	e->ns_length = o->namespace_length;
	memcpy(e->key, o->key, length);
	key_table_insert(&t->table, &e->node, hash, e->key, length);
	return e;
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
	key_table_done(&t->table);
	*t = (struct told_keys){0};
}
