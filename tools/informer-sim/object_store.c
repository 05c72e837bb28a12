/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: tables, RV counter and event rings under one mutex. Objects that leave a ring are released after
 * unlocking, because freeing costs more than the rest of a commit.
 */
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/object_store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void
cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static struct timespec
deadline(unsigned timeout_ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += timeout_ms / 1000;
	at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

struct sim_store *
sim_store_new(size_t history, uint64_t start_rv)
{
	struct sim_store *store = api_alloc(sizeof(*store));

	memset(store, 0, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
	cond_init(&store->rv_changed);
	store->rv = start_rv;
	store->history = history ? history : 1;
	store->count = API_RESOURCES_MAX;
	for (unsigned i = 0; i < store->count; i++) {
		cond_init(&store->shelves[i].changed);
		store->shelves[i].floor = start_rv;
	}
	return store;
}

void
sim_store_free(struct sim_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < store->count; i++) {
		struct shelf *shelf = &store->shelves[i];

		for (uint64_t at = shelf->first; at < shelf->next; at++)
			api_events_done(&shelf->ring[at % store->history], 1);
		free(shelf->ring);
		sim_key_chunks_done(&shelf->table);
		pthread_cond_destroy(&shelf->changed);
	}
	pthread_cond_destroy(&store->rv_changed);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

/* ---- counters ------------------------------------------------------------- */

uint64_t
sim_store_rv(struct sim_store *store)
{
	uint64_t rv;

	pthread_mutex_lock(&store->lock);
	rv = store->rv;
	pthread_mutex_unlock(&store->lock);
	return rv;
}

uint64_t
sim_store_changes(struct sim_store *store)
{
	uint64_t changes;

	pthread_mutex_lock(&store->lock);
	changes = store->changes;
	pthread_mutex_unlock(&store->lock);
	return changes;
}

size_t
sim_store_count(struct sim_store *store, const struct api_resource *resource)
{
	size_t count;

	pthread_mutex_lock(&store->lock);
	count = store->shelves[resource->index].table.count;
	pthread_mutex_unlock(&store->lock);
	return count;
}

uint64_t
sim_store_floor(struct sim_store *store, const struct api_resource *resource)
{
	uint64_t floor;

	pthread_mutex_lock(&store->lock);
	floor = store->shelves[resource->index].floor;
	pthread_mutex_unlock(&store->lock);
	return floor;
}

/* Lock held. */
static void
forget(struct sim_store *store, struct shelf *shelf)
{
	for (; shelf->first < shelf->next; shelf->first++)
		api_events_done(&shelf->ring[shelf->first % store->history], 1);
	shelf->floor = store->rv;
}

void
sim_store_compact(struct sim_store *store)
{
	pthread_mutex_lock(&store->lock);
	for (unsigned i = 0; i < store->count; i++)
		forget(store, &store->shelves[i]);
	pthread_mutex_unlock(&store->lock);
}

void
sim_store_forget(struct sim_store *store, const struct api_resource *resource)
{
	pthread_mutex_lock(&store->lock);
	forget(store, &store->shelves[resource->index]);
	pthread_mutex_unlock(&store->lock);
}

int
sim_store_wait_rv(struct sim_store *store, uint64_t rv, unsigned timeout_ms, uint64_t *ret_current)
{
	struct timespec at = deadline(timeout_ms);
	int r = 0;

	pthread_mutex_lock(&store->lock);
	store->rv_waiters++;
	while (store->rv < rv && !store->stopped && r == 0)
		r = pthread_cond_timedwait(&store->rv_changed, &store->lock, &at);
	store->rv_waiters--;
	*ret_current = store->rv;
	r = store->rv < rv ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&store->lock);
	return r;
}

/* ---- objects -------------------------------------------------------------- */

struct api_object *
sim_store_get(struct sim_store *store, const struct api_resource *resource, const char *key)
{
	struct api_object *object;

	pthread_mutex_lock(&store->lock);
	object = sim_key_chunks_get(&store->shelves[resource->index].table, key);
	if (object)
		api_object_ref(object);
	pthread_mutex_unlock(&store->lock);
	return object;
}

struct api_object *
sim_store_pick(struct sim_store *store, const struct api_resource *resource, size_t chunk, size_t item)
{
	struct api_object *object;

	pthread_mutex_lock(&store->lock);
	object = sim_key_chunks_pick(&store->shelves[resource->index].table, chunk, item);
	if (object)
		api_object_ref(object);
	pthread_mutex_unlock(&store->lock);
	return object;
}

/* Append to the ring. *ret_evicted: the event that left it, object NULL: none. Lock held. */
static void
record(struct sim_store *store, struct shelf *shelf, enum api_change change, struct api_object *object,
       struct api_object *prev, struct api_event *ret_evicted)
{
	struct api_event *slot;

	if (!shelf->ring)
		shelf->ring = api_alloc(store->history * sizeof(*shelf->ring));
	slot = &shelf->ring[shelf->next % store->history];
	*ret_evicted = (struct api_event){0};
	if (shelf->next - shelf->first == store->history) {
		*ret_evicted = *slot;
		shelf->first++;
	}
	*slot = (struct api_event){.change = change,
				   .rv = store->rv,
				   .object = api_object_ref(object),
				   .prev = prev ? api_object_ref(prev) : NULL};
	shelf->next++;
	if (ret_evicted->object)
		shelf->floor = shelf->ring[shelf->first % store->history].rv - 1;
	store->changes++;
	pthread_cond_broadcast(&shelf->changed);
	if (store->rv_waiters)
		pthread_cond_broadcast(&store->rv_changed);
}

int
sim_store_create(struct sim_store *store, const struct api_resource *resource, struct api_object *object)
{
	struct shelf *shelf = &store->shelves[resource->index];
	struct api_event evicted;

	pthread_mutex_lock(&store->lock);
	if (sim_key_chunks_get(&shelf->table, object->key)) {
		pthread_mutex_unlock(&store->lock);
		return -EEXIST;
	}
	sim_object_stamp(object, ++store->rv);
	sim_key_chunks_put(&shelf->table, api_object_ref(object));
	record(store, shelf, API_ADDED, object, NULL, &evicted);
	pthread_mutex_unlock(&store->lock);
	api_events_done(&evicted, 1);
	return 0;
}

int
sim_store_update(struct sim_store *store, const struct api_resource *resource, struct api_object *old,
		 struct api_object *object)
{
	struct shelf *shelf = &store->shelves[resource->index];
	struct api_event evicted;
	struct api_object *replaced;

	pthread_mutex_lock(&store->lock);
	if (sim_key_chunks_get(&shelf->table, object->key) != old) {
		pthread_mutex_unlock(&store->lock);
		return -ESTALE;
	}
	sim_object_stamp(object, ++store->rv);
	replaced = sim_key_chunks_put(&shelf->table, api_object_ref(object));
	record(store, shelf, API_MODIFIED, object, replaced, &evicted);
	pthread_mutex_unlock(&store->lock);
	api_object_unref(replaced);
	api_events_done(&evicted, 1);
	return 0;
}

int
sim_store_delete(struct sim_store *store, const struct api_resource *resource, struct api_object *old,
		 uint64_t *ret_rv)
{
	struct shelf *shelf = &store->shelves[resource->index];
	struct api_event evicted;
	struct api_object *removed;

	pthread_mutex_lock(&store->lock);
	if (sim_key_chunks_get(&shelf->table, old->key) != old) {
		pthread_mutex_unlock(&store->lock);
		return -ESTALE;
	}
	*ret_rv = ++store->rv;
	removed = sim_key_chunks_remove(&shelf->table, old->key);
	record(store, shelf, API_DELETED, removed, removed, &evicted);
	pthread_mutex_unlock(&store->lock);
	api_object_unref(removed);
	api_events_done(&evicted, 1);
	return 0;
}

/* ---- watching ------------------------------------------------------------- */

int
sim_store_position(struct sim_store *store, const struct api_resource *resource, uint64_t rv,
		   uint64_t *ret_position, uint64_t *ret_floor)
{
	struct shelf *shelf = &store->shelves[resource->index];
	uint64_t low, high;
	int r = 0;

	pthread_mutex_lock(&store->lock);
	if (rv < shelf->floor) {
		*ret_floor = shelf->floor;
		r = -ESTALE;
	} else {
		low = shelf->first;
		high = shelf->next;
		while (low < high) {
			uint64_t middle = low + (high - low) / 2;

			if (shelf->ring[middle % store->history].rv <= rv)
				low = middle + 1;
			else
				high = middle;
		}
		*ret_position = low;
	}
	pthread_mutex_unlock(&store->lock);
	return r;
}

int
sim_store_events(struct sim_store *store, const struct api_resource *resource, uint64_t *position,
		 struct api_event *events, unsigned max, uint64_t *ret_rv)
{
	struct shelf *shelf = &store->shelves[resource->index];
	unsigned n = 0;

	pthread_mutex_lock(&store->lock);
	if (*position < shelf->first) {
		pthread_mutex_unlock(&store->lock);
		return -ESTALE;
	}
	for (; n < max && *position < shelf->next; n++, (*position)++) {
		const struct api_event *event = &shelf->ring[*position % store->history];

		events[n] = *event;
		api_object_ref(event->object);
		if (event->prev)
			api_object_ref(event->prev);
	}
	*ret_rv = store->rv;
	pthread_mutex_unlock(&store->lock);
	return (int)n;
}

void
sim_store_wait(struct sim_store *store, const struct api_resource *resource, uint64_t position,
	       unsigned timeout_ms)
{
	struct shelf *shelf = &store->shelves[resource->index];
	struct timespec at = deadline(timeout_ms);
	unsigned wakes;
	int r = 0;

	pthread_mutex_lock(&store->lock);
	wakes = store->wakes;
	while (shelf->next <= position && !store->stopped && wakes == store->wakes && r == 0)
		r = pthread_cond_timedwait(&shelf->changed, &store->lock, &at);
	pthread_mutex_unlock(&store->lock);
}

void
sim_store_wake(struct sim_store *store)
{
	pthread_mutex_lock(&store->lock);
	store->wakes++;
	for (unsigned i = 0; i < store->count; i++)
		pthread_cond_broadcast(&store->shelves[i].changed);
	pthread_mutex_unlock(&store->lock);
}

uint64_t
sim_store_end(struct sim_store *store, const struct api_resource *resource)
{
	uint64_t end;

	pthread_mutex_lock(&store->lock);
	end = store->shelves[resource->index].next;
	pthread_mutex_unlock(&store->lock);
	return end;
}

bool
sim_store_lost(struct sim_store *store, const struct api_resource *resource, uint64_t position)
{
	bool lost;

	pthread_mutex_lock(&store->lock);
	lost = position < store->shelves[resource->index].first;
	pthread_mutex_unlock(&store->lock);
	return lost;
}

void
sim_store_stop(struct sim_store *store)
{
	pthread_mutex_lock(&store->lock);
	store->stopped = true;
	pthread_cond_broadcast(&store->rv_changed);
	for (unsigned i = 0; i < store->count; i++)
		pthread_cond_broadcast(&store->shelves[i].changed);
	pthread_mutex_unlock(&store->lock);
}

bool
sim_store_stopped(struct sim_store *store)
{
	bool stopped;

	pthread_mutex_lock(&store->lock);
	stopped = store->stopped;
	pthread_mutex_unlock(&store->lock);
	return stopped;
}
