/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena as the source of stores (store_source.h): a store is one request's, over one entry.
 *
 * A store that watches gives only those events that concern its query; for the others its place moves on by
 * itself. wake() is called from gw_arena_dispatch(): there is an event, or the place is lost. A watch from
 * before the log begins makes the log longer, where the arena has the history for it (history.h).
 *
 * An object that is cached is here by its name, also where only a part of its resource is. When the API
 * server was not heard of for a minute the warning says for how long.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_STORE_H

#include "tools/informer-gateway/views/store_source.h"

/* From this age on answers carry a warning: informerd hears bookmarks once a minute, and pings more often. */
#define GW_STALE_NS 60000000000ull

/* The arena must live longer than all stores. */
struct gw_source gw_arena_source(struct gw_arena *arena);
/* A store over an entry, which is borrowed. End it with its close(). */
struct gw_store *gw_store_new(struct gw_entry *entry);

#endif
