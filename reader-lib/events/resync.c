/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resync: each object is told again once in a period, as an update of itself (client-go's rule), spread over
 * the period in slices. A slice takes the ordinals that its share of the period has, from a snapshot; nothing
 * is asked of the daemon.
 *
 * What has an event waiting is left out: its seq is beyond the handler's cursor. Nothing is told again while
 * the handler is not up to date (before it is synced, in a catch-up).
 */
#include <string.h>

#include "reader-lib/events/handler.h"
#include "reader-lib/read/found_object.h"
#include "shm-layout/time_ns.h"

#define PERIOD_MIN_MS 1000u
#define SLICES 20u
#define STEP_MIN_NS 50000000ull
#define STEP_MAX_NS 1000000000ull

void
resync_init(struct handler_work *w)
{
	uint64_t ms = w->o.resync_ms;

	w->due_ns = UINT64_MAX;
	if (ms == 0 || ms == INFORMER_NO_RESYNC)
		return;
	w->period_ns = (ms < PERIOD_MIN_MS ? PERIOD_MIN_MS : ms) * 1000000u;
	w->step_ns = w->period_ns / SLICES;
	w->step_ns = w->step_ns < STEP_MIN_NS   ? STEP_MIN_NS
		     : w->step_ns > STEP_MAX_NS ? STEP_MAX_NS
						: w->step_ns;
	w->begun_ns = time_ns(CLOCK_MONOTONIC);
	w->due_ns = w->begun_ns + w->step_ns;
}

static int
ordinal_of(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
	   uint64_t *ret_key)
{
	const struct object *o = link_is_immediate(leaf) ? NULL : object_at(view, leaf);

	(void)self;
	(void)way;
	if (!o)
		return -EBADMSG;
	*ret_key = LOAD_ONCE(&o->ordinal);
	return 0;
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
		r = snapshot_settle(slice->s, r);
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

/* Tell the ordinals from..to of a part. Returns where it stopped, or negative. */
static int64_t
tell_range(struct slice *slice, uint32_t part, uint64_t from, uint64_t to)
{
	static const struct trie_keys keys = {ordinal_of, NULL};
	const struct resource *resource = part_resource(slice->s, &slice->binding->parts[part]);
	struct trie_iter it;
	int r = resource ? trie_seek(&it, &slice->s->view, resource->ordinals, from, &keys) : -EBADMSG;

	for (; r > 0; r = trie_next(&it)) {
		const struct object *o = link_is_immediate(it.leaf) ? NULL
								    : object_at(&slice->s->view, it.leaf);

		uint32_t ordinal = o ? LOAD_ONCE(&o->ordinal) : 0;

		if (!o || ordinal < from)
			return -EBADMSG;
		if (ordinal >= to)
			break;
		if (slice->count >= FEED_BATCH || handler_leaves(slice->h))
			return ordinal;
		r = tell_again(slice, part, o, it.leaf);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : (int64_t)to;
}

/* How many ordinals a part has given out; negative: that cannot be read. */
static int64_t
ordinals_of(const struct slice *slice, uint32_t part)
{
	const struct resource *r = part_resource(slice->s, &slice->binding->parts[part]);
	uint64_t next = r ? LOAD_ONCE(&r->next_ordinal) : UINT64_MAX;

	return snapshot_settle(slice->s, 0) < 0 || next > LINK_IMMEDIATE ? -EBADMSG : (int64_t)next;
}

/* Go on to `share` of all ordinals (in 1/2^32). 1 when that is reached, 0 when there is more, or negative. */
static int
go_on(struct slice *slice, uint64_t share)
{
	struct handler_work *w = slice->h->work;
	uint64_t total = 0, end, base = 0;
	int64_t size, reached;

	for (uint32_t i = 0; i < slice->binding->count; i++) {
		size = ordinals_of(slice, i);
		if (size < 0)
			return -EBADMSG;
		total += (uint64_t)size;
	}
	end = share >= 1ull << 32 ? total : (uint64_t)((unsigned __int128)total * share >> 32);
	for (uint32_t i = 0; i < slice->binding->count && w->at < end; i++) {
		uint64_t to;

		size = ordinals_of(slice, i);
		if (size < 0)
			return -EBADMSG;
		to = end - base < (uint64_t)size ? end - base : (uint64_t)size;
		if (w->at < base + (uint64_t)size) {
			reached = tell_range(slice, i, w->at - base, to);
			if (reached < 0 || snapshot_settle(slice->s, 0) < 0)
				return -EBADMSG;
			w->at = base + (uint64_t)reached;
			if ((uint64_t)reached < to)
				return 0;
		}
		base += (uint64_t)size;
	}
	return 1;
}

int
resync_turn(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	uint64_t now, elapsed;
	struct informer_snapshot snap = {0};
	struct slice slice = {.h = h};
	int r;

	if (w->due_ns == UINT64_MAX)
		return 0;
	now = time_ns(CLOCK_MONOTONIC);
	if (now < w->due_ns)
		return 0;
	w->due_ns = now + w->step_ns;
	if (!f->ring || !f->settled || f->mode != FEED_MODE_RING || !w->synced_told || !ring_usable(f->ring))
		return 0;
	elapsed = now - w->begun_ns;
	r = snapshot_begin_on(h->inf, f->ring->mapping, &snap);
	if (r < 0)
		return r;
	slice.s = snapshot_of(&snap);
	r = resource_bind(slice.s, f->sub->resource, &slice.binding);
	if (r == 0)
		r = go_on(&slice, elapsed >= w->period_ns
					  ? 1ull << 32
					  : (uint64_t)(((unsigned __int128)elapsed << 32) / w->period_ns));
	informer_end(&snap);
	if (r == 0)
		w->due_ns = now; /* the slice has more than a batch */
	if (r == 1 && elapsed >= w->period_ns) {
		w->begun_ns = now;
		w->at = 0;
	}
	/* What cannot be read now is not told again this time; the feed has the same trouble, and says so. */
	return slice.count > 0 || r == 0;
}
