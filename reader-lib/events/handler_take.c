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
 * What was believed: what the table of keys says, where it is whole. Without, of a settled feed, that the old
 * state was told if it was selected; in an episode see catch_up_known.h.
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

	*ret_entry = w->whole ? told_keys_find(&w->keys, o) : NULL;
	if (*ret_entry)
		return (*ret_entry)->uid == metadata_hash(w, ref, "uid") ? KNOWN_PRESENT : KNOWN_OTHER;
	if (w->whole)
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
	handler_forget_key(h, entry);
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

/* From now on nothing is known by key; from the next RESYNC on it is tried again. */
static void
give_up_keys(struct informer_handler *h, const char *why)
{
	struct handler_work *w = h->work;

	log_say(h->inf, INFORMER_LOG_WARNING,
		"a handler of %s can remember no more keys than %llu (%s), and gives them up: %s",
		w->sub.resource->name, (unsigned long long)w->keys.table.count, why,
		handler_selects(w) ? "when it misses changes, everything will be told anew"
				   : "when its store is built anew, everything will be told anew");
	/* An episode that goes by keys cannot go on without. */
	if (!w->feed.settled && w->by_keys && (handler_selects(w) || w->feed.walk == WALK_RESYNC))
		feed_begin_anew(&w->feed);
	told_keys_clear(&w->keys);
	w->whole = false;
	w->gave_up = true;
	w->feed.forgetful = handler_selects(w);
	atomic_store_explicit(&h->untracked, true, memory_order_relaxed);
	handler_count_keys(h);
}

/* The entry of an object's key, new if need be; NULL: there is no room, and all are given up. */
static struct told_key *
get_key(struct informer_handler *h, uint32_t part, const struct object *o, uint32_t ref)
{
	struct handler_work *w = h->work;
	struct told_key *e = w->keys.table.count < w->o.keys_max ? told_keys_get(h->inf, &w->keys, o)
								 : told_keys_find(&w->keys, o);

	if (!e) {
		give_up_keys(h, w->keys.table.count < w->o.keys_max ? "there is no memory" : "keys_max");
		return NULL;
	}
	e->uid = metadata_hash(w, ref, "uid");
	e->round = w->round;
	e->position = (uint16_t)w->feed.binding->parts[part].position;
	handler_count_keys(h);
	return e;
}

/* entry: the object's, if there is one */
static void
note(struct informer_handler *h, const struct feed_item *item, const struct object *o, uint32_t ref,
     bool present, struct told_key *entry)
{
	struct handler_work *w = h->work;

	if (!w->feed.settled)
		catch_up_known_set(&w->catch_up_known, item->part, o->ordinal,
				   present ? KNOWN_PRESENT : KNOWN_ABSENT);
	if (!w->whole)
		return;
	if (!present) {
		if (entry)
			handler_forget_key(h, entry);
		return;
	}
	if (!entry)
		entry = get_key(h, item->part, o, ref);
	if (!entry)
		return;
	entry->version = metadata_hash(w, ref, "resourceVersion");
	entry->round = w->round;
	entry->position = (uint16_t)w->feed.binding->parts[item->part].position;
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
		note(h, item, o, item->new_ref, selected, entry);
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
	note(h, item, o, item->old_ref, false, entry);
	return 1;
}

static int
take_added(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	const struct object *o = item->new_object;
	int selected = new_matches(w, item);
	struct told_key *entry = w->whole ? told_keys_find(&w->keys, o) : NULL;

	if (selected < 0)
		return selected;
	if (entry && !tell_other_gone(h, entry))
		return 0;
	entry = NULL;
	if (reserve(h, item, o) < 0)
		return -ENOMEM;
	if (selected && !handler_tell_add(h, item, true))
		return 0;
	note(h, item, o, item->new_ref, selected, entry);
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
	if (w->feed.settled && !w->whole) {
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
		entry = NULL;
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
		note(h, item, o, item->new_ref, selected, entry);
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
	if (w->feed.settled && !w->whole)
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
	note(h, item, o, item->old_ref, false, entry);
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
				break;
			if (r == 0)
				continue;
		}
		e = get_key(h, found.part, found.object, found.ref);
		if (!e)
			return 0;
		e->version = found.seq <= f->from ? metadata_hash(w, found.ref, "resourceVersion") : 0;
	}
	if (r == 0)
		return 0;
	told_keys_clear(&w->keys);
	w->whole = false;
	return snapshot_settle(feed_snapshot(f), r);
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
		w->by_keys = w->whole || f->walk == WALK_COALESCED;
		if (f->walk == WALK_COALESCED && w->tracks && !w->whole && !w->gave_up) {
			w->whole = true;
			r = seed_keys(h);
		} else if (f->walk != WALK_COALESCED && !w->whole) {
			told_keys_clear(&w->keys);
			w->whole = w->tracks;
			w->gave_up = f->forgetful = false;
			atomic_store_explicit(&h->untracked, false, memory_order_relaxed);
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
			w->swept = w->values_swept = 0;
			w->pending |= w->resyncing ? PENDING_END : 0;
		}
		w->pending |= PENDING_SWEEP;
		return 1;
	}
	return 1;
}
