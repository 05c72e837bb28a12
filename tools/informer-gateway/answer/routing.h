/* SPDX-License-Identifier: Apache-2.0 */
/* Routing: the state of one request inside the router, for router.c and the files that answer. */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_H

#include "tools/informer-gateway/answer/hooks.h"
#include "tools/informer-gateway/answer/routing_wait.h"
#include "tools/informer-gateway/http/front.h"
#include "tools/serving/query.h"

struct gw_bodies;

struct gw_router {
	struct gw_front *front;
	struct gw_router_options options;
	struct gw_rv_waits waits; /* routing_wait.c */
	struct gw_bodies *bodies; /* see list_body.h */
	struct gw_router_counters counters;
};

/* The router's state of one exchange, from routing to its end. */
struct gw_route {
	struct gw_router *router;
	struct api_path path;
	struct api_query query;
	struct gw_store *store; /* NULL: none is open */
	struct gw_rv_wait wait; /* for the requested RV, or for an object (object_wait.h) … */
	uint64_t until_ms;      /* … until this time; then next is called */
	gw_next *next;
	struct api_buf key; /* GET by name: "namespace/name", or "name" */
	struct api_buf pods_of_node; /* the field selector of GET /pods */
	bool list;          /* LIST or WATCH; else a GET by name */
	bool watch;
	bool partial;       /* only a part of the resource is cached, and the request needs more … */
	bool metadata_only; /* … or only its metadata */
};

/*
 * Answer a request for a cached resource whose access is checked and whose RV is reached. A watch reports an
 * RV that was not reached, x->api.status, in its first event.
 */
void gw_answer_get(struct gw_exchange *x);
/* Answer a GET with its object. False: there is no such object, and nothing was done. */
bool gw_answer_object(struct gw_exchange *x);
void gw_answer_list(struct gw_exchange *x);
void gw_answer_watch(struct gw_exchange *x);

/*
 * Parse a GET, LIST or WATCH of a cached resource, wait for its RV, then answer.
 *
 * Returns 0; -ENOENT: the source does not have all of it (route->partial, route->metadata_only), or
 * x->reads.newest_elsewhere applies; nothing was done
 */
int gw_read_begin(struct gw_exchange *x);
/* Add a Warning header if the route's store is stale. */
void gw_read_warn(struct gw_exchange *x);
/* The store's newest RV; 0: its first list has not arrived. */
uint64_t gw_read_rv(const struct gw_exchange *x);
/* Open a store for the request. Returns as gw_source.open */
int gw_read_open(struct gw_exchange *x, struct gw_store **ret_store);

#endif
