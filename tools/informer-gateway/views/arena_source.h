/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena as the router's source (place_source.h): a place is a store of its own over an entry.
 *
 * What the arena has only a part of (one namespace, a selector's objects) is not here for who asks for more,
 * but an object that it has is here by its name.
 * When the API server was not heard of for a minute the place's warning says for how long: the age of what is
 * shown is the client's to judge.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_SOURCE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_SOURCE_H

#include "tools/informer-gateway/views/arena_store.h"
#include "tools/informer-gateway/views/place_source.h"

/* From this age on answers carry a warning: informerd hears bookmarks once a minute, and pings more often. */
#define GW_STALE_NS 60000000000ull

/* The arena must live longer than all places. */
struct gw_source gw_arena_source(struct gw_arena *arena);

#endif
