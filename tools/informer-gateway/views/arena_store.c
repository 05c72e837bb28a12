/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the store interface with views, logs and watchers. */
#include "tools/informer-gateway/views/arena_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/views/arena_view.h"
#include "tools/informer-gateway/views/history.h"

/* watcher.interests: NULL if it does not watch. */
struct arena_store {
	struct gw_store store; /* first, for of() */
	struct gw_entry *entry;
	struct gw_watcher watcher;
	char warning[160];
};

/* ---- callbacks for lists and watches ----------------------------------------- */

static uint64_t
newest_rv(void *ctx, const struct api_resource *resource)
{
	const struct arena_store *s = ctx;

	(void)resource;
	return s->entry->feed.begun ? s->entry->feed.log.told : 0;
}

static int
open_view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
	  uint64_t *ret_rv, uint64_t *ret_position)
{
	const struct arena_store *s = ctx;

	(void)resource;
	return gw_view_open(s->entry, rv, ret_view, ret_rv, ret_position);
}

static int
choose_in_view(struct api_view *view, const char *namespace_, const struct api_query *query)
{
	struct gw_hint hint;

	gw_hint_init(&hint, namespace_, query);
	return gw_view_choose(view, &hint);
}

static struct api_object *
get(void *ctx, const struct api_resource *resource, const char *key)
{
	const struct arena_store *s = ctx;
	struct gw_reading reading;
	struct api_object *object = NULL;
	struct informer_object found;

	(void)resource;
	if (gw_entry_begin(s->entry, &reading) < 0)
		return NULL;
	if (informer_get_key(&reading.snapshot, reading.resource, key, strlen(key), &found) == 0 &&
	    informer_object_position(&found) == s->entry->position &&
	    gw_object_make(&s->entry->maker, &found, &object) < 0)
		object = NULL;
	gw_reading_end(&reading);
	return object;
}

static int
position_of(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
	    uint64_t *ret_floor)
{
	struct arena_store *s = ctx;
	const struct gw_change_log *log = &s->entry->feed.log;
	bool watching = s->watcher.interests != NULL;
	int r;

	(void)resource;
	if (watching && s->watcher.era != log->era && rv > log->told)
		return -ESTALE; /* the watcher lost its position, and the new log does not reach its RV */
	if (watching)
		gw_watcher_restart(&s->watcher);
	r = gw_change_log_position(log, rv, ret_position);
	if (r == -ESTALE) {
		r = gw_history_extend(s->entry);
		if (r == 0)
			r = gw_change_log_position(log, rv, ret_position);
	}
	*ret_floor = log->floor;
	return r;
}

/* Find the next position with a change for this store. As gw_watcher_next(). */
static int
next_position(struct arena_store *s, uint64_t *position)
{
	const struct gw_change_log *log = &s->entry->feed.log;

	if (s->watcher.interests)
		return gw_watcher_next(&s->watcher, position);
	return *position < log->first ? -ESTALE : *position < log->next;
}

static int
take_events(void *ctx, const struct api_resource *resource, uint64_t *position, struct api_event *events,
	    unsigned max, uint64_t *ret_rv)
{
	struct arena_store *s = ctx;
	struct gw_change_log *log = &s->entry->feed.log;
	unsigned n = 0;
	int r = 1;

	(void)resource;
	while (n < max && (r = next_position(s, position)) > 0)
		gw_change_log_event(log, (*position)++, &events[n++]);
	if (r < 0 && n == 0)
		return r;
	if (n == 0)
		*ret_rv = log->told;
	return (int)n;
}

/* ---- for requests ------------------------------------------------------------ */

static struct arena_store *
of(struct gw_store *store)
{
	return (struct arena_store *)(void *)store;
}

static void
close_store(struct gw_store *store)
{
	gw_watcher_remove(&of(store)->watcher);
	free(store);
}

/* Register the watcher by the most selective part of the query. */
static void
watch(struct gw_store *store, const char *namespace_, const struct api_query *query, void (*wake)(void *ctx),
      void *ctx)
{
	struct arena_store *s = of(store);
	struct gw_interests *interests = &s->entry->feed.interests;
	_cleanup_(api_buf_done) struct api_buf key = {0};
	_cleanup_(gw_hint_done) struct gw_hint hint;

	gw_hint_init(&hint, namespace_, query);
	s->watcher = (struct gw_watcher){.wake = wake, .context = ctx};
	if (gw_hint_names_one(&hint, s->entry->resource)) {
		api_object_key(&key, hint.namespace_, hint.name);
		gw_watcher_add(interests, &s->watcher, GW_KEY, key.data);
	} else if (hint.value) {
		gw_watcher_add(interests, &s->watcher, GW_FIELD + hint.field, hint.value);
	} else if (hint.namespace_) {
		gw_watcher_add(interests, &s->watcher, GW_NAMESPACE, hint.namespace_);
	} else {
		gw_watcher_add(interests, &s->watcher, GW_ALL, "");
	}
}

static const char *
warning(struct gw_store *store)
{
	struct arena_store *s = of(store);
	uint64_t age = gw_entry_age_ns(s->entry);

	if (age == UINT64_MAX)
		return "how old this is is not known: informerd is away, or has not heard of the API server";
	if (age < GW_STALE_NS)
		return NULL;
	snprintf(s->warning, sizeof(s->warning),
		 "the API server was last heard of %" PRIu64 " s ago: this may be as old", age / 1000000000u);
	return s->warning;
}

struct gw_store *
gw_store_new(struct gw_entry *entry)
{
	struct arena_store *s = api_alloc(sizeof(*s));

	*s = (struct arena_store){
		.store = {.api = {.ctx = s,
				  .rv = newest_rv,
				  .view = open_view,
				  .view_choose = choose_in_view,
				  .view_ready = gw_view_ready,
				  .view_seek = gw_view_seek,
				  .view_next = gw_view_next,
				  .view_count = gw_view_count,
				  .view_hold = gw_view_hold,
				  .view_error = gw_view_error,
				  .view_close = gw_view_close,
				  .get = get,
				  .position = position_of,
				  .events = take_events},
			  .metadata_only = entry->metadata_only,
			  .close = close_store,
			  .watch = watch,
			  .warning = warning},
		.entry = entry,
	};
	return &s->store;
}

static int
open_store(void *ctx, const struct gw_want *want, struct gw_store **ret_store)
{
	struct gw_entry *entry;
	int r = gw_resources_find(ctx, want, &entry);

	if (r == 0)
		*ret_store = gw_store_new(entry);
	return r;
}

struct gw_source
gw_arena_source(struct gw_arena *arena)
{
	return (struct gw_source){
		.ctx = arena, .registry = &arena->registry, .open = open_store, .parts = gw_resources_parts};
}
