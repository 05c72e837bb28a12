/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: what a router is given by those who make it, and what it counts for them.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_HOOKS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_HOOKS_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/views/store_source.h"
#include "tools/serving/budget.h"

/*
 * What others decide. Each takes the exchange and either answers it (a gw_reply function) or calls next(x),
 * now or later; while it waits it has said so by gw_on_gone(). NULL: the default, in brackets.
 */
struct gw_hooks {
	void *ctx;
	/* May it be asked? x->api has the resource if it is a cached one. It sets x->reads. [403 for all] */
	void (*check)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* Not of a cached resource, or no GET: answer it, or false: 404 or 405. [false] */
	bool (*elsewhere)(void *ctx, struct gw_exchange *x);
	/* Discovery, /version too: answer it, or next: from the registry. [next] */
	void (*discovery)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* A GET by name that found nothing: answer it, or next: 404. [next] */
	void (*missing)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* A page beside the API ("/metrics"); false: it is not there. Checked before. [false] */
	bool (*page)(void *ctx, struct gw_exchange *x);
};

struct gw_router_options {
	struct gw_source source;
	struct gw_hooks hooks;
	unsigned await_ms;    /* how long an RV that we have not seen is waited for; 0: 3 s */
	unsigned bookmark_ms; /* between two of a watch; 0: a minute */
	struct api_share *lists; /* what lists hold while they are being made and sent */
	unsigned stall_ms; /* who takes nothing of a list for so long is dropped; 0: 30 s */
};

/* For metrics and tests. */
struct gw_router_counters {
	uint64_t gets, lists, watches;
	uint64_t lists_made, lists_shared; /* bodies; requests that were given one that was there */
	uint64_t lists_dropped;		   /* connections of those who did not take theirs */
	uint64_t too_large;		   /* 504: an RV did not come */
	unsigned watching;                 /* now */
};

#endif
