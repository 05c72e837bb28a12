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

/* ---- lists --------------------------------------------------------------- */

static void
list_init(struct gw_link *list)
{
	list->next = list->previous = list;
}

static void
list_add(struct gw_link *list, struct gw_link *link)
{
	link->previous = list->previous;
	link->next = list;
	list->previous->next = link;
	list->previous = link;
}

static void
list_remove(struct gw_link *link)
{
	if (!link->next)
		return;
	link->previous->next = link->next;
	link->next->previous = link->previous;
	link->next = link->previous = NULL;
}

static struct gw_watcher *
of_place(struct gw_link *link)
{
	return (struct gw_watcher *)(void *)((char *)link - offsetof(struct gw_watcher, place));
}

static struct gw_watcher *
of_waking(struct gw_link *link)
{
	return (struct gw_watcher *)(void *)((char *)link - offsetof(struct gw_watcher, waking));
}

/* ---- the table ----------------------------------------------------------- */

static uint64_t
hash_of(enum gw_interest kind, unsigned field, const char *value, size_t length)
{
	uint64_t hash = (FNV_BEGIN ^ (uint64_t)kind ^ (uint64_t)field << 8) * FNV_PRIME;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)value[i]) * FNV_PRIME;
	return hash ^ hash >> 32;
}

static struct gw_link *
bucket(const struct gw_interests *interests, uint64_t hash)
{
	return &interests->buckets[hash & (interests->capacity - 1)];
}

static void
grow(struct gw_interests *interests)
{
	struct gw_link *old = interests->buckets;
	size_t count = interests->capacity;

	interests->capacity = count ? count * 2 : BUCKETS_MIN;
	interests->buckets = api_alloc(interests->capacity * sizeof(*interests->buckets));
	for (size_t i = 0; i < interests->capacity; i++)
		list_init(&interests->buckets[i]);
	for (size_t i = 0; i < count; i++) {
		while (old[i].next != &old[i]) {
			struct gw_watcher *watcher = of_place(old[i].next);

			list_remove(&watcher->place);
			list_add(bucket(interests, watcher->hash), &watcher->place);
		}
	}
	free(old);
}

void
gw_interests_init(struct gw_interests *interests, const struct gw_change_log *log)
{
	*interests = (struct gw_interests){.log = log};
	list_init(&interests->all);
	list_init(&interests->waking);
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
		list_add(&interests->all, &watcher->place);
		return;
	}
	if (interests->count >= interests->capacity)
		grow(interests);
	watcher->value = api_strndup(value, strlen(value));
	watcher->hash = hash_of(watcher->kind, watcher->field, value, strlen(value));
	list_add(bucket(interests, watcher->hash), &watcher->place);
	++*counter(interests, watcher);
	interests->count++;
}

void
gw_watcher_restart(struct gw_watcher *watcher)
{
	watcher->read_from = 0;
	watcher->read_to = watcher->interests->log->next;
	watcher->era = watcher->interests->log->era;
	watcher->pending_count = 0;
}

void
gw_watcher_remove(struct gw_watcher *watcher)
{
	if (!watcher->interests)
		return;
	list_remove(&watcher->place);
	list_remove(&watcher->waking);
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
	list_add(&watcher->interests->waking, &watcher->waking);
}

static void
note(struct gw_watcher *watcher, uint64_t position)
{
	const struct gw_change_log *log = watcher->interests->log;

	to_be_woken(watcher);
	if (watcher->pending_count > 0 && watcher->pending[watcher->pending_count - 1] == position)
		return;
	if (watcher->pending_count == GW_PENDING) {
		if (watcher->read_to == 0)
			watcher->read_from = watcher->pending[0];
		watcher->pending_count = 0;
		watcher->read_to = log->next;
		return;
	}
	watcher->pending[watcher->pending_count++] = position;
}

static void
note_equal(struct gw_interests *interests, enum gw_interest kind, unsigned field, const char *value,
	   size_t length, uint64_t position)
{
	uint64_t hash = hash_of(kind, field, value, length);
	struct gw_link *list = bucket(interests, hash);

	for (struct gw_link *link = list->next; link != list; link = link->next) {
		struct gw_watcher *watcher = of_place(link);

		if (watcher->hash == hash && watcher->kind == kind && watcher->field == field &&
		    !strncmp(watcher->value, value, length) && watcher->value[length] == '\0')
			note(watcher, position);
	}
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
	for (size_t i = 0; i < interests->capacity; i++)
		for (struct gw_link *link = interests->buckets[i].next; link != &interests->buckets[i];
		     link = link->next)
			if (of_place(link)->kind == GW_FIELD && wants(of_place(link), change))
				note(of_place(link), position);
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
	interests->wake_all = true;
	for (size_t i = 0; i < interests->capacity; i++)
		for (struct gw_link *link = interests->buckets[i].next; link != &interests->buckets[i];
		     link = link->next)
			to_be_woken(of_place(link));
}

unsigned
gw_interests_wake(struct gw_interests *interests)
{
	unsigned count = 0;

	if (interests->wake_all) {
		interests->wake_all = false;
		for (struct gw_link *link = interests->all.next; link != &interests->all; link = link->next)
			to_be_woken(of_place(link));
	}
	while (interests->waking.next != &interests->waking) {
		struct gw_watcher *watcher = of_waking(interests->waking.next);

		list_remove(&watcher->waking);
		watcher->woken = false;
		count++;
		watcher->wake(watcher->context);
	}
	return count;
}

/* ---- reading ------------------------------------------------------------- */

int
gw_watcher_next(struct gw_watcher *watcher, uint64_t *position)
{
	const struct gw_change_log *log = watcher->interests->log;
	uint64_t end = watcher->kind == GW_ALL ? log->next : watcher->read_to;
	unsigned i;

	if (*position < watcher->read_from)
		*position = watcher->read_from;
	if (watcher->era != log->era || (*position < end && *position < log->first))
		return -ESTALE;
	for (; *position < end; ++*position)
		if (wants(watcher, gw_change_log_at(log, *position)))
			return 1;
	watcher->read_from = watcher->read_to = 0;
	for (i = 0; i < watcher->pending_count && watcher->pending[i] < *position; i++)
		;
	watcher->pending_count = (uint8_t)(watcher->pending_count - i);
	memmove(watcher->pending, watcher->pending + i, watcher->pending_count * sizeof(*watcher->pending));
	if (watcher->pending_count == 0) {
		*position = log->next;
		return 0;
	}
	if (watcher->pending[0] < log->first)
		return -ESTALE;
	*position = watcher->pending[0];
	return 1;
}
