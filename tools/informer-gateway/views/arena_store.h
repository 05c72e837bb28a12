/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena behind lists and watches of tools/serving: a store (tools/serving/api_store.h) for one request.
 *
 *	list    gw_store_init(&store, entry)                            api_list_open(…, &store.api, …)
 *	watch   the same, then gw_store_watch(&store, &hint, wake, x)   api_watch_open(…, &store.api, …)
 *
 * A store that watches gives only those events that concern its hint; for the others its place moves on by
 * itself. wake() is called, from gw_arena_dispatch(), when there is something to ask events() for: an event,
 * or that the place is lost. A watch from before the log begins makes the log longer, where the arena has the
 * history for it (history.h).
 *
 * Ownership  the entry is borrowed; gw_store_done() comes before the arena's end
 * Threads    one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H

#include "tools/informer-gateway/views/arena_view.h"
#include "tools/serving/api_store.h"

/* It must not move between init and done. */
struct gw_store {
	struct api_store api;
	struct gw_entry *entry;
	struct gw_watcher watcher;
	bool watching;
};

void gw_store_init(struct gw_store *store, struct gw_entry *entry);
/* Views that were opened must be closed. A zeroed one is fine. */
void gw_store_done(struct gw_store *store);

/*
 * From now on events() gives what concerns the hint, and wake() is called. Before a position is asked for.
 *
 * hint  of the request's query (gw_hint_init()); copied as far as it is needed
 */
void gw_store_watch(struct gw_store *store, const struct gw_hint *hint, void (*wake)(void *context),
		    void *context);

#endif
