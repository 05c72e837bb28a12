/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway arena: libinformer's handles (arena_handles.h), an entry with a feed for each cached resource
 * (arena_resources.h), and views of entries (arena_view.h), run by one function.
 *
 *	fd readable ─▶ gw_arena_dispatch() ─▶ handlers ─▶ staged ─▶ released by one snapshot ─▶ watchers woken
 *
 * Callbacks are called only from gw_arena_dispatch(), never from within a look-up or a view.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_GATEWAY_ARENA_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_GATEWAY_ARENA_H

#include "tools/informer-gateway/arena/arena_handles.h"

/* Returns 0, negative errno. informerd need not run yet. */
int gw_arena_new(const struct gw_arena_options *options, struct gw_arena **ret_arena);
/* No watcher and no view may be left. NULL is fine. */
void gw_arena_free(struct gw_arena *arena);

/* Readable when gw_arena_dispatch() has work. Borrowed; it never changes. */
int gw_arena_fd(const struct gw_arena *arena);
/* Take in changes and the table of resources, wake watchers, drop old views. */
void gw_arena_dispatch(struct gw_arena *arena);
/*
 * Print objects and /version as the API server's release does. While that release is unknown, nothing
 * changes.
 */
void gw_arena_fit_release(const struct gw_arena *arena);

#endif
