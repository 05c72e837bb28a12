/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One hash table for all kinds of values; the kind is part of the hash. Equal hashes are confirmed by
 * comparing the values.
 */
#include "tools/informer-gateway/history/interest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64u
#define FNV_BEGIN 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* ---- the table ----------------------------------------------------------- */

static uint64_t
hash_of(unsigned kind, const char *value, size_t length)
{
	uint64_t hash = (FNV_BEGIN ^ kind) * FNV_PRIME;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)value[i]) * FNV_PRIME;
	return hash ^ hash >> 32;
}

static struct gw_watchers *
bucket(const struct gw_interests *interests, uint64_t hash)
{
	return &interests->buckets[hash & (interests->capacity - 1)];
}

static void
grow(struct gw_interests *interests)
{
	struct gw_watchers *old = interests->buckets;
	size_t count = interests->capacity;
	struct gw_watcher *watcher;

	interests->capacity = count ? count * 2 : BUCKETS_MIN;
	interests->buckets = api_alloc(interests->capacity * sizeof(*interests->buckets));
	for (size_t i = 0; i < interests->capacity; i++)
		LIST_INIT(&interests->buckets[i]);
	for (size_t i = 0; i < count; i++) {
		while ((watcher = LIST_FIRST(&old[i]))) {
			LIST_REMOVE(watcher, place);
			LIST_INSERT_HEAD(bucket(interests, watcher->hash), watcher, place);
		}
	}
	free(old);
}

void
gw_interests_init(struct gw_interests *interests, const struct gw_change_log *log)
{
	*interests = (struct gw_interests){.log = log};
}

void
gw_interests_done(struct gw_interests *interests)
{
	free(interests->buckets);
	interests->buckets = NULL;
	interests->capacity = 0;
}

void
gw_watcher_add(struct gw_interests *interests, struct gw_watcher *watcher, unsigned kind, const char *value)
{
	watcher->interests = interests;
	watcher->kind = kind;
	watcher->value = api_strndup(value, strlen(value));
	watcher->hash = hash_of(kind, value, strlen(value));
	gw_watcher_restart(watcher);
	if (interests->count >= interests->capacity)
		grow(interests);
	LIST_INSERT_HEAD(bucket(interests, watcher->hash), watcher, place);
	interests->of_kind[kind]++;
	interests->count++;
}

void
gw_watcher_restart(struct gw_watcher *watcher)
{
	watcher->read_to = watcher->interests->log->next;
	watcher->era = watcher->interests->log->era;
	watcher->noted_to = 0;
}

void
gw_watcher_remove(struct gw_watcher *watcher)
{
	if (!watcher->interests)
		return;
	LIST_REMOVE(watcher, place);
	if (watcher->woken)
		LIST_REMOVE(watcher, waking);
	watcher->interests->of_kind[watcher->kind]--;
	watcher->interests->count--;
	free(watcher->value);
	watcher->value = NULL;
	watcher->interests = NULL;
}

/* ---- noting -------------------------------------------------------------- */

static void
to_be_woken(struct gw_watcher *watcher)
{
	if (watcher->woken)
		return;
	watcher->woken = true;
	LIST_INSERT_HEAD(&watcher->interests->waking, watcher, waking);
}

static void
note(struct gw_watcher *watcher, uint64_t position)
{
	to_be_woken(watcher);
	if (watcher->noted_to == 0)
		watcher->noted_from = position;
	watcher->noted_to = position + 1;
}

/* An object's value of the given kind, and its length. */
static const char *
value_of(const struct api_object *object, unsigned kind, size_t *ret_length)
{
	const char *value = kind == GW_ALL     ? ""
			    : kind >= GW_FIELD ? api_object_field(object, kind - GW_FIELD)
					       : object->key;

	*ret_length = kind == GW_NAMESPACE ? object->namespace_len : strlen(value);
	return value;
}

static bool
asks_for(const struct gw_watcher *watcher, const struct api_object *object)
{
	size_t length;
	const char *value = value_of(object, watcher->kind, &length);

	return !strncmp(watcher->value, value, length) && watcher->value[length] == '\0';
}

/* Whether a change concerns a watcher. An unknown previous state may have had any value of a field. */
static bool
wants(const struct gw_watcher *watcher, const struct api_event *change)
{
	return asks_for(watcher, change->object) || (change->prev && asks_for(watcher, change->prev)) ||
	       (change->unknown && watcher->kind >= GW_FIELD);
}

static void
note_equal(struct gw_interests *interests, unsigned kind, const struct api_object *object, uint64_t position)
{
	size_t length;
	const char *value = value_of(object, kind, &length);
	uint64_t hash = hash_of(kind, value, length);
	struct gw_watcher *watcher;

	LIST_FOREACH (watcher, bucket(interests, hash), place)
		if (watcher->hash == hash && watcher->kind == kind && asks_for(watcher, object))
			note(watcher, position);
}

void
gw_interests_note(struct gw_interests *interests, uint64_t position)
{
	const struct api_event *change = gw_change_log_at(interests->log, position);
	struct gw_watcher *watcher;

	for (unsigned kind = 0; kind < GW_INTERESTS; kind++) {
		if (interests->of_kind[kind] == 0)
			continue;
		note_equal(interests, kind, change->object, position);
		if (change->prev && change->prev != change->object)
			note_equal(interests, kind, change->prev, position);
	}
	for (size_t i = 0; change->unknown && i < interests->capacity; i++)
		LIST_FOREACH (watcher, &interests->buckets[i], place)
			if (watcher->kind >= GW_FIELD)
				note(watcher, position);
}

void
gw_interests_note_all(struct gw_interests *interests)
{
	struct gw_watcher *watcher;

	for (size_t i = 0; i < interests->capacity; i++)
		LIST_FOREACH (watcher, &interests->buckets[i], place)
			to_be_woken(watcher);
}

unsigned
gw_interests_wake(struct gw_interests *interests)
{
	struct gw_watcher *watcher;
	unsigned count = 0;

	for (; (watcher = LIST_FIRST(&interests->waking)); count++) {
		LIST_REMOVE(watcher, waking);
		watcher->woken = false;
		watcher->wake(watcher->context);
	}
	return count;
}

/* ---- reading -------------------------------------------------------------- */

/* As gw_watcher_next(), up to `end`. */
static int
read_log(const struct gw_watcher *watcher, uint64_t *position, uint64_t end)
{
	const struct gw_change_log *log = watcher->interests->log;

	if (*position < end && *position < log->first)
		return -ESTALE;
	for (; *position < end; ++*position)
		if (wants(watcher, gw_change_log_at(log, *position)))
			return 1;
	return 0;
}

int
gw_watcher_next(struct gw_watcher *watcher, uint64_t *position)
{
	const struct gw_change_log *log = watcher->interests->log;
	int r;

	if (watcher->era != log->era)
		return -ESTALE;
	r = read_log(watcher, position, watcher->read_to);
	if (r == 0 && watcher->noted_to > 0) {
		if (*position < watcher->noted_from)
			*position = watcher->noted_from;
		r = read_log(watcher, position, watcher->noted_to);
		if (r > 0 && *position + 1 == watcher->noted_to)
			watcher->read_to = watcher->noted_to = 0; /* the last noted position */
	}
	if (r == 0) {
		watcher->read_to = watcher->noted_to = 0;
		*position = log->next;
	}
	return r;
}
