/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API store: the interface through which lists and watches read objects: one resource at one RV in order of
 * keys, and its changes since then. informer-sim implements it with a mutable store under a lock, the gateway
 * with the arena.
 *
 * A position is a point between two changes in the store's history of one resource. Positions only grow. A
 * position is valid until the store drops changes after it. Only the store interprets positions.
 *
 * Threads   as the store says
 */
#ifndef TOOLS_SERVING_API_STORE_H
#define TOOLS_SERVING_API_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/serving/query.h"
#include "tools/serving/shared_frame.h"
#include "tools/serving/stored_object.h"

/* One change. The caller that fetched it holds its references until api_events_done(). */
struct api_event {
	enum api_change change;
	uint64_t rv;
	struct api_object *object; /* the new state; for a deletion the last one */
	struct api_object *prev;   /* the previous state; NULL: none, or not known */
	struct api_frames *frames; /* its lines, shared by all watches; NULL: not shared */
	/*
	 * prev is not known. A deletion's object may then have only metadata, or not even labels. A watch
	 * whose selectors need the previous state ends with 410.
	 */
	bool unknown;
	/* rv belongs to another change too: a client that resumes at rv is told of this change as well. */
	bool again;
};

struct api_view; /* defined by each store */

struct api_store {
	void *ctx; /* passed to every function except those of views */

	/* The newest RV of a resource; 0: its first list has not arrived. */
	uint64_t (*rv)(void *ctx, const struct api_resource *resource);

	/*
	 * Open a view of a resource at an RV; 0: now.
	 *
	 * ret_rv        the view's RV
	 * ret_position  may be NULL; for a view of now, the position after it
	 * Returns  0; -ESTALE  the RV is no longer available; -EAGAIN  the first list has not arrived
	 */
	int (*view)(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
		    uint64_t *ret_rv, uint64_t *ret_position);
	/*
	 * May be NULL. Prepare the view, for a time that other requests can wait. Called until it returns 0,
	 * before the first view_seek().
	 *
	 * Returns  0; -EAGAIN: call again; -ESTALE: as view_error()
	 */
	int (*view_ready)(struct api_view *view);
	/* Move to the first key not below this one. Called before the first view_next(), and later. */
	void (*view_seek)(struct api_view *view, const char *key);
	/* The next object in order of keys, with a reference; NULL at the end. */
	struct api_object *(*view_next)(struct api_view *view);
	/*
	 * May be NULL. After view_next() returned NULL: 0: the real end; negative: the view was revoked
	 * before its end.
	 */
	int (*view_error)(struct api_view *view);
	void (*view_close)(struct api_view *view);
	/*
	 * May be NULL. Only objects of the namespace (NULL: all) that fit the query are needed: the view may
	 * leave out others that an index excludes. Called once, before view_ready(), if objects will be read.
	 *
	 * Returns  0; -ENOBUFS: no room for another view
	 */
	int (*view_choose)(struct api_view *view, const char *namespace_, const struct api_query *query);
	/* May be NULL. Number of objects from the next one on whose key begins with prefix. */
	uint64_t (*view_count)(struct api_view *view, const char *prefix);
	/*
	 * May be NULL. A continue token was given out for this view: its RV will be asked for again within a
	 * minute.
	 */
	void (*view_hold)(struct api_view *view);

	/* The current object, with a reference; NULL: there is none. */
	struct api_object *(*get)(void *ctx, const struct api_resource *resource, const char *key);

	/*
	 * The position after all changes up to rv. -ESTALE with *ret_floor, the lowest RV that has a
	 * position; -EAGAIN: not known at this moment.
	 */
	int (*position)(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
			uint64_t *ret_floor);
	/*
	 * Read up to max changes from *position on, oldest first, and move it past them. If there are none,
	 * *ret_rv is the RV up to which there are none.
	 *
	 * Returns  their number; -ESTALE  the history has moved past the position
	 */
	int (*events)(void *ctx, const struct api_resource *resource, uint64_t *position,
		      struct api_event *events, unsigned max, uint64_t *ret_rv);
};

/* Release the references of `count` events. */
static inline void
api_events_done(struct api_event *events, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		api_object_unref(events[i].object);
		api_object_unref(events[i].prev);
		api_frames_unref(events[i].frames);
		events[i] = (struct api_event){0};
	}
}

#endif
