/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins views, logs and watchers under the interface of a store.
 */
#include "tools/informer-gateway/views/arena_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/views/history.h"

static uint64_t
newest_rv(void *ctx, const struct api_resource *resource)
{
	const struct gw_store *store = ctx;

	(void)resource;
	return store->entry->feed.begun ? store->entry->feed.log.told : 0;
}

static int
open_view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
	  uint64_t *ret_rv, uint64_t *ret_position)
{
	const struct gw_store *store = ctx;
	struct gw_view *view;
	int r = gw_view_open(store->entry, rv, &view, ret_rv, ret_position);

	(void)resource;
	if (r == 0)
		*ret_view = (struct api_view *)view;
	return r == 0 || r == -ESTALE ? r : -EAGAIN;
}

static void
narrow_view(struct api_view *view, const char *namespace_, const struct api_query *query)
{
	struct gw_hint hint;

	gw_hint_init(&hint, namespace_, query);
	gw_view_narrow((struct gw_view *)view, &hint);
	gw_hint_done(&hint);
}

static void
seek_view(struct api_view *view, const char *key)
{
	gw_view_seek((struct gw_view *)view, key);
}

static struct api_object *
next_of_view(struct api_view *view)
{
	return gw_view_next((struct gw_view *)view);
}

static uint64_t
count_in_view(struct api_view *view, const char *prefix)
{
	return gw_view_count((struct gw_view *)view, prefix);
}

static void
hold_view(struct api_view *view)
{
	gw_view_hold((struct gw_view *)view);
}

static int
error_of_view(struct api_view *view)
{
	return gw_view_error((struct gw_view *)view) < 0 ? -ESTALE : 0;
}

static void
close_view(struct api_view *view)
{
	gw_view_close((struct gw_view *)view);
}

static struct api_object *
get(void *ctx, const struct api_resource *resource, const char *key)
{
	const struct gw_store *store = ctx;

	(void)resource;
	return gw_view_get(store->entry, key);
}

static int
position_of(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
	    uint64_t *ret_floor)
{
	struct gw_store *store = ctx;
	const struct gw_change_log *log = &store->entry->feed.log;
	int r;

	(void)resource;
	if (store->watching && store->watcher.era != log->era && rv > log->told)
		return -ESTALE; /* it has lost its place, and this history does not reach its RV */
	if (store->watching)
		gw_watcher_restart(&store->watcher);
	r = gw_change_log_position(log, rv, ret_position);
	if (r == -ESTALE) {
		r = gw_history_extend(store->entry);
		if (r == 0)
			r = gw_change_log_position(log, rv, ret_position);
	}
	*ret_floor = log->floor;
	return r;
}

/* The next position at which there is something for this store. As gw_watcher_next(). */
static int
next_position(struct gw_store *store, uint64_t *position)
{
	const struct gw_change_log *log = &store->entry->feed.log;

	if (store->watching)
		return gw_watcher_next(&store->watcher, position);
	return *position < log->first ? -ESTALE : *position < log->next;
}

static int
take_events(void *ctx, const struct api_resource *resource, uint64_t *position, struct api_event *events,
	    unsigned max, uint64_t *ret_rv)
{
	struct gw_store *store = ctx;
	struct gw_change_log *log = &store->entry->feed.log;
	unsigned n = 0;
	int r = 1;

	(void)resource;
	while (n < max && (r = next_position(store, position)) > 0)
		gw_change_log_event(log, (*position)++, &events[n++]);
	if (r < 0 && n == 0)
		return r;
	if (n == 0)
		*ret_rv = log->told;
	return (int)n;
}

/* ---- life ---------------------------------------------------------------- */

void
gw_store_init(struct gw_store *store, struct gw_entry *entry)
{
	*store = (struct gw_store){
		.api = {.ctx = store,
			.rv = newest_rv,
			.view = open_view,
			.view_narrow = narrow_view,
			.view_seek = seek_view,
			.view_next = next_of_view,
			.view_count = count_in_view,
			.view_hold = hold_view,
			.view_error = error_of_view,
			.view_close = close_view,
			.get = get,
			.position = position_of,
			.events = take_events},
		.entry = entry,
	};
}

void
gw_store_done(struct gw_store *store)
{
	if (store->watching)
		gw_watcher_remove(&store->watcher);
	store->watching = false;
}

/* The most selective thing that the hint says. */
void
gw_store_watch(struct gw_store *store, const struct gw_hint *hint, void (*wake)(void *context), void *context)
{
	struct gw_interests *interests = &store->entry->feed.interests;
	_cleanup_(api_buf_done) struct api_buf key = {0};

	store->watcher = (struct gw_watcher){.wake = wake, .context = context};
	if (hint->name && (hint->namespace_ || !store->entry->resource->namespaced)) {
		api_buf_printf(&key, hint->namespace_ ? "%s/%s" : "%s%s",
			       hint->namespace_ ? hint->namespace_ : "", hint->name);
		store->watcher.kind = GW_KEY;
		gw_watcher_add(interests, &store->watcher, key.data);
	} else if (hint->value) {
		store->watcher.kind = GW_FIELD;
		store->watcher.field = hint->field;
		gw_watcher_add(interests, &store->watcher, hint->value);
	} else if (hint->namespace_) {
		store->watcher.kind = GW_NAMESPACE;
		gw_watcher_add(interests, &store->watcher, hint->namespace_);
	} else {
		gw_watcher_add(interests, &store->watcher, NULL);
	}
	store->watching = true;
}
