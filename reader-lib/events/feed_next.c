/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of a turn: first the rest of a walk, then the ring's entries.
 */
#include <string.h>

#include "reader-lib/events/feed.h"

/* Objects of other namespaces that one turn may skip. */
#define SCAN_MAX 4096u

static inline bool
part_listed(const struct feed *f, uint32_t part)
{
	return f->listed[part / 64] >> part % 64 & 1;
}

/* What was read makes no sense. Gives up the ring, unless the arena was taken back. */
static int
damaged(struct feed *f, const char *why)
{
	if (snapshot_validate(feed_snapshot(f), 0) < 0)
		f->over = true;	/* from now on ring_usable() is false */
	else
		feed_broken(f, why);
	return 0;
}

static int
give(struct feed *f, const struct feed_item **ret)
{
	f->count++;
	*ret = &f->item;
	return 1;
}

static int
give_caught_up(struct feed *f, const struct feed_item **ret)
{
	f->caught_up = true;
	f->item = (struct feed_item){.kind = FEED_CAUGHT_UP, .seq = f->cursor.seq};
	return give(f, ret);
}

/* ---- walks ---- */

static void
end_walk(struct feed *f)
{
	f->cursor.seq = f->target;
	f->mode = FEED_MODE_RING;
	f->walking = false;
}

/* Make the item from what the walk found. To be validated. */
static void
set_found(struct feed *f, const struct found *found)
{
	const struct object *o = found->object;

	f->item = (struct feed_item){.kind = found->gone ? FEED_GONE : FEED_PRESENT,
				     .part = found->part,
				     .seq = found->seq,
				     .created_seq = LOAD_ONCE(&o->created_seq)};
	f->item.initial = (f->walk != WALK_COALESCED && f->item.created_seq <= f->gone_after) ||
			  !part_listed(f, found->part);
	if (found->gone) {
		f->item.old_object = o;
		f->item.old_ref = found->ref;
		f->item.unseen = found->unseen;
	} else {
		f->item.new_object = o;
		f->item.new_ref = found->ref;
	}
}

/* 1: an item; 0: the turn is over; 2: the walk is at its end. */
static int
next_of_walk(struct feed *f, const struct feed_item **ret)
{
	const struct snapshot *s = feed_snapshot(f);
	struct found found;
	bool wanted;
	int r = 0;

	if (!f->walking) {
		r = by_seq_start(&f->by_seq, s, f->binding, f->position);
		f->walking = true;
	}
	for (unsigned scanned = 0; r >= 0 && scanned < SCAN_MAX; scanned++) {
		r = by_seq_next(&f->by_seq, &found);
		if (r < 0)
			break;
		wanted = r > 0 && found.seq <= f->target && feed_wants(f, found.object);
		if (wanted)
			set_found(f, &found);
		if (snapshot_validate(s, 0) < 0)
			return damaged(f, "");
		if (wanted)
			return give(f, ret);
		if (r == 0 || found.seq > f->target) {
			end_walk(f);
			return 2;
		}
		f->position = found.seq;
	}
	if (r < 0)
		return damaged(f, "the index by seq");
	f->over = f->again = true;
	return 0;
}

/* ---- the ring ---- */

static int
part_of(const struct feed *f, uint16_t position)
{
	for (uint32_t i = 0; i < f->binding->count; i++)
		if (f->binding->parts[i].position == position)
			return (int)i;
	return -1;
}

/*
 * Follow an entry's refs, and compare the objects with the entry. Returns why they do not fit, or NULL. To be
 * validated.
 */
static const char *
follow(struct feed *f, const struct queue_entry *e)
{
	const struct arena_view *view = &feed_snapshot(f)->view;
	struct feed_item *item = &f->item;
	const struct object *o;
	uint32_t ordinal;

	if (e->kind == QUEUE_ADDED || e->kind == QUEUE_UPDATED) {
		item->new_ref = e->new_ref;
		item->new_object = object_at(view, e->new_ref);
		if (!item->new_object || LOAD_ONCE(&item->new_object->seq) != e->seq)
			return "an entry's new object";
	}
	if (e->kind == QUEUE_DELETED || e->kind == QUEUE_UPDATED) {
		item->old_ref = e->old_ref;
		item->old_object = object_at(view, e->old_ref);
		if (!item->old_object || LOAD_ONCE(&item->old_object->seq) >= e->seq)
			return "an entry's old object";
	}
	if (e->kind == QUEUE_DELETED) {
		item->unseen = e->new_ref == 0;
		item->new_ref = item->unseen ? e->old_ref : e->new_ref;
		item->new_object = object_at(view, item->new_ref);
		if (!item->new_object)
			return "an entry's final object";
	}
	o = e->kind == QUEUE_DELETED ? item->old_object : item->new_object;
	ordinal = LOAD_ONCE(&o->ordinal);
	item->created_seq = LOAD_ONCE(&o->created_seq);
	o = e->kind == QUEUE_DELETED ? item->new_object : item->old_object;
	return e->kind != QUEUE_ADDED && LOAD_ONCE(&o->ordinal) != ordinal ? "an entry of two objects" : NULL;
}

/* 1: an item; 0: no item, go on; 2: the turn is over. */
static int
read_entry(struct feed *f, const struct queue_entry *e)
{
	static const enum feed_kind kinds[] = {
		[QUEUE_ADDED] = FEED_ADDED, [QUEUE_UPDATED] = FEED_UPDATED, [QUEUE_DELETED] = FEED_DELETED,
		[QUEUE_SYNCED] = FEED_LISTED, [QUEUE_STATUS] = FEED_STATUS};
	const char *why;
	int part;

	if (e->kind < QUEUE_ADDED || e->kind > QUEUE_STATUS || e->seq > f->root.newest_seq) {
		damaged(f, "an entry");
		return 2;
	}
	if ((e->kind <= QUEUE_DELETED || e->kind == QUEUE_RESET) && e->seq <= f->cursor.seq)
		return 0;
	if (e->kind == QUEUE_RESET) {
		f->resync = true;
		f->ring->next++;
		f->over = f->again = true;
		return 2;
	}
	part = part_of(f, e->resource);
	if (part < 0) {
		/* The next snapshot has the part; or the part was removed, if this root has the entry. */
		if (e->seq <= f->root.seq) {
			if (f->ring->stranger == f->ring->next + 1) { /* a RESYNC did not pass it */
				damaged(f, "an entry of a resource that is not there");
				return 2;
			}
			f->ring->stranger = f->ring->next + 1;
			f->resync = true;
		}
		f->over = f->again = true;
		return 2;
	}
	f->item = (struct feed_item){.kind = kinds[e->kind], .part = (uint32_t)part, .seq = e->seq};
	if (e->kind <= QUEUE_DELETED) {
		why = follow(f, e);
		if (why || snapshot_validate(feed_snapshot(f), 0) < 0) {
			damaged(f, why);
			return 2;
		}
		f->item.initial = !part_listed(f, (uint32_t)part);
	} else if (e->kind == QUEUE_STATUS) {
		f->item.new_ref = e->new_ref;
	} else {
		f->listed[part / 64] |= 1ull << part % 64;
	}
	return 1;
}

/* Whether the pinned root shows something that was not told yet: 1, 0 or negative. */
static int
outstanding(struct feed *f)
{
	struct found found;
	int r = by_seq_start(&f->by_seq, feed_snapshot(f), f->binding, f->cursor.seq);

	for (unsigned passed = 1; r >= 0 && (r = by_seq_next(&f->by_seq, &found)) > 0; passed++) {
		if (feed_wants(f, found.object))
			break;
		if (passed % SNAPSHOT_LOOK_EVERY == 0)
			r = snapshot_validate(feed_snapshot(f), r);
	}
	return snapshot_validate(feed_snapshot(f), r);
}

/* The ring is read to its end. An episode ends here, if nothing is outstanding. */
static int
drained(struct feed *f, const struct feed_item **ret)
{
	uint64_t seq = f->root.seq;
	int r, forgotten;

	if (!f->caught_up && !f->checked) {
		f->checked = true;
		r = outstanding(f);
		/* A forgotten deletion after the cursor is in the ring, or will be: do not pass it. */
		forgotten = r == 0 && f->cursor.seq < seq ? feed_forgotten_after(f, f->cursor.seq) : r;
		if (forgotten < 0)
			return damaged(f, "the index by seq");
		if (r == 0) {
			if (f->cursor.seq < seq && !forgotten)
				f->cursor.seq = seq;
			return give_caught_up(f, ret);
		}
	}
	if (f->caught_up && f->ring->proven > f->cursor.seq)
		f->cursor.seq = f->ring->proven;
	f->drained = true;
	f->ring->looked = f->ring->root_epoch;
	f->over = true;
	if (subscription_has_arrived(f->sub))
		feed_change_over(f);
	return 0;
}

static int
next_of_ring(struct feed *f, const struct feed_item **ret)
{
	struct ring *ring = f->ring;

	/* If the look saw the ring closed, or beginning after the cursor, it is for the next turn. */
	if (!ring->look.open || ring->look.base > f->cursor.seq) {
		f->over = f->again = true;
		return 0;
	}
	while (ring->next != ring->look.head) {							/* Q5 */
		struct queue_entry e = ring_entry(ring, ring->next);
		int r = read_entry(f, &e);

		if (r == 1)
			return give(f, ret);
		if (r == 2)
			return 0;
		ring->next++;
	}
	return drained(f, ret);
}

int
feed_next(struct feed *f, const struct feed_item **ret)
{
	int r = 2;

	if (f->over || !f->open || f->count >= FEED_BATCH)
		return 0;
	if (f->begin) {
		f->item = (struct feed_item){.kind = FEED_BEGIN};
		return give(f, ret);
	}
	if (f->mode == FEED_MODE_WALK) {
		r = next_of_walk(f, ret);
		if (r != 2)
			return r;
		/* This is the root with which the walk began: no object moved beyond the target. */
		if (f->root.seq == f->target)
			return give_caught_up(f, ret);
	}
	return f->mode == FEED_MODE_RING ? next_of_ring(f, ret) : 0;
}

void
feed_told(struct feed *f)
{
	f->drained = false;
	switch (f->item.kind) {
	case FEED_ADDED:
	case FEED_UPDATED:
	case FEED_DELETED:
		f->cursor.seq = f->item.seq;
		/* fall through */
	case FEED_STATUS:
	case FEED_LISTED:
		f->ring->next++;
		ring_consume(f->ring);
		break;
	case FEED_PRESENT:
	case FEED_GONE:
		f->position = f->item.seq;
		break;
	case FEED_BEGIN:
		f->begin = false;
		break;
	case FEED_CAUGHT_UP:
		break;
	}
}
