/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: the functions and options that a router is given by its creator, and the router's counters. */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_HOOKS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_HOOKS_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/views/store_source.h"
#include "tools/serving/budget.h"

/*
 * Decisions outside the router. Each function takes over the exchange. It answers with a gw_reply function,
 * or calls next(x), now or later. A hook that waits sets gw_on_gone() first. NULL: the default, in brackets.
 */
struct gw_hooks {
	void *ctx;
	/* Check access and set x->reads. x->api has the resource if it is cached. [403 for all] */
	void (*check)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* Resource not cached, or no GET: answer, or return false for 404 or 405. [false] */
	bool (*elsewhere)(void *ctx, struct gw_exchange *x);
	/* Discovery and /version: answer, or next: from the registry. [next] */
	void (*discovery)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* A GET by name found nothing: answer, or next: 404. [next] */
	void (*missing)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* A page outside the API ("/metrics"), after check; false: no such page. [false] */
	bool (*page)(void *ctx, struct gw_exchange *x);
};

struct gw_router_options {
	struct gw_source source;
	struct gw_hooks hooks;
	const char *node;        /* whose pods GET /pods lists; required */
	unsigned await_ms;       /* longest wait for an RV that is not cached yet; 0: 3 s */
	unsigned bookmark_ms;    /* between two bookmarks of a watch; 0: 60 s */
	struct api_share *lists; /* counts the memory of lists in progress */
	unsigned stall_ms;       /* a client that reads nothing of a list for so long is dropped; 0: 30 s */
};

/* For metrics and tests. */
struct gw_router_counters {
	uint64_t gets, lists, watches;
	uint64_t lists_made, lists_shared; /* list bodies; requests that shared an existing body */
	uint64_t lists_dropped;            /* connections cut because the client did not read its list */
	uint64_t too_large;                /* 504: an RV was not reached in time */
	unsigned watching;                 /* now */
};

#endif
