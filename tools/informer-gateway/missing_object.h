/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Missing object: the router's hook for a GET by name that found nothing, as its listener has it:
 *
 *	deletedFor    what was deleted a short while ago (deleted_object.h)
 *	misses: wait  the arena is waited for (object_wait.h)
 *	else          404
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_MISSING_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_MISSING_OBJECT_H

#include "tools/informer-gateway/gateway.h"

/* As gw_hooks.missing; ctx is the struct gateway. */
void gw_missing_object(void *ctx, struct gw_exchange *x, gw_next *next);

#endif
