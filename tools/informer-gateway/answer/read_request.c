/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that GET, LIST and WATCH of a cached resource share:
 *
 *   store -> parameters and shape -+-> x->reads.newest_elsewhere, or only metadata is cached: -ENOENT
 *                                  +-> compare RVs -+-> the store has the requested RV: answer
 *                                                   +-> wait for the RV -> answer, or 504
 *
 * A watch reports the 504 in an event.
 */
#include <errno.h>

#include "tools/informer-gateway/answer/routing.h"

/* ---- waiting for the RV ---- */

/* The lowest RV that the client accepts. */
static uint64_t
least(const struct gw_exchange *x)
{
	const struct api_query *query = &x->route->query;

	return x->route->list ? api_query_least_rv(query) : query->rv;
}

static void
answer(struct gw_exchange *x)
{
	if (x->route->watch)
		gw_answer_watch(x);
	else if (x->route->list)
		gw_answer_list(x);
	else
		gw_answer_get(x);
}

static void
on_waited(struct gw_exchange *x, bool reached)
{
	if (reached) {
		answer(x);
		return;
	}
	x->route->router->counters.too_large++;
	api_status_too_large_rv(&x->api.status, x->route->wait.rv, gw_read_rv(x));
	if (x->route->watch)
		gw_answer_watch(x);
	else
		gw_reply_status(x);
}

static void
answer_at_its_rv(struct gw_exchange *x)
{
	const struct gw_router *router = x->route->router;
	uint64_t rv = gw_read_rv(x), wanted = least(x), now = uv_now(gw_front_loop(router->front));

	if (rv == 0) {
		api_status_not_ready(&x->api.status);
		gw_reply_status(x);
		return;
	}
	if (rv >= wanted) {
		answer(x);
		return;
	}
	gw_rv_wait_begin(x, wanted, now + router->options.await_ms, on_waited);
}

/* ---- begin ---- */

int
gw_read_begin(struct gw_exchange *x)
{
	struct gw_route *route = x->route;
	int r = gw_read_open(x, &route->store);

	route->partial = r == -EXDEV;
	if (r < 0)
		return -ENOENT;
	if (api_request_choose_shape(&x->api) < 0 || api_query_parse(&x->api, &route->query) < 0) {
		gw_reply_status(x);
		return 0;
	}
	x->api.shape.unversioned = x->node != NULL;
	route->metadata_only = route->store->metadata_only && x->api.shape.kind != API_PARTIAL &&
			       x->api.shape.kind != API_PARTIAL_LIST;
	/* only the server that answered the first page can continue a list */
	if (route->metadata_only || (x->reads.newest_elsewhere && !route->query.rv_given)) {
		route->store->close(route->store);
		route->store = NULL;
		return -ENOENT;
	}
	answer_at_its_rv(x);
	return 0;
}
