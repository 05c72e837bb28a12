/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena view: a resource at one RV in order of keys, read from one snapshot. It implements the views of
 * tools/serving/api_store.h.
 *
 *	moment   snapshot, RV, position in the log; sorted items of each hint: shared
 *	view     one reader's position in such items
 *
 * A view of now is taken where the log matches the snapshot exactly, so that a watch can continue without a
 * gap. Its items are collected in slices (view_items.h); its objects are made one by one at each request.
 *
 * A moment is kept one second for other requests. After a continue token was given out for it, it is kept for
 * hold_ms. If more than held_views are kept, the oldest go first. A moment keeps only the few item lists used
 * last, because clients choose the number of hints. If informerd revokes the snapshot, the view ends with an
 * error, and its list with 410, as upstream's does.
 *
 * Memory    the items of all hints have a share (gw_arena_options.views). Unused items are freed first; if
 *           there is still no room, gw_view_choose() fails with -ENOBUFS.
 * Threads   one
 * Cost      of a view of now: a dispatch and a snapshot; then see view_items.h
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"
#include "tools/serving/api_store.h"

/* No view may be left. */
void gw_moments_free(struct gw_arena *arena);
/* Drop the moments whose time is over. */
void gw_moments_expire(struct gw_arena *arena);
/*
 * When to call gw_arena_dispatch() for gw_moments_expire() even if nothing happens, by gw_arena_now_ms();
 * UINT64_MAX: never.
 */
uint64_t gw_moments_wait_until(const struct gw_arena *arena);
/* Number of moments. */
unsigned gw_moments_count(const struct gw_arena *arena);

/*
 * As api_store.view. -EAGAIN also if a commit is only partly told, commits arrive too fast, or there is no
 * arena: try again soon.
 */
int gw_view_open(struct gw_entry *entry, uint64_t rv, struct api_view **ret_view, uint64_t *ret_rv,
		 uint64_t *ret_position);
/* Show only the objects that fit the hint; takes it over. As api_store.view_choose. */
int gw_view_choose(struct api_view *view, struct gw_hint *hint);
/* As the functions of api_store. */
int gw_view_ready(struct api_view *view);
void gw_view_seek(struct api_view *view, const char *key);
struct api_object *gw_view_next(struct api_view *view);
uint64_t gw_view_count(struct api_view *view, const char *prefix);
int gw_view_error(struct api_view *view);
void gw_view_hold(struct api_view *view);
void gw_view_close(struct api_view *view);

#endif
