/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an item of the feed to calls.
 *
 *	item, what was believed        selected: yes                       no
 *	present, absent                add                                 -
 *	present, may be there          update, old unknown                 delete, final state unknown
 *	present, told                  update, old unknown                 delete, final state unknown
 *	present, another was told      delete of that one, then as absent
 *	gone, absent                   -                                   -
 *	  (in an episode from a stored cursor, absent, or gone and not selected, is a delete all the same: it
 *	  may have been told before the consumer died, and not acknowledged)
 *	gone, may be there or told     delete                              delete, final state unknown
 *	added                          add                                 -
 *	updated, told                  update                              delete with the old state
 *	updated, not told              add                                 -
 *	deleted, told                  delete                              delete
 *
 * What was believed: of a settled feed, that the old state was told if it was selected; in an episode see
 * catch_up_known.h; with track_keys what the table says.
 */
#include <string.h>

#include "reader-lib/events/handler.h"

/* ---- what was believed, and what is from now on ---- */

static uint64_t
metadata_hash(const struct handler_work *w, uint32_t ref, const char *field)
{
	struct value body = value_of_object(&feed_snapshot(&w->feed)->view, ref);

	return told_keys_hash(&w->keys, value_at_name(value_at_name(body, "metadata"), field));
}

static enum known_state
known_of(struct handler_work *w, const struct feed_item *item, const struct object *o, uint32_t ref,
	 struct told_key **ret_entry)
{
	const struct feed *f = &w->feed;
	enum known_state known = KNOWN_NONE;

	*ret_entry = w->o.track_keys ? told_keys_find(&w->keys, o) : NULL;
	if (*ret_entry)
		return (*ret_entry)->uid == metadata_hash(w, ref, "uid") ? KNOWN_PRESENT : KNOWN_OTHER;
	if (w->o.track_keys && w->whole)
		return KNOWN_ABSENT;
	if (!f->settled)
		known = catch_up_known_get(&w->catch_up_known, item->part, o->ordinal);
	if (known == KNOWN_NONE)
		known = !f->settled && o->created_seq <= f->from ? KNOWN_MAYBE : KNOWN_ABSENT;
	return known;
}

/*
 * In an episode from a stored cursor, what was created after it may still have been told: it was not
 * acknowledged, no more.
 */
static bool
may_have_been_told(const struct handler_work *w)
{
	return !w->feed.settled && w->feed.unsure;
}

/* What was told of it is not the state before this one: the episode has not come to it yet. */
static bool
is_behind(const struct handler_work *w, const struct feed_item *item, const struct object *o)
{
	enum known_state known = w->feed.settled
					  ? KNOWN_PRESENT
					  : catch_up_known_get(&w->catch_up_known, item->part, o->ordinal);

	return known == KNOWN_NONE || known == KNOWN_BEHIND;
}

/*
 * Another object of that name was told, of which nothing but the key is known: delete it. False: the handler
 * leaves off.
 */
static bool
tell_other_gone(struct informer_handler *h, struct told_key *entry)
{
	if (!entry)
		return true;
	if (!handler_tell_delete_key(h, entry))
		return false;
	told_keys_remove(&h->work->keys, entry);
	return !handler_leaves(h);
}

/* Room for what note() will store. */
static int
reserve(struct informer_handler *h, const struct feed_item *item, const struct object *o)
{
	return h->work->feed.settled
		       ? 0
		       : catch_up_known_reserve(h->inf, &h->work->catch_up_known, item->part, o->ordinal);
}

static void
note(struct informer_handler *h, const struct feed_item *item, const struct object *o, uint32_t ref,
     bool present)
{
	struct handler_work *w = h->work;
	struct told_key *e;

	if (!w->feed.settled)
		catch_up_known_set(&w->catch_up_known, item->part, o->ordinal,
				   present ? KNOWN_PRESENT : KNOWN_ABSENT);
	if (!w->o.track_keys)
		return;
	if (!present) {
		told_keys_remove(&w->keys, told_keys_find(&w->keys, o));
		return;
	}
	e = told_keys_get(h->inf, &w->keys, o);
	if (!e) {
		/* Without memory for a key the next RESYNC is one like other handlers'. */
		w->whole = false;
		return;
	}
	e->uid = metadata_hash(w, ref, "uid");
	e->version = metadata_hash(w, ref, "resourceVersion");
	e->round = w->round;
	e->position = (uint16_t)w->feed.binding->parts[item->part].position;
}

/* ---- items ---- */

static int
new_matches(const struct handler_work *w, const struct feed_item *item)
{
	if (!handler_selects(w))
		return 1;
	return handler_matches(w, feed_snapshot(&w->feed), item->new_object, item->new_ref,
			       w->feed.binding->parts[item->part].position);
}

static int
old_matches(const struct handler_work *w, const struct feed_item *item)
{
	if (!handler_selects(w))
		return 1;
	return handler_matches(w, feed_snapshot(&w->feed), item->old_object, item->old_ref,
			       w->feed.binding->parts[item->part].position);
}

static bool
walk_is_exact(const struct handler_work *w)
{
	return w->feed.fresh && w->feed.walk != WALK_COALESCED && !handler_resyncs_by_keys(w);
}

static int
take_present(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->new_object;
	bool exact = walk_is_exact(w), told = true;
	int selected = new_matches(w, item);
	struct told_key *entry;
	enum known_state known;

	if (selected < 0)
		return selected;
	known = known_of(w, item, o, item->new_ref, &entry);
	if (known == KNOWN_OTHER) {
		if (!tell_other_gone(h, entry))
			return 0;
		entry = NULL;
		known = KNOWN_ABSENT;
	}
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	if (selected && known == KNOWN_ABSENT)
		told = handler_tell_add(h, item, exact);
	else if (selected && !(entry && entry->version &&
			       entry->version == metadata_hash(w, item->new_ref, "resourceVersion")))
		told = handler_tell_update(h, item, false, exact);
	else if (!selected && (known != KNOWN_ABSENT || may_have_been_told(w)))
		told = handler_tell_delete(h, item, false, false, exact && known != KNOWN_ABSENT);
	if (told)
		note(h, item, o, item->new_ref, selected);
	return told;
}

static int
take_gone(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->old_object;
	struct told_key *entry;
	enum known_state known = known_of(w, item, o, item->old_ref, &entry);
	int selected;

	if ((known == KNOWN_ABSENT && !may_have_been_told(w)) || known == KNOWN_OTHER)
		return 1;
	selected = old_matches(w, item);
	if (selected < 0)
		return selected;
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	if (!handler_tell_delete(h, item, true, selected && !item->unseen,
				 walk_is_exact(w) && known != KNOWN_ABSENT))
		return 0;
	note(h, item, o, item->old_ref, false);
	return 1;
}

static int
take_added(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->new_object;
	int selected = new_matches(w, item);
	struct told_key *entry = w->o.track_keys ? told_keys_find(&w->keys, o) : NULL;

	if (selected < 0)
		return selected;
	if (entry && !tell_other_gone(h, entry))
		return 0;
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	if (selected && !handler_tell_add(h, item, true))
		return 0;
	note(h, item, o, item->new_ref, selected);
	return 1;
}

static int
take_updated(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->new_object;
	int selected = new_matches(w, item), before;
	enum known_state known;
	struct told_key *entry;
	bool told = true;

	if (selected < 0)
		return selected;
	known = known_of(w, item, o, item->new_ref, &entry);
	if (w->feed.settled && !w->o.track_keys) {
		before = old_matches(w, item);
		if (before < 0)
			return before;
		known = before ? KNOWN_PRESENT : KNOWN_ABSENT;
	}
	if (known == KNOWN_PRESENT && is_behind(w, item, o))
		known = KNOWN_MAYBE;
	if (known == KNOWN_OTHER) {
		if (!tell_other_gone(h, entry))
			return 0;
		known = KNOWN_ABSENT;
	}
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	switch (known) {
	case KNOWN_PRESENT:
		told = selected ? handler_tell_update(h, item, true, true)
				: handler_tell_delete(h, item, true, true, true);
		break;
	case KNOWN_BEHIND:
	case KNOWN_MAYBE:
		told = selected ? handler_tell_update(h, item, false, false)
				: handler_tell_delete(h, item, false, false, false);
		break;
	case KNOWN_ABSENT:
	case KNOWN_NONE:
	case KNOWN_OTHER:
		if (selected) {
			struct feed_item add = *item;

			/* moved on by a change while the walk that would have told of it was under way */
			add.initial |= !w->feed.settled && w->feed.walk != WALK_COALESCED &&
				       o->created_seq <= w->feed.gone_after;
			told = handler_tell_add(h, &add, true);
		} else if (may_have_been_told(w)) {
			told = handler_tell_delete(h, item, false, false, false);
		}
		break;
	}
	if (told)
		note(h, item, o, item->new_ref, selected);
	return told;
}

static int
take_deleted(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->old_object;
	int selected = old_matches(w, item);
	int final;
	struct told_key *entry;
	enum known_state known;

	if (selected < 0)
		return selected;
	known = known_of(w, item, o, item->old_ref, &entry);
	if (w->feed.settled && !w->o.track_keys)
		known = selected ? KNOWN_PRESENT : KNOWN_ABSENT;
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	if (known == KNOWN_OTHER)
		return tell_other_gone(h, entry);
	/* the final state, unless it lies outside of the selection: then the last one within */
	final = selected && item->new_ref != item->old_ref
			? new_matches(w, item)
			: 0;
	if (final < 0)
		return final;
	if ((known != KNOWN_ABSENT || may_have_been_told(w)) &&
	    !handler_tell_delete(h, item, !final, selected && !item->unseen,
						    known == KNOWN_PRESENT && !is_behind(w, item, o)))
		return 0;
	note(h, item, o, item->old_ref, false);
	return 1;
}

/* The keys of what is there, for one that goes on from a cursor: what was created up to it counts as told. */
static int
seed_keys(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	struct found found;
	int r = by_seq_start(&f->by_seq, feed_snapshot(f), f->binding, 0);

	while (r >= 0 && (r = by_seq_next(&f->by_seq, &found)) > 0) {
		struct told_key *e;

		if (found.object->created_seq > f->from || (found.gone && found.seq <= f->from))
			continue;
		if (!feed_wants(f, found.object))
			continue;
		/* What changed since was in whatever state; what has not was told if it is selected. */
		if (found.seq <= f->from) {
			r = handler_matches(w, feed_snapshot(f), found.object, found.ref,
					    f->binding->parts[found.part].position);
			if (r < 0)
				return r;
			if (r == 0)
				continue;
		}
		e = told_keys_get(h->inf, &w->keys, found.object);
		if (!e)
			return -ENOMEM;
		e->uid = metadata_hash(w, found.ref, "uid");
		e->version = found.seq <= f->from ? metadata_hash(w, found.ref, "resourceVersion") : 0;
		e->round = w->round;
		e->position = (uint16_t)f->binding->parts[found.part].position;
	}
	return r < 0 ? snapshot_settle(feed_snapshot(f), r) : 0;
}

static int
take_begin(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	int r = 0;

	if (f->fresh) {
		catch_up_known_clear(h->inf, &w->catch_up_known);
		w->round++;
		if (f->walk == WALK_COALESCED && w->o.track_keys && !w->whole) {
			r = seed_keys(h);
			w->whole = r == 0;
		} else if (f->walk != WALK_COALESCED && !(w->o.track_keys && w->whole)) {
			told_keys_clear(&w->keys);
			w->whole = w->o.track_keys;
			if (f->walk == WALK_RESYNC) {
				w->pending |= PENDING_OVERFLOW | PENDING_BEGIN;
				w->coalescing = false;
				w->synced_told = false;
			}
		}
	}
	if (!f->fresh)
		catch_up_known_fall_behind(&w->catch_up_known);
	for (uint32_t i = 0; i < f->binding->count && r == 0; i++) {
		const struct resource *resource = part_resource(feed_snapshot(f), &f->binding->parts[i]);

		if (resource && resource->status)
			r = handler_tell_status(h, feed_snapshot(f), resource->status, true);
	}
	return r < 0 ? r : 1;
}

int
handler_take(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	int r;

	if (item->kind != FEED_BEGIN && item->kind != FEED_SETTLED)
		handler_show(h, item->seq);
	switch (item->kind) {
	case FEED_BEGIN:
		return take_begin(h);
	case FEED_ADDED:
		return take_added(h, item);
	case FEED_UPDATED:
		return take_updated(h, item);
	case FEED_DELETED:
		return take_deleted(h, item);
	case FEED_PRESENT:
		return take_present(h, item);
	case FEED_GONE:
		return take_gone(h, item);
	case FEED_STATUS:
		r = handler_tell_status(h, feed_snapshot(&w->feed), item->new_ref, false);
		return r < 0 ? r : 1;
	case FEED_LISTED:
		return 1;
	case FEED_SETTLED:
		catch_up_known_clear(h->inf, &w->catch_up_known);
		if (w->feed.walk == WALK_RESYNC) {
			w->swept = 0;
			w->pending |= w->resyncing ? PENDING_END : 0;
		}
		w->pending |= PENDING_SWEEP;
		return 1;
	}
	return 1;
}
