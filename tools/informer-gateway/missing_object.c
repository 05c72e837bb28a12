/* SPDX-License-Identifier: Apache-2.0 */
/* What is not there when it is asked for; see missing_object.h. */
#include "tools/informer-gateway/missing_object.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-gateway/arena_view.h"
#include "tools/informer-gateway/deleted_object.h"
#include "tools/informer-gateway/gateway_config.h"
#include "tools/informer-gateway/router_private.h"
#include "tools/informer-gateway/token_review.h"
#include "tools/serving/answer.h"
#include "tools/serving/doc.h"

struct missing {
	struct gw_exchange *x;
	gw_next *next;
	struct gw_miss_wait *wait;
	char *bearer;
};

static void
missing_free(struct missing *m)
{
	if (m->bearer)
		explicit_bzero(m->bearer, strlen(m->bearer));
	free(m->bearer);
	free(m);
}

static void
key_of(const char *namespace_, const char *name, struct api_buf *key)
{
	if (namespace_)
		api_buf_printf(key, "%s/", namespace_);
	api_buf_puts(key, name);
}

/* Answer with an object, in the shape that was asked for. */
static void
show(struct gw_exchange *x, struct api_object *object)
{
	struct api_buf body = {0};
	const char *type = api_answer_object(&x->api, object, 0, &body);

	x->rv = object->rv;
	gw_reply(x, 200, type, &body);
}

/* What upstream has, as what we would have. Returns whether it is an object of the resource. */
static bool
show_json(struct gw_exchange *x, const char *json, size_t length)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	struct api_object_error wrong;
	struct api_doc_error error;

	if (api_doc_parse(&doc, json, length, NULL, &error) < 0 ||
	    api_object_new(x->api.resource, &doc, &object, &wrong) < 0)
		return false;
	show(x, object);
	return true;
}

static void
later(struct gw_exchange *x)
{
	api_status_set(&x->api.status, 429, "TooManyRequests",
		       "it is not in the cache, and the API server cannot be asked about it now");
	x->api.status.retry_after = 1;
	gw_reply_status(x);
}

static void
refused(struct gw_exchange *x, int code)
{
	if (code == 401)
		api_status_set(&x->api.status, 401, "Unauthorized", "Unauthorized");
	else
		api_status_set(&x->api.status, 403, "Forbidden",
			       "it is not in the cache, and the API server does not tell about it");
	gw_reply_status(x);
}

static void
show_from_arena(struct gw_exchange *x, gw_next *next)
{
	const struct api_store *store = x->route->place->store;
	_cleanup_(api_buf_done) struct api_buf key = {0};
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;

	key_of(x->api.namespace_, x->api.name, &key);
	object = store->get(store->ctx, x->api.resource, key.data);
	if (object)
		show(x, object);
	else
		next(x);
}

static void
answered(void *ctx, enum gw_miss result, int code, const char *json, size_t length)
{
	struct missing *m = ctx;
	struct gw_exchange *x = m->x;
	gw_next *next = m->next;

	missing_free(m);
	gw_on_gone(x, NULL, NULL);
	switch (result) {
	case GW_MISS_THERE:
		show_from_arena(x, next);
		break;
	case GW_MISS_FOUND:
		if (!show_json(x, json, length))
			later(x);
		break;
	case GW_MISS_ABSENT:
		next(x);
		break;
	case GW_MISS_REFUSED:
		refused(x, code);
		break;
	case GW_MISS_LATER:
		later(x);
		break;
	}
}

static void
gone(void *ctx)
{
	struct missing *m = ctx;

	gw_miss_cancel(m->wait);
	missing_free(m);
}

/*
 * Whoever showed a token is asked for with it. Elsewhere there is none, and what may be seen is the
 * listener's scope, which has let the request in.
 */
static void
ask(struct gw_misses *misses, struct gw_exchange *x, gw_next *next, bool tokens)
{
	struct missing *m = api_alloc(sizeof(*m));
	size_t length = 0;
	const char *token = tokens ? gw_bearer_token(api_request_header(&x->api, "Authorization"), &length)
				   : NULL;

	*m = (struct missing){.x = x, .next = next};
	if (tokens && !token) {
		missing_free(m);
		next(x);
		return;
	}
	m->bearer = token ? api_strndup(token, length) : NULL;
	gw_on_gone(x, gone, m);
	m->wait = gw_miss_ask(misses, x->api.resource, x->api.namespace_, x->api.name, m->bearer, answered,
			      m);
}

/* A reference to what was deleted a short while ago, or NULL. */
static struct api_object *
deleted(struct gw_arena *arena, const struct gw_exchange *x, uint64_t within_ms)
{
	struct gw_reading reading = {0};
	struct informer_object found;
	struct api_object *object = NULL;
	struct gw_entry *entry;
	struct timespec now;

	if (gw_resources_find(arena, x->api.resource, x->api.namespace_, NULL, NULL, &entry) < 0 ||
	    gw_entry_begin(entry, &reading) < 0)
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
gw_missing_object(struct gw_misses *misses, struct gw_arena *arena, struct gw_exchange *x, gw_next *next)
{
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;

	if (listener->deleted_for_ms)
		object = deleted(arena, x, listener->deleted_for_ms);
	if (object)
		show(x, object);
	else if (misses && listener->misses_ask)
		ask(misses, x, next, listener->profile == GW_PROFILE_TOKENS);
	else
		next(x);
}

bool
gw_arena_has(void *ctx, const struct api_resource *resource, const char *namespace_, const char *name)
{
	_cleanup_(api_buf_done) struct api_buf key = {0};
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	struct gw_entry *entry;

	if (gw_resources_find(ctx, resource, namespace_, NULL, NULL, &entry) < 0)
		return false;
	key_of(namespace_, name, &key);
	object = gw_view_get(entry, key.data);
	return object != NULL;
}
