/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Missing object: the router's hook for a GET by name that found nothing, as its listener has it:
 *
 *	deletedFor   what was deleted a short while ago (deleted_object.h)
 *	misses: ask  upstream is asked once (misses.h)
 *	else         404
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_MISSING_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_MISSING_OBJECT_H

#include "tools/informer-gateway/misses.h"
#include "tools/informer-gateway/gateway_arena.h"
#include "tools/informer-gateway/router.h"

/* misses: NULL where no listener asks. As gw_hooks.missing */
void gw_missing_object(struct gw_misses *misses, struct gw_arena *arena, struct gw_exchange *x,
		       gw_next *next);

/* gw_misses_options.has; ctx is the arena. */
bool gw_arena_has(void *arena, const struct api_resource *resource, const char *namespace_, const char *name);

#endif
