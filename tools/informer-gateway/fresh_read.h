/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fresh read: the router's hook for reads that name no RV, which upstream answers with the newest state. A
 * listener with freshness: cache goes on at once; with strict, what the arena shows is proved to be as new as
 * upstream was when the request came (freshness_proof.h), or the request fails.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_FRESH_READ_H
#define TOOLS_INFORMER_GATEWAY_FRESH_READ_H

#include "tools/informer-gateway/freshness_proof.h"
#include "tools/informer-gateway/gateway_arena.h"
#include "tools/informer-gateway/router.h"

/* As gw_hooks.fresh. freshness: NULL where no listener is strict. */
void gw_fresh_read(struct gw_freshness *freshness, struct gw_arena *arena, struct gw_exchange *x,
		   gw_next *next);

/* The newest RV that the arena shows of a resource, for gw_freshness_new(); ctx is the arena. */
uint64_t gw_arena_rv(void *arena, const struct api_resource *resource);

#endif
