/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of a handler's feed. The items of a turn are in feed_next.c.
 */
#include "reader-lib/events/feed.h"

#include <string.h>
#include <time.h>

#define BROKEN_NS 1000000000ull
#define TRIES 4
#define NEXT_RING 2	/* of open_once(): change to the ring that arrived */

void
feed_init(struct feed *f, struct informer *inf, struct subscription *sub)
{
	f->inf = inf;
	f->sub = sub;
	f->caught_up = true;
	f->ns_length = strlen(sub->ns);
}

void
feed_done(struct feed *f, bool in_child)
{
	if (!in_child)
		feed_close(f);
	by_seq_done(f->inf, &f->by_seq);
	ring_free(f->ring, in_child);
	f->ring = NULL;
}

/* Change to the ring that arrived. Between turns only: a turn ends in the ring in which it began. */
static bool
fetch(struct feed *f)
{
	struct ring *ring = subscription_take(f->sub), *old = f->ring;

	if (!ring)
		return false;
	pthread_mutex_lock(&f->inf->lock);
	f->ring = ring;
	pthread_mutex_unlock(&f->inf->lock);
	ring_free(old, false);
	if (!f->has_cursor && ring->has_cursor && ring->seq > 0) {
		memcpy(f->cursor.lineage, ring->lineage, sizeof(f->cursor.lineage));
		f->cursor.seq = ring->seq;
		f->has_cursor = true;
		f->mode = FEED_MODE_RING;
		f->caught_up = true;
		f->stored = true;
	}
	return true;
}

void
feed_broken(struct feed *f, const char *why)
{
	struct ring *ring = f->ring;

	error_set(
		INFORMER_E_CORRUPT,
		"the events of %s make no sense (%s): asking for them anew; what is there will be told again",
		f->sub->resource->name, why);
	log_say(f->inf, INFORMER_LOG_ERROR, "the events of %s make no sense (%s): asking for them anew",
		f->sub->resource->name, why);
	f->resync = true;
	f->over = true;
	pthread_mutex_lock(&f->inf->lock);
	f->ring = NULL;
	subscription_renew(f->inf, f->sub, BROKEN_NS);
	pthread_mutex_unlock(&f->inf->lock);
	feed_close(f);
	ring_free(ring, false);
}

void
feed_begin_anew(struct feed *f)
{
	f->resync = f->over = f->again = true;
}

bool
feed_all_listed(const struct feed *f)
{
	for (uint32_t i = 0; i < f->parts; i++)
		if (!(f->listed[i / 64] >> i % 64 & 1))
			return false;
	return f->parts > 0;
}

/* Note which parts' lists are complete in the snapshot. 0, or why that cannot be known. */
static int
note_lists(struct feed *f)
{
	uint64_t listed[RESOURCE_MAX / 64] = {0};
	int r;

	for (uint32_t i = 0; i < f->binding->count; i++) {
		const struct resource *resource = part_resource(feed_snapshot(f), &f->binding->parts[i]);

		if (resource && LOAD_ONCE(&resource->state) == RESOURCE_SYNCED)
			listed[i / 64] |= 1ull << i % 64;
	}
	r = snapshot_validate(feed_snapshot(f), 0);
	if (r < 0)
		return r;
	memcpy(f->listed, listed, sizeof(f->listed));
	f->parts = f->binding->count;
	return 0;
}

int
feed_forgotten_after(const struct feed *f, uint64_t seq)
{
	int forgotten = 0;

	for (uint32_t i = 0; i < f->binding->count && !forgotten; i++) {
		const struct resource *r = part_resource(feed_snapshot(f), &f->binding->parts[i]);

		forgotten = !r || LOAD_ONCE(&r->tombstone_floor) > seq;
	}
	return snapshot_validate(feed_snapshot(f), forgotten);
}

/* The caller has called note_lists() for the episode. */
static int
begin_walk(struct feed *f, enum feed_walk walk, uint64_t after)
{
	memcpy(f->cursor.lineage, f->root.lineage, sizeof(f->cursor.lineage));
	f->cursor.seq = after;
	f->has_cursor = true;
	f->walk = walk;
	f->from = f->position = after;
	f->unsure = walk == WALK_COALESCED && f->stored;
	f->stored = false;
	f->target = f->root.seq;
	f->gone_after = walk == WALK_COALESCED ? after : f->target;
	f->mode = FEED_MODE_WALK;
	f->caught_up = false;
	f->begin = f->fresh = true;
	return 1;
}

/*
 * Begin a RESYNC, once all lists are complete: before, objects that are still to be listed would look
 * deleted.
 */
static int
begin_resync(struct feed *f)
{
	int r = note_lists(f);

	if (r < 0)
		return r;
	if (!feed_all_listed(f)) {
		f->mode = FEED_MODE_AWAIT;
		ring_throw_away(f->ring);
		f->ring->looked = f->ring->root_epoch;
		return 0;
	}
	f->resync = false;
	return begin_walk(f, WALK_RESYNC, 0);
}

/* Walk from the cursor to now. An episode that is not over goes on, with the beginning that it had. */
static int
begin_catch_up(struct feed *f)
{
	int r = feed_forgotten_after(f, f->cursor.seq);

	if (r < 0)
		return r;
	if (r > 0)
		return begin_resync(f);
	if (f->caught_up) {
		r = note_lists(f);
		return r < 0 ? r : begin_walk(f, WALK_COALESCED, f->cursor.seq);
	}
	f->position = f->cursor.seq;
	f->target = f->root.seq;
	f->mode = FEED_MODE_WALK;
	f->begin = true;
	f->fresh = false;
	return 1;
}

/* What to do after the look. 1: go on; 0: nothing; -EAGAIN: look again; NEXT_RING; or negative. */
static int
decide(struct feed *f, bool other_arrived)
{
	const struct feed_root *root = &f->root;
	const struct ring_look *look = &f->ring->look;
	bool first = atomic_load_explicit(&f->ring->openings, memory_order_relaxed) == 0;
	bool overflowed = !look->open;
	int r;

	/* Read the old ring to its end only if it is open and the feed reads from it. */
	if (other_arrived && (overflowed || f->mode != FEED_MODE_RING || !f->has_cursor))
		return NEXT_RING;
	if (overflowed)										/* Q3 */
		ring_throw_away(f->ring);
	if (look->base > root->seq)
		return -EAGAIN;
	if (first) {
		pthread_mutex_lock(&f->inf->lock);
		memcpy(f->ring->arena_lineage, root->lineage, sizeof(root->lineage));
		pthread_mutex_unlock(&f->inf->lock);
	}
	atomic_store_explicit(&f->ring->openings, look->openings, memory_order_relaxed);
	if (!f->has_cursor) {
		/* The daemon does not know the consumer: it is new or forgotten, or its arena was lost. */
		if (f->sub->consumer[0])
			return begin_resync(f);
		r = note_lists(f);
		return r < 0 ? r : begin_walk(f, WALK_INITIAL, 0);
	}
	if (f->resync || memcmp(f->cursor.lineage, root->lineage, sizeof(root->lineage)) != 0)
		return begin_resync(f);
	if (f->cursor.seq > root->seq) /* no commit of this lineage has that seq yet: the cursor is wrong */
		return begin_resync(f);
	switch (f->mode) {
	case FEED_MODE_AWAIT:
		return begin_resync(f);
	case FEED_MODE_WALK:
		if (f->target <= f->gone_after)
			return 1;
		r = feed_forgotten_after(f, f->position > f->gone_after ? f->position : f->gone_after);
		return r == 0 ? 1 : r < 0 ? r : begin_resync(f);
	case FEED_MODE_RING:
		break;
	}
	r = first && f->caught_up ? note_lists(f) : 0;
	if (r < 0)
		return r;
	if (f->stored)
		return begin_catch_up(f);
	if (overflowed && f->caught_up && f->cursor.seq == root->seq) {
		/* Caught up. The ring opens with the next commit that has something for it. */
		f->ring->looked = f->ring->root_epoch;
		return 0;
	}
	if (overflowed || look->base > f->cursor.seq)						/* Q4 */
		return begin_catch_up(f);
	return 1;
}

/* To be validated. */
static void
read_pinned_root(struct feed *f)
{
	const struct root *root = feed_snapshot(f)->root;

	f->root.epoch = LOAD_ONCE(&root->epoch);
	f->root.seq = LOAD_ONCE(&root->seq);
	memcpy(f->root.lineage, root->lineage, sizeof(f->root.lineage));
}

/* Read the newest seq, and validate it and the pinned root. 0, or why that is not possible. */
static int
read_newest_root(struct feed *f)
{
	const struct snapshot *s = feed_snapshot(f);
	const struct root *newest = root_at(&s->view, slot_load_root(s->mapping->header));

	f->root.newest_seq = newest ? LOAD_ONCE(&newest->seq) : 0;
	return snapshot_validate(s, newest ? 0 : -EBADMSG);
}

static int
open_once(struct feed *f)
{
	const struct snapshot *s = feed_snapshot(f);
	struct ring *ring;
	bool other_arrived;
	int r;

	if (!f->ring && !fetch(f))
		return 0;
	ring = f->ring;
	other_arrived = subscription_has_arrived(f->sub);
	if (!ring_usable(ring))
		return other_arrived ? NEXT_RING : 0;
	r = snapshot_begin_on(f->inf, ring->mapping, &f->snap);					/* Q1 */
	if (r < 0)
		return other_arrived && r != INFORMER_E_BUSY ? NEXT_RING : r;
	f->open = true;
	read_pinned_root(f);
	r = resource_bind(s, f->sub->resource, &f->binding);
	ring->blocked = r == INFORMER_E_NO_RESOURCE || r == INFORMER_E_NOT_READY;
	if (r < 0 && other_arrived)
		return NEXT_RING;
	if (ring->blocked)
		ring->looked = f->root.epoch;
	if (r < 0)
		return ring->blocked ? 0 : r;
	r = ring_look(ring, &ring->look);							/* Q2 */
	if (r < 0)
		return r;
	snapshot_stretch(&f->snap);
	r = read_newest_root(f);
	if (r < 0)
		return r;
	if (f->root.epoch != ring->root_epoch) {
		/* The daemon pushes a commit's entries before it publishes the next commit. */
		ring->proven = ring->root_seq;
		ring->root_seq = f->root.seq;
		ring->root_epoch = f->root.epoch;
	}
	return decide(f, other_arrived);
}

int
feed_open(struct feed *f)
{
	int r = -EAGAIN;

	f->count = 0;
	f->over = f->walking = f->checked = f->again = false;
	for (unsigned i = 0; i < TRIES && r == -EAGAIN; i++) {
		feed_close(f);
		r = open_once(f);
		if (r == NEXT_RING) {
			feed_close(f);
			r = fetch(f) ? -EAGAIN : 0;
		}
	}
	if (r == -EBADMSG || r == INFORMER_E_CORRUPT || r == -EAGAIN) {
		feed_broken(f, r == -EBADMSG  ? "the queue's head"
			       : r == -EAGAIN ? "it begins after the newest change"
					      : "the arena");
		return 0;
	}
	return r;
}

void
feed_close(struct feed *f)
{
	if (!f->open)
		return;
	f->open = false;
	f->binding = NULL;
	if (f->ring && f->ring->next != atomic_load_explicit(&f->ring->consumed, memory_order_relaxed))
		ring_consume(f->ring);
	informer_end(&f->snap);
}

/*
 * Whether a root is newer than the one with which the feed found nothing to do. Does not read the root's
 * block.
 */
static bool
commit_came(const struct ring *ring)
{
	return slot_load_newest(ring->mapping->header) > ring->looked;
}

bool
feed_due(const struct feed *f)
{
	const struct ring *ring = f->ring;

	if (f->again || subscription_has_arrived(f->sub))
		return true;
	if (!ring || !ring_usable(ring))
		return false;
	if (ring->blocked)
		return commit_came(ring);
	if (f->mode == FEED_MODE_WALK || ring_has_news(ring))
		return true;
	if (f->mode == FEED_MODE_AWAIT || !ring_is_open(ring))
		return commit_came(ring);
	/* An episode ends only when its ring is read to its end, and a turn may end with the last entry. */
	return !f->caught_up && !f->drained;
}

void
feed_change_over(struct feed *f)
{
	feed_close(f);
	fetch(f);
	f->over = f->again = true;
}
