/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena store: the arena as a source of stores (store_source.h). A store serves one request from one entry.
 *
 * A watching store returns only the events that concern its query, and skips the others. wake() is called
 * from gw_arena_dispatch(): an event is ready, or the place is lost. For a watch from before the log's
 * beginning, the log is extended with the arena's history if that is proven (history.h).
 *
 * A cached object is found by its name, also if only a part of its resource is cached. If the API server was
 * not heard from for GW_STALE_NS, the warning says for how long.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H

#include "tools/informer-gateway/views/store_source.h"

/* From this age on answers carry a warning. informerd hears a bookmark each minute, and pings more often. */
#define GW_STALE_NS 60000000000ull

/* The arena must outlive all stores. */
struct gw_source gw_arena_source(struct gw_arena *arena);
/* Make a store over an entry, borrowed. End it with its close(). */
struct gw_store *gw_store_new(struct gw_entry *entry);

#endif
