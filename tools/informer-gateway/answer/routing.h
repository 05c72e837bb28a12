/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing: one request on its way through the router, and what that is made of; for router.c and the answers
 * behind it.
 */
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
	struct gw_bodies *bodies; /* of lists, see list_body.h */
	struct gw_router_counters counters;
};

/* Of one exchange, from its routing to its end. */
struct gw_route {
	struct gw_router *router;
	struct api_path path;
	struct api_query query;
	struct gw_store *store; /* NULL: none is open */
	struct gw_rv_wait wait; /* for the RV that is asked for, or for an object (object_wait.h) … */
	uint64_t until_ms;      /* … until then, and what is done about it in the end */
	gw_next *next;
	struct api_buf key; /* of a GET by name: "namespace/name", or "name" */
	bool list; /* a LIST or a WATCH; else a GET by name */
	bool watch;
	bool partial;	    /* a part of the resource is cached, and what is asked for is not in it … */
	bool metadata_only; /* … or no more than its metadata */
};

/*
 * What a request for a cached resource is answered with, once it may be and its RV is reached. A watch is
 * told of an RV that did not come, x->api.status, in its first event.
 */
void gw_answer_get(struct gw_exchange *x);
/* Answer a GET with the object that it names. False: it is not there, and nothing was done. */
bool gw_answer_object(struct gw_exchange *x);
void gw_answer_list(struct gw_exchange *x);
void gw_answer_watch(struct gw_exchange *x);

/*
 * Parse a GET, LIST or WATCH of a cached resource and wait for its RV; then answer it. -ENOENT: the source
 * has not all that it asks for (route->partial, route->metadata_only), or x->reads.newest_elsewhere, and
 * nothing was done.
 */
int gw_read_begin(struct gw_exchange *x);
/* Append what the route's store says of its age to the answer. */
void gw_read_warn(struct gw_exchange *x);
/* The newest RV of the store; 0: its first list is not in. */
uint64_t gw_read_rv(const struct gw_exchange *x);
/* Open a store for the exchange's request. Returns as gw_source.open */
int gw_read_open(struct gw_exchange *x, struct gw_store **ret_store);

#endif
