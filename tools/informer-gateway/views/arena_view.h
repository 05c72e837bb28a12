/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: a resource at one RV, in order of keys, from one snapshot.
 *
 *	moment   snapshot, RV, position in the log; items of each hint, sorted: shared
 *	view     one reader's place in such items
 *
 * A view of now is taken where the log has everything that the snapshot shows: a watch goes on behind it
 * without a gap. Its objects are made one by one, as they are asked for.
 *
 * A moment is kept for a second for whoever comes then, and, once a continue token was given out for it, for
 * hold_ms. Its snapshot ends with it, and earlier where there are more than held_views: the oldest goes
 * first. Of the items that nobody reads it keeps those few that were asked for last: how many hints there
 * are is for clients to choose. informerd may take the memory back before that: then the view ends with
 * INFORMER_E_EXPIRED, and its list with 410, as upstream's does.
 *
 * Threads   one
 * Cost      of a view of now: a dispatch and a snapshot; with the first object asked for, what view_items.h
 * says
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_ARENA_VIEW_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"

struct gw_view;

struct gw_moments *gw_moments_new(void);
/* No view is left. NULL is fine. */
void gw_moments_free(struct gw_moments *moments);
/* Let go what was kept for long enough. */
void gw_moments_expire(struct gw_arena *arena);
/* When gw_moments_expire() has something to do, by gw_arena_now_ms(); UINT64_MAX: never. */
uint64_t gw_moments_wait_until(const struct gw_arena *arena);
/* How many there are. */
unsigned gw_moments_count(const struct gw_arena *arena);

/*
 * Begin a snapshot of which the entry's log has everything, and nothing beyond it: what has come meanwhile is
 * taken into the log. End it with gw_reading_end().
 *
 * Returns 0; -EAGAIN: commits come faster than they are taken in, or there is nothing to read;
 * INFORMER_E_CORRUPT
 */
int gw_view_begin_whole(struct gw_entry *entry, struct gw_reading *ret_reading);

/*
 * rv            0: now; else exactly this one
 * ret_rv        the view's RV
 * ret_position  where the log goes on behind it; may be NULL
 * Returns       0; -ESTALE: this RV is not kept (any more); -EAGAIN: the first list is not in, a commit is
 * half told, or there is no arena to read: try again soon; INFORMER_E_CORRUPT
 */
int gw_view_open(struct gw_entry *entry, uint64_t rv, struct gw_view **ret_view, uint64_t *ret_rv,
		 uint64_t *ret_position);
/* Before the first object: it need show no more than what the hint leaves. Copied. */
void gw_view_narrow(struct gw_view *view, const struct gw_hint *hint);
/* Go to the first key that is not below this one. */
void gw_view_seek(struct gw_view *view, const char *key);
/* The next object, a reference; NULL at the end, and where gw_view_error() says why it ended early. */
struct api_object *gw_view_next(struct gw_view *view);
/* How many objects, from the next one on, have a key that begins so. */
size_t gw_view_count(struct gw_view *view, const char *prefix);
/* 0; INFORMER_E_EXPIRED: its memory was taken back; INFORMER_E_CORRUPT: what was shown is not all there is */
int gw_view_error(const struct gw_view *view);
/* A continue token was given out for it. */
void gw_view_hold(struct gw_view *view);
/* NULL is fine. */
void gw_view_close(struct gw_view *view);

/* The newest state of one object, a reference, or NULL. */
struct api_object *gw_view_get(struct gw_entry *entry, const char *key);

#endif
