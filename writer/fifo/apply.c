/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the DeltaFIFOs to the store once a turn, resource by resource (here: lanes), and commits. A Delta
 * without room is put back, and retried with a backoff or after applier_retry().
 */
#include "writer/fifo/apply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/backoff.h"
#include "writer/base/log.h"

struct lane {
	unsigned resource;
	struct delta_fifo *fifo;
	void (*on_popped)(void *context);
	void *context;
	bool popped;				/* in this batch */
	bool additions_wait;			/* while it is popped: additions_may_wait() */
};

struct applier {
	struct store *store;
	struct clock *clock;
	struct lane *lanes;
	size_t lane_count, turn;
	struct backoff backoff;
	struct clock_timer retry;
	bool dirty;				/* there are changes to commit */
	bool urgent;				/* some of them in this run */
	size_t put_off;				/* additions that wait for the commit */
	bool commit_waits;			/* a commit failed; retried when `retry` fires */
	char trouble[320];
	struct lane *lane;			/* being popped */
};

/* ---- applying ------------------------------------------------------------------ */

static int
apply_one(struct applier *p, const struct delta *d)
{
	struct draft draft = {d->ref};

	if (d->type != DELTA_DELETED)
		return store_put(p->store, p->lane->resource, draft, d->found);
	return store_delete(p->store, p->lane->resource, d->found, d->ref != 0, draft);
}

static int
apply(void *context, const struct delta *d)
{
	struct applier *p = context;
	int r = apply_one(p, d);

	if (r == 0) {
		p->dirty = true;
		if (p->lane->additions_wait && d->type == DELTA_REPLACED && d->found == FOUND_NEW)
			p->put_off++;
		else
			p->urgent = true;
	}
	return r;
}

/* ---- failures and retries ------------------------------------------------------- */

static void
on_retry(void *context)
{
	struct applier *p = context;

	/* applier_run() comes with the next turn of the loop. */
	p->commit_waits = false;
	for (size_t i = 0; i < p->lane_count; i++)
		delta_fifo_retry(p->lanes[i].fifo);
}

static void
in_trouble(struct applier *p, int error)
{
	bool first = p->trouble[0] == '\0';
	struct store_stats stats;

	store_stats(p->store, &stats);
	if (error == -ENOSPC)
		snprintf(
			p->trouble, sizeof(p->trouble),
			"the arena is full (%" PRIu64 " MiB, %" PRIu64
			" MiB of it wait for readers to let go) and cannot grow: raise "
			"arena.maxBytes, the size of its tmpfs, or the memory limit; changes wait until then",
			stats.arena_bytes >> 20, stats.retired_bytes >> 20);
	else
		snprintf(p->trouble, sizeof(p->trouble), "changes cannot be applied (%s) and wait",
			 strerror(-error));
	if (first)
		log_error("%s", p->trouble);
	if (!p->retry.armed)
		clock_set(p->clock, &p->retry, backoff_next(&p->backoff, p->clock, 0), on_retry, p);
}

static void
out_of_trouble(struct applier *p)
{
	if (p->trouble[0] == '\0')
		return;
	for (size_t i = 0; i < p->lane_count; i++)
		if (delta_fifo_waiting(p->lanes[i].fifo) > 0)
			return;
	p->trouble[0] = '\0';
	clock_clear(p->clock, &p->retry);
	log_info("the changes that waited are applied");
}

/* ---- a batch ---------------------------------------------------------------------- */

static void
pop(struct applier *p, struct lane *lane, size_t max)
{
	size_t before = delta_fifo_queued(lane->fifo);
	int r;

	if (before == 0)
		return;
	p->lane = lane;
	lane->popped = true;
	r = delta_fifo_pop(lane->fifo, max, apply, p);
	if (r < 0)
		in_trouble(p, r);
}

/*
 * A list's additions to a LISTING resource without listening readers may wait for a later commit: no queue
 * can overflow by it, and no known object becomes older.
 */
static bool
additions_may_wait(const struct applier *p, const struct lane *lane)
{
	return store_resource(p->store, lane->resource)->state == RESOURCE_LISTING &&
	       !store_is_heard(p->store, lane->resource);
}

/*
 * Lists share one budget a run, in turn; the next run begins with the next list. Items that a relist repeats
 * are not queued. So a relist that changes little is applied at once, and readers never see LISTING.
 */
static void
pop_lists(struct applier *p)
{
	size_t budget = APPLIER_LIST_BATCH, idle = 0;

	while (budget > 0 && idle < p->lane_count) {
		struct lane *lane = &p->lanes[p->turn++ % p->lane_count];
		size_t take = delta_fifo_queued(lane->fifo);

		if (take == 0 || !delta_fifo_is_listing(lane->fifo)) {
			idle++;
			continue;
		}
		idle = 0;
		if (take > APPLIER_LIST_QUANTUM)
			take = APPLIER_LIST_QUANTUM;
		lane->additions_wait = additions_may_wait(p, lane);
		pop(p, lane, take);
		lane->additions_wait = false;
		budget -= take < budget ? take : budget;
	}
}

/* Set the state and RV that the next commit shows for a resource. */
static void
publish_lane(struct applier *p, struct lane *lane)
{
	size_t length;
	const char *version = delta_fifo_version(lane->fifo, &length);
	const struct resource *now = store_resource(p->store, lane->resource);

	if (!delta_fifo_is_empty(lane->fifo)) {
		if (delta_fifo_is_listing(lane->fifo) && now->state != RESOURCE_LISTING) {
			store_set_state(p->store, lane->resource, RESOURCE_LISTING);
			p->dirty = p->urgent = true;
		}
		return;
	}
	if (length == 0 && lane->popped && now->state == RESOURCE_SYNCED) {
		store_set_state(p->store, lane->resource, RESOURCE_LISTING); /* until it has an RV again */
		p->dirty = p->urgent = true;
	}
	if (length == 0 || (now->state == RESOURCE_SYNCED && now->version_length == length &&
			    memcmp(now->version, version, length) == 0))
		return;
	if (store_set_version(p->store, lane->resource, version, length) < 0)
		return;
	store_set_state(p->store, lane->resource, RESOURCE_SYNCED);
	p->dirty = p->urgent = true;
}

static bool
anything_queued(const struct applier *p)
{
	for (size_t i = 0; i < p->lane_count; i++)
		if (delta_fifo_queued(p->lanes[i].fifo) > 0)
			return true;
	return false;
}

/* True if the commit can wait for the next run, which comes at once. */
static bool
can_wait(const struct applier *p)
{
	return anything_queued(p) && !p->urgent && p->put_off < APPLIER_PUT_OFF && p->trouble[0] == '\0';
}

bool
applier_run(struct applier *p)
{
	int r;

	pop_lists(p);
	/* also Deltas behind a list that has just ended: without them its RV could not be shown */
	for (size_t i = 0; i < p->lane_count; i++)
		if (!delta_fifo_is_listing(p->lanes[i].fifo))
			pop(p, &p->lanes[i], SIZE_MAX);
	for (size_t i = 0; i < p->lane_count; i++)
		publish_lane(p, &p->lanes[i]);
	if (p->dirty && !p->commit_waits && !can_wait(p)) {
		r = store_commit(p->store);
		p->commit_waits = r < 0;
		if (r < 0)
			in_trouble(p, r);
		else
			p->dirty = p->urgent = false;
		p->put_off = 0;
	}
	if (!p->dirty && store_sweep(p->store) == 0)
		out_of_trouble(p);
	for (size_t i = 0; i < p->lane_count; i++) {
		struct lane *lane = &p->lanes[i];

		if (lane->popped && lane->on_popped)
			lane->on_popped(lane->context);
		lane->popped = false;
	}
	return anything_queued(p);
}

void
applier_flush(struct applier *p)
{
	on_retry(p);
	while (applier_run(p))
		;
}

/* ---- the lanes ---------------------------------------------------------------------- */

struct applier *
applier_new(struct store *store, struct clock *clock)
{
	struct applier *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->store = store;
	p->clock = clock;
	return p;
}

void
applier_free(struct applier *p)
{
	if (!p)
		return;
	clock_clear(p->clock, &p->retry);
	free(p->lanes);
	free(p);
}

int
applier_add(struct applier *p, unsigned resource, struct delta_fifo *fifo, void (*on_popped)(void *context),
	    void *context)
{
	struct lane *grown = realloc(p->lanes, (p->lane_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->lanes = grown;
	p->lanes[p->lane_count++] = (struct lane){
		.resource = resource,
		.fifo = fifo,
		.on_popped = on_popped,
		.context = context,
	};
	return 0;
}

static struct lane *
find_lane(const struct applier *p, const struct delta_fifo *fifo)
{
	for (size_t i = 0; i < p->lane_count; i++)
		if (p->lanes[i].fifo == fifo)
			return &p->lanes[i];
	return NULL;
}

void
applier_remove(struct applier *p, const struct delta_fifo *fifo)
{
	struct lane *lane = find_lane(p, fifo);

	if (lane)
		*lane = p->lanes[--p->lane_count];
}

void
applier_distrust(struct applier *p, struct delta_fifo *fifo)
{
	struct lane *lane = find_lane(p, fifo);

	if (!lane)
		return;
	delta_fifo_set_version(fifo, "", 0);
	store_set_version(p->store, lane->resource, "", 0);
	store_set_state(p->store, lane->resource, RESOURCE_LISTING);
	p->dirty = p->urgent = true;
}

void
applier_retry(struct applier *p)
{
	if (!p->retry.armed)
		return;
	clock_clear(p->clock, &p->retry);
	on_retry(p);
}

void
applier_touch(struct applier *p)
{
	p->dirty = p->urgent = true;
}

const char *
applier_trouble(const struct applier *p)
{
	return p->trouble;
}
