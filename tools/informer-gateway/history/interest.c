/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table for all kinds of keys: kind and field are part of the hash. Equal hashes of different values are
 * told apart where they are met.
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
hash_of(enum gw_interest kind, unsigned field, const char *value, size_t length)
{
	uint64_t hash = (FNV_BEGIN ^ (uint64_t)kind ^ (uint64_t)field << 8) * FNV_PRIME;

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

static unsigned *
counter(struct gw_interests *interests, const struct gw_watcher *watcher)
{
	return watcher->kind == GW_NAMESPACE ? &interests->by_namespace
	       : watcher->kind == GW_KEY     ? &interests->by_key
					     : &interests->by_field[watcher->field];
}

void
gw_watcher_add(struct gw_interests *interests, struct gw_watcher *watcher, const char *value)
{
	watcher->interests = interests;
	gw_watcher_restart(watcher);
	if (watcher->kind == GW_ALL) {
		LIST_INSERT_HEAD(&interests->all, watcher, place);
		return;
	}
	if (interests->count >= interests->capacity)
		grow(interests);
	watcher->value = api_strndup(value, strlen(value));
	watcher->hash = hash_of(watcher->kind, watcher->field, value, strlen(value));
	LIST_INSERT_HEAD(bucket(interests, watcher->hash), watcher, place);
	++*counter(interests, watcher);
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
	if (watcher->kind != GW_ALL) {
		--*counter(watcher->interests, watcher);
		watcher->interests->count--;
	}
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

static void
note_equal(struct gw_interests *interests, enum gw_interest kind, unsigned field, const char *value,
	   size_t length, uint64_t position)
{
	uint64_t hash = hash_of(kind, field, value, length);
	struct gw_watcher *watcher;

	LIST_FOREACH (watcher, bucket(interests, hash), place)
		if (watcher->hash == hash && watcher->kind == kind && watcher->field == field &&
		    !strncmp(watcher->value, value, length) && watcher->value[length] == '\0')
			note(watcher, position);
}

static bool
is_lasting(const struct gw_interests *interests, unsigned field)
{
	return interests->lasting >> field & 1;
}

/* Whether a change concerns a watcher. */
static bool
wants(const struct gw_watcher *watcher, const struct api_event *change)
{
	const struct api_object *object = change->object;
	const char *now;

	switch (watcher->kind) {
	case GW_ALL:
		return true;
	case GW_NAMESPACE:
		return !strncmp(object->key, watcher->value, object->namespace_len) &&
		       watcher->value[object->namespace_len] == '\0';
	case GW_KEY:
		return !strcmp(object->key, watcher->value);
	case GW_FIELD:
		break;
	}
	now = api_object_field(object, watcher->field);
	if (!strcmp(now, watcher->value))
		return true;
	/* with a value that lasts it had this one before, or none */
	if (change->unknown)
		return watcher->value[0] == '\0' || now[0] == '\0' ||
		       !is_lasting(watcher->interests, watcher->field);
	return change->prev && !strcmp(api_object_field(change->prev, watcher->field), watcher->value);
}

/* The state before is not known: whoever asks for a field's value may have had the object. */
static void
note_unknown(struct gw_interests *interests, const struct api_event *change, uint64_t position)
{
	struct gw_watcher *watcher;

	for (size_t i = 0; i < interests->capacity; i++)
		LIST_FOREACH (watcher, &interests->buckets[i], place)
			if (watcher->kind == GW_FIELD && wants(watcher, change))
				note(watcher, position);
}

static bool
all_lasting(const struct gw_interests *interests)
{
	for (unsigned i = 0; i < API_FIELDS_MAX; i++)
		if (interests->by_field[i] > 0 && !is_lasting(interests, i))
			return false;
	return true;
}

static void
note_field(struct gw_interests *interests, const struct api_event *change, unsigned i, uint64_t position)
{
	const char *now = api_object_field(change->object, i), *before;

	note_equal(interests, GW_FIELD, i, now, strlen(now), position);
	if (change->unknown)
		note_equal(interests, GW_FIELD, i, "", 0, position);
	if (!change->prev || change->prev == change->object)
		return;
	before = api_object_field(change->prev, i);
	if (strcmp(now, before) != 0)
		note_equal(interests, GW_FIELD, i, before, strlen(before), position);
}

void
gw_interests_note(struct gw_interests *interests, uint64_t position)
{
	const struct api_event *change = gw_change_log_at(interests->log, position);
	const struct api_object *object = change->object;

	interests->wake_all = true;
	if (interests->count == 0)
		return;
	if (interests->by_namespace > 0)
		note_equal(interests, GW_NAMESPACE, 0, object->key, object->namespace_len, position);
	if (interests->by_key > 0)
		note_equal(interests, GW_KEY, 0, object->key, strlen(object->key), position);
	if (change->unknown && !all_lasting(interests)) {
		note_unknown(interests, change, position);
		return;
	}
	for (unsigned i = 0; i < API_FIELDS_MAX; i++)
		if (interests->by_field[i] > 0)
			note_field(interests, change, i, position);
}

void
gw_interests_note_all(struct gw_interests *interests)
{
	struct gw_watcher *watcher;

	interests->wake_all = true;
	for (size_t i = 0; i < interests->capacity; i++)
		LIST_FOREACH (watcher, &interests->buckets[i], place)
			to_be_woken(watcher);
}

unsigned
gw_interests_wake(struct gw_interests *interests)
{
	struct gw_watcher *watcher;
	unsigned count = 0;

	if (interests->wake_all)
		LIST_FOREACH (watcher, &interests->all, place)
			to_be_woken(watcher);
	interests->wake_all = false;
	for (; (watcher = LIST_FIRST(&interests->waking)); count++) {
		LIST_REMOVE(watcher, waking);
		watcher->woken = false;
		watcher->wake(watcher->context);
	}
	return count;
}

/* ---- reading -------------------------------------------------------------- */

/* As gw_watcher_next(), up to a position. */
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
	r = read_log(watcher, position, watcher->kind == GW_ALL ? log->next : watcher->read_to);
	if (r == 0 && watcher->noted_to > 0) {
		if (*position < watcher->noted_from)
			*position = watcher->noted_from;
		r = read_log(watcher, position, watcher->noted_to);
		if (r > 0 && *position + 1 == watcher->noted_to)
			watcher->read_to = watcher->noted_to = 0; /* it is the last */
	}
	if (r == 0) {
		watcher->read_to = watcher->noted_to = 0;
		*position = log->next;
	}
	return r;
}
