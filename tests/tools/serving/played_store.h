/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store for tests: a list of changes to pods that gives the state at any RV, and requests with parameters
 * from a text. One thread.
 */
#ifndef TESTS_TOOLS_SERVING_PLAYED_STORE_H
#define TESTS_TOOLS_SERVING_PLAYED_STORE_H

#include <inttypes.h>
#include <limits.h>

#include "tests/tools/serving/made_object.h"
#include "tools/serving/api_request.h"
#include "tools/serving/api_store.h"

#define PLAYED_MAX 8192

struct world {
	struct api_registry registry;
	const struct api_resource *pods;
	struct api_store store;
	struct api_event events[PLAYED_MAX]; /* position i is before event i */
	unsigned count;
	struct api_object *live[PLAYED_MAX]; /* the current objects; borrowed from the events */
	unsigned live_count;
	uint64_t rv;
	uint64_t floor;     /* the lowest RV that is served */
	unsigned forgotten; /* lower positions are gone */
	unsigned unready;   /* calls of view_ready() that say not ready; UINT_MAX: all */
	unsigned taken_at;  /* views end early, after so many objects; 0: they do not */
	bool unsynced;
	unsigned views;   /* open now */
	unsigned handed;  /* objects that views have given out */
	unsigned fetches; /* calls of events() */
};

struct api_view {
	struct world *world;
	struct api_object *items[PLAYED_MAX]; /* borrowed from the events */
	unsigned count, at;
};

static uint64_t
played_rv(void *ctx, const struct api_resource *resource)
{
	struct world *w = ctx;

	(void)resource;
	return w->unsynced ? 0 : w->rv;
}

static int
played_order(const void *a, const void *b)
{
	const struct api_object *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

/* Apply a change to the current objects. */
static void
played_apply(struct api_object **items, unsigned *count, const struct api_event *event)
{
	unsigned k = 0;

	while (k < *count && strcmp(items[k]->key, event->object->key) != 0)
		k++;
	*count += k == *count;
	items[k] = event->change == API_DELETED ? items[--*count] : event->object;
}

static int
played_view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
	    uint64_t *ret_rv, uint64_t *ret_position)
{
	struct world *w = ctx;
	struct api_view *v;

	(void)resource;
	if (w->unsynced)
		return -EAGAIN;
	if (rv && rv < w->floor)
		return -ESTALE;
	v = malloc(sizeof(*v));
	v->world = w;
	v->at = v->count = 0;
	if (!rv || rv >= w->rv) {
		v->count = w->live_count;
		memcpy(v->items, w->live, w->live_count * sizeof(*w->live));
	} else {
		for (unsigned i = 0; i < w->count && w->events[i].rv <= rv; i++)
			played_apply(v->items, &v->count, &w->events[i]);
	}
	qsort(v->items, v->count, sizeof(*v->items), played_order);
	w->views++;
	*ret_view = v;
	*ret_rv = rv ? rv : w->rv;
	if (ret_position)
		*ret_position = w->count;
	return 0;
}

static int
played_ready(struct api_view *v)
{
	unsigned *unready = &v->world->unready;

	if (*unready == 0)
		return 0;
	*unready -= *unready != UINT_MAX;
	return -EAGAIN;
}

static void
played_seek(struct api_view *v, const char *key)
{
	for (v->at = 0; v->at < v->count && strcmp(v->items[v->at]->key, key) < 0;)
		v->at++;
}

static struct api_object *
played_next(struct api_view *v)
{
	if (v->at == v->count || (v->world->taken_at && v->at >= v->world->taken_at))
		return NULL;
	v->world->handed++;
	return api_object_ref(v->items[v->at++]);
}

static int
played_error(struct api_view *v)
{
	return v->at < v->count && v->world->taken_at && v->at >= v->world->taken_at ? -ESTALE : 0;
}

static void
played_close(struct api_view *v)
{
	v->world->views--;
	free(v);
}

static struct api_object *
played_get(void *ctx, const struct api_resource *resource, const char *key)
{
	struct world *w = ctx;

	(void)resource;
	for (unsigned i = 0; i < w->live_count; i++)
		if (!strcmp(w->live[i]->key, key))
			return api_object_ref(w->live[i]);
	return NULL;
}

static int
played_position(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
		uint64_t *ret_floor)
{
	struct world *w = ctx;

	(void)resource;
	if (w->unsynced)
		return -EAGAIN;
	if (rv < w->floor) {
		*ret_floor = w->floor;
		return -ESTALE;
	}
	for (*ret_position = 0; *ret_position < w->count && w->events[*ret_position].rv <= rv;)
		++*ret_position;
	return 0;
}

static int
played_events(void *ctx, const struct api_resource *resource, uint64_t *position, struct api_event *events,
	      unsigned max, uint64_t *ret_rv)
{
	struct world *w = ctx;
	unsigned n = 0;

	(void)resource;
	w->fetches++;
	if (*position < w->forgotten)
		return -ESTALE;
	for (; n < max && *position < w->count; n++, ++*position) {
		events[n] = w->events[*position];
		api_object_ref(events[n].object);
		if (events[n].prev)
			api_object_ref(events[n].prev);
		if (events[n].frames)
			api_frames_ref(events[n].frames);
	}
	*ret_rv = w->rv;
	return (int)n;
}

static inline struct world *
world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	api_registry_init(&w->registry);
	w->pods = api_registry_find(&w->registry, "", "v1", "pods");
	w->rv = 100;
	w->store = (struct api_store){.ctx = w,
				      .rv = played_rv,
				      .view = played_view,
				      .view_ready = played_ready,
				      .view_seek = played_seek,
				      .view_next = played_next,
				      .view_error = played_error,
				      .view_close = played_close,
				      .get = played_get,
				      .position = played_position,
				      .events = played_events};
	return w;
}

static inline void
world_free(struct world *w)
{
	assert_int_equal(w->views, 0);
	api_events_done(w->events, w->count);
	api_registry_done(&w->registry);
	free(w);
}

/* cmocka's: *state is an empty world. */
SET_UP(world_set_up, world_new())
TEAR_DOWN(world_tear_down, world_free)

/* Add or change a pod, with so many more bytes in an annotation, at the next RV. Texts may be NULL. */
static inline struct api_event *
put_pod_of(struct world *w, const char *namespace_, const char *name, const char *app, const char *node,
	   size_t bytes)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};
	struct api_event *event = &w->events[w->count];
	struct api_object *object;

	api_buf_printf(&text,
		       "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"labels\":{\"app\":\"%s\"}",
		       name, namespace_, app ? app : "none");
	if (bytes > 0)
		api_buf_printf(&text, ",\"annotations\":{\"a\":\"%0*d\"}", (int)bytes, 0);
	api_buf_printf(&text, "},\"spec\":{\"nodeName\":\"%s\"}}", node ? node : "");
	object = made_object(w->pods, text.data);
	sim_object_stamp(object, ++w->rv);
	*event = (struct api_event){.rv = w->rv,
				    .object = object,
				    .prev = played_get(w, w->pods, object->key),
				    .frames = api_frames_new(NULL)};
	event->change = event->prev ? API_MODIFIED : API_ADDED;
	played_apply(w->live, &w->live_count, event);
	w->count++;
	return event;
}

static inline struct api_event *
put_pod(struct world *w, const char *namespace_, const char *name, const char *app, const char *node)
{
	return put_pod_of(w, namespace_, name, app, node, 0);
}

static inline void
delete_pod(struct world *w, const char *key)
{
	struct api_object *object = played_get(w, w->pods, key);

	assert_non_null(object);
	w->events[w->count++] = (struct api_event){.change = API_DELETED,
						   .rv = ++w->rv,
						   .object = object,
						   .prev = api_object_ref(object),
						   .frames = api_frames_new(NULL)};
	played_apply(w->live, &w->live_count, &w->events[w->count - 1]);
}

/* ---- requests --------------------------------------------------------------- */

struct ask {
	struct api_request api; /* the first member: api_request leads to it */
	const char *query;      /* "limit=2&watch" */
	const char *accept;
	char values[16][256];
	unsigned used;
};

static bool
asked_value(const struct api_request *request, enum MHD_ValueKind kind, const char *name,
	    const char **ret_value)
{
	struct ask *ask = (struct ask *)(uintptr_t)request;
	size_t len = strlen(name);

	if (kind != MHD_GET_ARGUMENT_KIND) {
		*ret_value = strcmp(name, "Accept") == 0 ? ask->accept : NULL;
		return *ret_value != NULL;
	}
	for (const char *at = ask->query; at && *at; at += strcspn(at, "&"), at += *at == '&') {
		char *value;

		if (strncmp(at, name, len) != 0 || (at[len] && at[len] != '=' && at[len] != '&'))
			continue;
		*ret_value = NULL;
		if (at[len] != '=')
			return true;
		value = ask->values[ask->used++ % 16];
		snprintf(value, sizeof(ask->values[0]), "%.*s", (int)strcspn(at + len + 1, "&"),
			 at + len + 1);
		*ret_value = value;
		return true;
	}
	return false;
}

/* A GET of pods, of all namespaces if namespace_ is NULL, with its form chosen. Free its status. */
static inline struct ask
ask_for(struct world *w, const char *namespace_, const char *query, const char *accept)
{
	struct ask ask = {.api = {.value = asked_value,
				  .method = "GET",
				  .url = "/",
				  .watch_list = true,
				  .offer = {.protobuf = true, .drop = true},
				  .resource = w->pods,
				  .namespace_ = namespace_},
			  .query = query,
			  .accept = accept};

	assert_int_equal(api_request_choose_shape(&ask.api), 0);
	return ask;
}

#define AS_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define AS_METADATA "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
#define AS_METADATA_LIST "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

#endif
