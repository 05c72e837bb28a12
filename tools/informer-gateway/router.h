/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Router: from a request to who answers it.
 *
 *   /version /healthz /livez /readyz /metrics, discovery   pages (hooks->page first)
 *   /api/v1/..., /apis/GROUP/VERSION/...                   what the registry has: get, list, watch
 *   everything else                                        hooks->elsewhere
 *
 * Each request is checked before anything of it is looked at but its form: parse -> check -> serve.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ROUTER_H
#define TOOLS_INFORMER_GATEWAY_ROUTER_H

#include "tools/informer-gateway/exchange.h"
#include "tools/serving/served_resource.h"

/*
 * What others decide. Each takes the exchange and either answers it (a gw_reply function) or calls next(x),
 * now or later; while it waits it has said so by gw_on_gone(). NULL: the default, in brackets.
 */
typedef void gw_next(struct gw_exchange *x);
struct gw_hooks {
	void *ctx;
	/* May it be asked? x->api has the resource if it is a cached one. [403 for all] */
	void (*check)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* Not of a cached resource, or no GET: answer it, there is no next. [404 or 405] */
	void (*elsewhere)(void *ctx, struct gw_exchange *x);
	/* A GET by name that found nothing: answer it, or next: 404. [next] */
	void (*missing)(void *ctx, struct gw_exchange *x, gw_next *next);
	/*
	 * Before a GET or LIST that names no RV is read, and before a WATCH that begins with "most recent":
	 * go on when what we have is fresh enough; x->min_rv says from which RV on it is. [next]
	 */
	void (*fresh)(void *ctx, struct gw_exchange *x, gw_next *next);
	/* A page beside the API ("/metrics"); false: it is not there. Checked before. [false] */
	bool (*page)(void *ctx, struct gw_exchange *x);
};

#endif
