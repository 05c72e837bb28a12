/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles a GET by name that found nothing, as its listener is configured:
 *
 *	deletedFor    answer with the deleted object (deleted_object.h)
 *	misses: wait  wait for the object (object_wait.h)
 *	else          404
 */
#include "tools/informer-gateway/gateway.h"

#include <time.h>

#include "tools/informer-gateway/answer/object_wait.h"
#include "tools/informer-gateway/arena/deleted_object.h"
#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-gateway/views/arena_view.h"

/* A reference to an object deleted within the last within_ms, or NULL. */
static struct api_object *
deleted(struct gw_arena *arena, const struct gw_exchange *x, uint64_t within_ms)
{
	struct gw_reading reading = {0};
	struct informer_object found;
	struct api_object *object = NULL;
	const struct gw_want want = {.resource = x->api.resource, .namespace_ = x->api.namespace_};
	struct gw_entry *entry;
	struct timespec now;

	if (gw_resources_find(arena, &want, &entry) < 0 || gw_entry_begin(entry, &reading) < 0)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	if (gw_deleted_object(&reading.snapshot, reading.resource, x->api.namespace_, x->api.name,
			      within_ms * 1000000, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
			      &found) < 0 ||
	    gw_object_make(&entry->maker, &found, &object) < 0)
		object = NULL;
	gw_reading_end(&reading);
	return object;
}

void
gw_missing_object(void *ctx, struct gw_exchange *x, gw_next *next)
{
	const struct gateway *g = ctx;
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;

	if (listener->deleted_for_ms)
		object = deleted(g->arena, x, listener->deleted_for_ms);
	if (object)
		gw_reply_object(x, object);
	else if (listener->misses_wait)
		gw_object_wait(x, next);
	else
		next(x);
}
