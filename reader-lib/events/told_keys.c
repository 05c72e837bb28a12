/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the keys that a handler with track_keys was told of, with UID, version and hash, for its
 * RESYNCs.
 */
#include "reader-lib/events/told_keys.h"

#include <string.h>

#include <sodium.h>

#include "reader-lib/attach/handle.h"

#define BUCKETS_MIN 64u

static uint64_t
hash_of(const struct told_keys *t, const struct object *o)
{
	uint64_t hash;

	crypto_shorthash((unsigned char *)&hash, (const unsigned char *)o->key,
			 (unsigned long long)o->namespace_length + o->name_length, t->hash_key);
	/* "a" "bc" is not "ab" "c" */
	return hash + o->namespace_length;
}

uint64_t
told_keys_hash(const struct told_keys *t, struct value text)
{
	const char *data;
	size_t length;
	uint64_t hash;

	if (!t->buckets || !value_string(text, &data, &length))
		return 0;
	crypto_shorthash((unsigned char *)&hash, (const unsigned char *)data, length, t->hash_key);
	return hash ? hash : 1;
}

static bool
is_of(const struct told_key *e, uint64_t hash, const struct object *o)
{
	return e->hash == hash && e->ns_length == o->namespace_length && e->name_length == o->name_length &&
	       memcmp(e->key, o->key, (size_t)e->ns_length + e->name_length) == 0;
}

static struct told_key *
find(struct told_keys *t, uint64_t hash, const struct object *o)
{
	struct told_key *e = t->buckets ? t->buckets[hash & (t->bucket_count - 1)] : NULL;

	while (e && !is_of(e, hash, o))
		e = e->next;
	return e;
}

struct told_key *
told_keys_find(struct told_keys *t, const struct object *o)
{
	return t->count ? find(t, hash_of(t, o), o) : NULL;
}

static bool
grow(struct informer *inf, struct told_keys *t)
{
	size_t count = t->bucket_count ? t->bucket_count * 2 : BUCKETS_MIN;
	struct told_key **buckets = memory_get(inf, count * sizeof(*buckets));

	if (!buckets)
		return t->buckets != NULL;
	if (!t->buckets)
		randombytes_buf(t->hash_key, sizeof(t->hash_key));
	for (size_t i = 0; i < t->bucket_count; i++) {
		for (struct told_key *e = t->buckets[i], *next; e; e = next) {
			next = e->next;
			e->next = buckets[e->hash & (count - 1)];
			buckets[e->hash & (count - 1)] = e;
		}
	}
	memory_put(inf, t->buckets);
	t->buckets = buckets;
	t->bucket_count = count;
	return true;
}

struct told_key *
told_keys_get(struct informer *inf, struct told_keys *t, const struct object *o)
{
	size_t length = (size_t)o->namespace_length + o->name_length;
	struct told_key *e, **bucket;
	uint64_t hash;

	if (t->count >= t->bucket_count && !grow(inf, t))
		return NULL;
	hash = hash_of(t, o);
	e = find(t, hash, o);
	if (e)
		return e;
	e = memory_get(inf, sizeof(*e) + length);
	if (!e)
		return NULL;
	e->hash = hash;
	e->ns_length = o->namespace_length;
	e->name_length = o->name_length;
	memcpy(e->key, o->key, length);
	bucket = &t->buckets[hash & (t->bucket_count - 1)];
	e->next = *bucket;
	*bucket = e;
	t->count++;
	return e;
}

void
told_keys_remove(struct informer *inf, struct told_keys *t, struct told_key *entry)
{
	struct told_key **at;

	if (!entry)
		return;
	for (at = &t->buckets[entry->hash & (t->bucket_count - 1)]; *at && *at != entry; at = &(*at)->next)
		;
	if (*at)
		*at = entry->next;
	t->count--;
	memory_put(inf, entry);
}

struct told_key *
told_keys_unmet(struct told_keys *t, uint32_t round, size_t *at)
{
	for (; *at < t->bucket_count; ++*at)
		for (struct told_key *e = t->buckets[*at]; e; e = e->next)
			if (e->round != round)
				return e;
	return NULL;
}

void
told_keys_clear(struct informer *inf, struct told_keys *t)
{
	for (size_t i = 0; i < t->bucket_count; i++) {
		for (struct told_key *e = t->buckets[i], *next; e; e = next) {
			next = e->next;
			memory_put(inf, e);
		}
	}
	memory_put(inf, t->buckets);
	*t = (struct told_keys){0};
}
