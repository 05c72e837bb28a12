/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object store: all objects, the counter of resource versions, and the history for watches and consistent
 * pages.
 *
 * Every change takes the next RV of one counter for all resources, updates the table, and is appended to its
 * resource's ring of events. All this happens under one lock, and nothing else does. The ring keeps the last
 * `history` events of each resource, so a busy resource does not push out a quiet one's. An RV can be served
 * if it is not below the ring's floor: the RV before its oldest event.
 *
 *   floor < oldest ... newest <= rv      events with RV > asked are all in the ring
 *                                        exactly when asked >= floor
 *
 * A watcher is a cursor into the ring, without a queue. A watcher that falls behind the ring loses its place
 * (-ESTALE) and is cut off, as by the real server. Memory does not grow with slow clients.
 *
 * Threads   any, for every function, unless it says otherwise.
 */
#ifndef TOOLS_INFORMER_SIM_OBJECT_STORE_H
#define TOOLS_INFORMER_SIM_OBJECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/serving/api_store.h"
#include "tools/informer-sim/key_chunks.h"

struct sim_store;

/*
 * history: events kept for each resource, at least 1; start_rv: the counter's value before the first
 * change.
 */
struct sim_store *
sim_store_new(size_t history, uint64_t start_rv);
/* No thread may use the store afterwards. NULL is fine. */
void
sim_store_free(struct sim_store *store);

/* The current RV, and the number of objects of a resource. */
uint64_t
sim_store_rv(struct sim_store *store);
size_t
sim_store_count(struct sim_store *store, const struct api_resource *resource);
/* The lowest RV a watch of this resource can start from. */
uint64_t
sim_store_floor(struct sim_store *store, const struct api_resource *resource);
/* Number of changes since the start. */
uint64_t
sim_store_changes(struct sim_store *store);

/*
 * Forget all events: older RVs get 410 from now on. Also called once after loading, because loaded objects
 * are not history.
 */
void
sim_store_compact(struct sim_store *store);

/* The same for one resource. */
void
sim_store_forget(struct sim_store *store, const struct api_resource *resource);

/*
 * Restore the state at an RV and count on from there, as a server restored from a backup does: RVs are used
 * again, there is no history, every watch ends.
 *
 * Returns  0, or -ESTALE  the RV is in the future, or below some resource's floor
 */
int
sim_store_restore(struct sim_store *store, uint64_t rv);

/* Wait until the RV is reached, at most timeout_ms. Returns 0, or -ETIMEDOUT with *ret_current. */
int
sim_store_wait_rv(struct sim_store *store, uint64_t rv, unsigned timeout_ms, uint64_t *ret_current);

/* A reference to the current object; NULL if there is none. */
struct api_object *
sim_store_get(struct sim_store *store, const struct api_resource *resource, const char *key);
/* A reference to an object chosen by any two numbers. NULL if there is none. */
struct api_object *
sim_store_pick(struct sim_store *store, const struct api_resource *resource, size_t chunk, size_t item);

/*
 * The three changes. Each sets the next RV. `object` is borrowed (the store takes its own reference), must be
 * new, and has the RV afterwards.
 *
 * create   -EEXIST   the key exists
 * update   replaces `old`, which must be the current object; else
 *          -ESTALE   it was changed or deleted meanwhile
 * delete   the same; *ret_rv is the deletion's RV
 */
int
sim_store_create(struct sim_store *store, const struct api_resource *resource, struct api_object *object);
int sim_store_update(struct sim_store *store, const struct api_resource *resource, struct api_object *old,
		     struct api_object *object);
int sim_store_delete(struct sim_store *store, const struct api_resource *resource, struct api_object *old,
		     uint64_t *ret_rv);

/* ---- one consistent view -------------------------------------------------- */

/* The state of a key at the view's RV, if it differs from the snapshot's. */
struct sim_overlay {
	const char *key;
	struct api_object *object; /* NULL: it did not exist */
	struct api_object *holder; /* keeps key alive */
	uint64_t rv;
};

/* One resource as it was at `rv`. */
struct sim_view {
	uint64_t rv;
	struct sim_snapshot snapshot;
	struct sim_overlay *overlay; /* ordered by key */
	size_t overlay_count;
	struct sim_place place; /* the iteration */
	struct api_object *ahead;
	size_t overlay_at;
};

/*
 * rv 0: now. Otherwise at that RV, which must not be in the future (wait first).
 * ret_position, if not NULL, is the ring position that continues exactly behind a view of now.
 *
 * Returns  0, or -ESTALE  the RV lies below the floor
 */
int sim_store_view(struct sim_store *store, const struct api_resource *resource, uint64_t rv,
		   struct sim_view *ret_view, uint64_t *ret_position);
void
sim_view_done(struct sim_view *view);
/* Start iterating at the first key not below `key`. */
void
sim_view_seek(struct sim_view *view, const char *key);
/* The next object in order of keys, borrowed from the view; NULL at the end. */
struct api_object *
sim_view_next(struct sim_view *view);

/* ---- watching ------------------------------------------------------------- */

/* The position behind all events up to rv. -ESTALE with *ret_floor when rv is below the floor. */
int sim_store_position(struct sim_store *store, const struct api_resource *resource, uint64_t rv,
		       uint64_t *ret_position, uint64_t *ret_floor);
/*
 * Read up to max events from *position on, and move it past them. Each holds references (release with
 * api_events_done()). If there are none, *ret_rv is the RV up to which there are none.
 *
 * Returns  their number, or -ESTALE: the ring has moved past the position
 */
int sim_store_events(struct sim_store *store, const struct api_resource *resource, uint64_t *position,
		     struct api_event *events, unsigned max, uint64_t *ret_rv);
/* Wait for an event at the position, at most timeout_ms, or until sim_store_stop(). */
void sim_store_wait(struct sim_store *store, const struct api_resource *resource, uint64_t position,
		    unsigned timeout_ms);
/* End all sim_store_wait() calls now, as if their time was up. */
void
sim_store_wake(struct sim_store *store);
/* The position behind the last event. */
uint64_t
sim_store_end(struct sim_store *store, const struct api_resource *resource);
/* Whether the ring has moved past the position. */
bool
sim_store_lost(struct sim_store *store, const struct api_resource *resource, uint64_t position);
/* End all waits, now and later. */
void
sim_store_stop(struct sim_store *store);
bool
sim_store_stopped(struct sim_store *store);

#endif
