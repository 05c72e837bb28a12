/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lists and watches need of whoever has the objects: one resource at one RV, in order of keys, and its
 * changes since. A store is a table of functions; informer-sim's is a mutable one under a lock, the gateway's
 * reads the arena.
 *
 * A position is a place in the store's history of one resource: between two changes. Positions only grow, and
 * each stays good until the store forgets what lies behind it. Where it does not matter to a store what a
 * position counts, nobody else asks.
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

/* One change. Whoever fetched it holds its references until api_events_done(). */
struct api_event {
	enum api_change change;
	uint64_t rv;
	struct api_object *object; /* the new state; of a deletion the last one */
	struct api_object *prev;   /* the state before; NULL: there was none, or it is not known */
	struct api_frames *frames; /* its lines, made once for all watches; NULL: they are not shared */
	/*
	 * prev is NULL because it is not known; and of a deletion object has its metadata alone, or not even
	 * its labels. A watch whose selectors would have to know it ends with 410.
	 */
	bool unknown;
	/* rv is not its own but one that others have: it is told to whoever comes back with that RV, too. */
	bool again;
};

struct api_view; /* each store has its own */

struct api_store {
	void *ctx; /* what every function but those of views is given */

	/* The newest RV of a resource; 0: its first list is not in yet. */
	uint64_t (*rv)(void *ctx, const struct api_resource *resource);

	/*
	 * One resource as it was at an RV; 0: now.
	 *
	 * ret_rv        the RV that it shows
	 * ret_position  may be NULL; the position of the changes behind a view of now
	 * Returns  0; -ESTALE  that RV is not to be had any more; -EAGAIN  the first list is not in yet
	 */
	int (*view)(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
		    uint64_t *ret_rv, uint64_t *ret_position);
	/*
	 * May be NULL. Some of what must be done before the first object is asked for, at most what other
	 * requests can wait for. Called until it returns 0, before the view is sought.
	 *
	 * Returns  0; -EAGAIN: call again; -ESTALE: as view_error()
	 */
	int (*view_ready)(struct api_view *view);
	/* Go on with the first key not below this one. Before the first object is asked for, and later. */
	void (*view_seek)(struct api_view *view, const char *key);
	/* The next object in order of keys, with a reference; NULL at the end. */
	struct api_object *(*view_next)(struct api_view *view);
	/* May be NULL. After the end: 0; negative, what it reads was taken away, and there would be more. */
	int (*view_error)(struct api_view *view);
	void (*view_close)(struct api_view *view);
	/*
	 * May be NULL. The view is of use for the query's objects in the namespace (NULL: all) alone: those
	 * that an index can tell not to be among them may be left out. Called once, before view_ready(),
	 * where objects will be asked for.
	 *
	 * Returns  0; -ENOBUFS: there is no room for so many views at a time
	 */
	int (*view_choose)(struct api_view *view, const char *namespace_, const struct api_query *query);
	/* May be NULL. How many objects, from the next one on, have a key that begins so. */
	uint64_t (*view_count)(struct api_view *view, const char *prefix);
	/*
	 * May be NULL. A continue token was given out for it: it will be asked for again at its RV within a
	 * minute.
	 */
	void (*view_hold)(struct api_view *view);

	/* The current object, with a reference; NULL: there is none. */
	struct api_object *(*get)(void *ctx, const struct api_resource *resource, const char *key);

	/*
	 * The position behind all changes up to rv. -ESTALE with *ret_floor, the lowest RV that has one;
	 * -EAGAIN: that is not known at this moment.
	 */
	int (*position)(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
			uint64_t *ret_floor);
	/*
	 * Up to max changes from *position on, oldest first; it moves behind them. When there are none,
	 * *ret_rv is the RV up to which that is so.
	 *
	 * Returns  their number; -ESTALE  the history has moved past the position
	 */
	int (*events)(void *ctx, const struct api_resource *resource, uint64_t *position,
		      struct api_event *events, unsigned max, uint64_t *ret_rv);
};

/* Give up what so many events hold. */
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
