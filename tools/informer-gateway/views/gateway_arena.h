/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena as the gateway has it: handles of libinformer (arena_handles.h), an entry with its feed for each
 * resource that informerd caches (arena_resources.h), views of them (arena_view.h).
 *
 *	fd readable ─▶ gw_arena_dispatch() ─▶ handlers ─▶ staged ─▶ released by one snapshot ─▶ watchers woken
 *
 * Callbacks are called from gw_arena_dispatch() alone, never from within a look-up or a view.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_GATEWAY_ARENA_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_GATEWAY_ARENA_H

#include "tools/informer-gateway/arena/arena_handles.h"

/* Returns 0, negative errno. informerd need not run yet. */
int gw_arena_new(const struct gw_arena_options *options, struct gw_arena **ret_arena);
/* No watcher, no view is left. NULL is fine. */
void gw_arena_free(struct gw_arena *arena);

/* Readable when gw_arena_dispatch() has something to do. Borrowed; the same one always. */
int gw_arena_fd(const struct gw_arena *arena);
/* Do what there is to do: take in changes and the table of resources, wake watchers, let views go. */
void gw_arena_dispatch(struct gw_arena *arena);
/*
 * Print objects, and /version, as the API server's release does. While that is not known, the release of
 * before counts.
 */
void gw_arena_fit_release(const struct gw_arena *arena);

#endif
