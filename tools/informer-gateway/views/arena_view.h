/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: a resource at one RV, in order of keys, from one snapshot: a store's views
 * (tools/serving/api_store.h).
 *
 *	moment   snapshot, RV, position in the log; items of each hint, sorted: shared
 *	view     one reader's place in such items
 *
 * A view of now is taken where the log has everything that the snapshot shows: a watch goes on behind it
 * without a gap. Its items are filled in slices (view_items.h), its objects made one by one, as they are
 * asked for.
 *
 * A moment is kept for a second for whoever comes then, and, once a continue token was given out for it, for
 * hold_ms. Its snapshot ends with it, and earlier where there are more than held_views: the oldest goes
 * first. Of the items that nobody reads it keeps those few that were asked for last: how many hints there
 * are is for clients to choose. informerd may take the memory back before that: then the view ends with an
 * error, and its list with 410, as upstream's does.
 *
 * Memory    the items of all hints have a share (gw_arena_options.views). Who finds no room in it, though
 *           what nobody reads gave way, is told so as the view is chosen.
 * Threads   one
 * Cost      of a view of now: a dispatch and a snapshot; then what view_items.h says
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"
#include "tools/serving/api_store.h"

/* No view is left. */
void gw_moments_free(struct gw_arena *arena);
/* Let go what was kept for long enough. */
void gw_moments_expire(struct gw_arena *arena);
/*
 * When gw_moments_expire() has something to do, by gw_arena_now_ms(); UINT64_MAX: never. gw_arena_dispatch()
 * wants to be called then, though nothing happened.
 */
uint64_t gw_moments_wait_until(const struct gw_arena *arena);
/* How many there are. */
unsigned gw_moments_count(const struct gw_arena *arena);

/*
 * As api_store.view. -EAGAIN also: a commit is half told, commits come faster than they are taken in, or
 * there is no arena to read: try again soon.
 */
int gw_view_open(struct gw_entry *entry, uint64_t rv, struct api_view **ret_view, uint64_t *ret_rv,
		 uint64_t *ret_position);
/* What the hint leaves, which goes over to it, is what it shows. As api_store.view_choose. */
int gw_view_choose(struct api_view *view, struct gw_hint *hint);
/* As those of api_store. */
int gw_view_ready(struct api_view *view);
void gw_view_seek(struct api_view *view, const char *key);
struct api_object *gw_view_next(struct api_view *view);
uint64_t gw_view_count(struct api_view *view, const char *prefix);
int gw_view_error(struct api_view *view);
void gw_view_hold(struct api_view *view);
void gw_view_close(struct api_view *view);

#endif
