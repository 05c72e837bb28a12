/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resync: each object is told again once a period, as an update of itself (client-go's rule). The period is
 * divided: a turn takes the next ordinals from a snapshot, and the next turn is due when their share of the
 * period has passed. The daemon is not asked.
 *
 * An object with a waiting event is left out: its seq is beyond the handler's cursor. Nothing is told again
 * before the handler is synced, or while it catches up.
 */
#include "reader-lib/events/handler.h"
#include "reader-lib/read/found_object.h"
#include "shm-layout/ordinal.h"
#include "shm-layout/time_ns.h"

#define PERIOD_MIN_MS 1000u
#define SLICES 20u

void
resync_init(struct handler_work *w)
{
	uint64_t ms = w->o.resync_ms;

	w->due_ns = UINT64_MAX;
	if (ms == 0 || ms == INFORMER_NO_RESYNC)
		return;
	w->period_ns = (ms < PERIOD_MIN_MS ? PERIOD_MIN_MS : ms) * 1000000u;
	w->due_ns = time_ns(CLOCK_MONOTONIC) + w->period_ns / SLICES;
}

struct slice {
	struct informer_handler *h;
	const struct snapshot *s;
	const struct resource_binding *binding;
	unsigned count;
};

static int
tell_again(struct slice *slice, uint32_t part, const struct object *o, uint32_t ref)
{
	struct handler_work *w = slice->h->work;
	struct informer_object object, copy;
	const struct informer_object *shown;
	int r;

	if (LOAD_ONCE(&o->seq) > w->feed.cursor.seq || !feed_wants(&w->feed, o))
		return 0;
	r = handler_matches(w, slice->s, o, ref, slice->binding->parts[part].position);
	if (r > 0)
		r = snapshot_validate(slice->s, r);
	if (r <= 0)
		return r;
	object_set(&object, slice->s, o, ref, slice->binding->parts[part].position);
	if (w->o.on_value) {
		handler_tell_value_again(slice->h, slice->s, o, &object);
	} else if (w->o.on_update) {
		shown = handler_shown(w, &object, &copy);
		w->o.on_update(w->o.context, shown, shown);
		informer_object_free(&copy);
	}
	atomic_fetch_add_explicit(&slice->h->events, 1, memory_order_relaxed);
	slice->count++;
	return 0;
}

/* How many ordinals the resource has given out; negative: they cannot be read. */
static int64_t
ordinals_of(const struct slice *slice)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < slice->binding->count; i++) {
		const struct resource *r = part_resource(slice->s, &slice->binding->parts[i]);
		uint64_t next = r ? LOAD_ONCE(&r->next_ordinal) : UINT64_MAX;

		if (next > LINK_IMMEDIATE)
			return -EBADMSG;
		total += next;
	}
	return snapshot_validate(slice->s, 0) < 0 ? -EBADMSG : (int64_t)total;
}

/* Tell the next `left` ordinals again; after the last one, start over. 0 or negative. */
static int
go_on(struct slice *slice, uint64_t left)
{
	struct handler_work *w = slice->h->work;

	for (; w->part < slice->binding->count; w->part++, w->at = 0) {
		const struct resource *resource = part_resource(slice->s, &slice->binding->parts[w->part]);

		for (; resource && w->at < LOAD_ONCE(&resource->next_ordinal); w->at++) {
			const struct object *o;
			uint32_t ref;
			int r;

			if (left-- == 0 || handler_leaves(slice->h))
				return 0;
			r = ordinal_object(&slice->s->view, LOAD_ONCE(&resource->ordinals), w->at, &ref, &o);
			if (r > 0)
				r = tell_again(slice, w->part, o, ref);
			if (r < 0)
				return r;
		}
	}
	w->part = 0;
	return 0;
}

int
resync_turn(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	uint64_t now = time_ns(CLOCK_MONOTONIC), due = w->due_ns, count;
	struct informer_snapshot snap = {0};
	struct slice slice = {.h = h};
	int64_t total = 0;
	int r;

	if (now < due)
		return 0;
	w->due_ns = now + w->period_ns / SLICES;
	if (!f->ring || !f->caught_up || f->mode != FEED_MODE_RING || !w->synced_told ||
	    !ring_usable(f->ring))
		return 0;
	r = snapshot_begin_on(h->inf, f->ring->mapping, &snap);
	if (r < 0)
		return r;
	slice.s = snapshot_of(&snap);
	r = resource_bind(slice.s, f->sub->resource, &slice.binding);
	if (r == 0)
		total = ordinals_of(&slice);
	if (total > 0) {
		count = (uint64_t)total / SLICES + 1;
		count = count < FEED_BATCH ? count : FEED_BATCH;
		/* a turn that comes late is made up for, up to one period */
		due = now - due < w->period_ns ? due : now - w->period_ns;
		w->due_ns = due + w->period_ns * count / (uint64_t)total;
		/* What cannot be read is left out this time: the feed meets and reports the same error. */
		(void)go_on(&slice, count);
	}
	informer_end(&snap);
	return slice.count > 0;
}
