/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle -> path -> hooks.check -> checked -> answer -+-> page, discovery, /version
 *                                                     +-> cached: get, list, watch (read_request.c)
 *                                                     +-> hooks.elsewhere
 */
#include "tools/informer-gateway/answer/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/answer/kubelet_paths.h"
#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/answer.h"
#include "tools/serving/discovery_documents.h"

#define AWAIT_MS 3000u
#define BOOKMARK_MS 60000u
#define STALL_MS 30000u

/* ---- not served here ---- */

/* Only parts of the resource are cached, and the request wants something else: name the parts. */
static void
say_part(struct gw_exchange *x)
{
	const struct gw_route *route = x->route;
	const struct gw_source *source = &route->router->options.source;
	const struct api_resource *resource = x->api.resource;
	_cleanup_(api_buf_done) struct api_buf parts = {0};

	source->parts(source->ctx, resource, &parts);
	if (route->list)
		api_status_set(&x->api.status, 400, "BadRequest",
			       "%s are cached %s alone: ask for that, or ask the API server",
			       resource->group_resource, parts.data);
	else
		api_status_set(&x->api.status, 404, "NotFound",
			       "%s \"%s\" not found: they are cached %s alone, and it is not among these",
			       resource->group_resource, x->api.name, parts.data);
}

static void
no_page(struct gw_exchange *x)
{
	const struct gw_route *route = x->route;
	struct api_status *status = &x->api.status;
	struct api_buf body = {0};
	const char *type;

	if (!api_request_is_read(&x->api) && route->path.place != API_BROKEN) {
		api_status_no_method(status);
	} else if (route->partial) {
		say_part(x);
	} else if (route->metadata_only) {
		api_status_set(
			status, 406, "NotAcceptable",
			"%s are cached as metadata alone: ask for PartialObjectMetadata, or ask the API "
			"server",
			x->api.resource->group_resource);
	} else if (route->path.plural) {
		api_status_set(status, 404, "NotFound",
			       "the server could not find the requested resource: %s are not cached here",
			       route->path.plural);
		status->has_details = true;
	} else {
		type = api_answer_no_resource(&x->api, route->router->options.source.registry, &body);
		gw_reply(x, 404, type, &body);
		return;
	}
	gw_reply_status(x);
}

static void
elsewhere(struct gw_exchange *x)
{
	const struct gw_route *route = x->route;
	const struct gw_hooks *hooks = &route->router->options.hooks;
	/* without a token, say what is cached; the API server would only say that the token is missing */
	bool here = (route->partial || route->metadata_only) && !api_request_header(&x->api, "Authorization");

	/* the API server does not have GET /pods */
	if (x->node || here || !hooks->elsewhere || !hooks->elsewhere(hooks->ctx, x))
		no_page(x);
}

static void
forbid(struct gw_exchange *x)
{
	api_status_set(&x->api.status, 403, "Forbidden", "forbidden: this listener serves nobody");
	gw_reply_status(x);
}

/* ---- pages ---- */

static bool
discovery(struct gw_exchange *x)
{
	const struct gw_router *router = x->route->router;
	struct api_buf body = {0};
	struct api_discovery page;

	if (!strcmp(x->api.url, "/version")) {
		api_version_document("informer-gateway", &body);
		gw_reply(x, 200, "application/json", &body);
		return true;
	}
	page = api_discovery_answer(&x->api, router->options.source.registry, true, &body);
	if (page.code == 0) {
		api_buf_done(&body);
		return false;
	}
	if (page.etag[0]) {
		gw_reply_header(x, "ETag", page.etag);
		gw_reply_header(x, "Vary", "Accept");
	}
	gw_reply(x, page.code, page.type, &body);
	return true;
}

static void
answer(struct gw_exchange *x)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	if (hooks->page && hooks->page(hooks->ctx, x))
		return;
	if (api_request_is_read(&x->api) && !x->api.resource && discovery(x))
		return;
	if (api_request_is_read(&x->api) && x->api.resource && api_request_is_of_objects(&x->api) &&
	    (!x->api.subresource || !strcmp(x->api.subresource, "status")) && gw_read_begin(x) == 0)
		return;
	elsewhere(x);
}

static void
checked(struct gw_exchange *x)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	if (x->passes)
		elsewhere(x);
	else if (hooks->discovery && api_request_is_read(&x->api) &&
		 api_place_is_discovery(x->api.path->place))
		hooks->discovery(hooks->ctx, x, answer);
	else
		answer(x);
}

/* ---- one request ---- */

static void
route_done(struct gw_exchange *x)
{
	struct gw_route *route = x->route;

	gw_rv_wait_cancel(&route->wait);
	if (route->store)
		route->store->close(route->store);
	api_query_done(&route->query);
	api_buf_done(&route->key);
	api_buf_done(&route->pods_of_node);
	api_path_done(&route->path);
	free(route);
	x->route = NULL;
}

void
gw_router_handle(struct gw_exchange *x, void *ctx)
{
	struct gw_router *router = ctx;
	const struct gw_hooks *hooks = &router->options.hooks;
	struct gw_route *route = api_alloc(sizeof(*route));

	*route = (struct gw_route){.router = router};
	x->route = route;
	x->done = route_done;
	x->api.offer = (struct api_offer){.protobuf = true, .drop = true};
	x->api.watch_list = true;
	if (gw_kubelet_path(x))
		return;
	api_path_parse(x->api.url, &route->path);
	api_request_locate(&x->api, &route->path, router->options.source.registry);
	route->list = x->api.resource && !x->api.name;
	route->watch = route->list && api_request_is_watch(&x->api);
	if (route->path.place == API_BROKEN)
		no_page(x);
	else if (hooks->check)
		hooks->check(hooks->ctx, x, checked);
	else
		forbid(x);
}

/* ---- creating and freeing ---- */

struct gw_router *
gw_router_new(struct gw_front *front, const struct gw_router_options *options)
{
	struct gw_router *router = api_alloc(sizeof(*router));
	struct gw_router_options *o = &router->options;

	*router = (struct gw_router){.front = front, .options = *options};
	o->await_ms = o->await_ms ? o->await_ms : AWAIT_MS;
	o->bookmark_ms = o->bookmark_ms ? o->bookmark_ms : BOOKMARK_MS;
	o->stall_ms = o->stall_ms ? o->stall_ms : STALL_MS;
	router->bodies = gw_bodies_new(router);
	return router;
}

void
gw_router_free(struct gw_router *router)
{
	if (!router)
		return;
	gw_bodies_free(router->bodies);
	free(router);
}

void
gw_router_told(struct gw_router *router, const struct api_resource *resource, uint64_t rv)
{
	gw_rv_wait_told(&router->waits, resource, rv);
}

const struct gw_router_counters *
gw_router_counters(const struct gw_router *router)
{
	return &router->counters;
}
