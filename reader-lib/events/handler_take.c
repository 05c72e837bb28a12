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
 *
 * Invariant: all that is believed of an object comes from what was read and settled before its call. The
 * arena may be taken back while that runs. Then the handler may not have been able to read what it was told
 * of: the item is not done, and a RESYNC follows when there is another arena, which tells of it again
 * whatever is remembered.
 */
#include <string.h>

#include "reader-lib/base/likely.h"
#include "reader-lib/events/handler.h"
#include "reader-lib/events/watch_error.h"

/* What came of telling: it was told, or there was nothing to tell. 0: the handler leaves off. */
#define TOLD 1
#define NOTHING_TO_TELL 2

/* ---- what was believed, and what is from now on ---- */

static enum known_state
known_of(const struct handler_work *w, const struct feed_item *item, const struct told_subject *s)
{
	const struct feed *f = &w->feed;
	enum known_state known = KNOWN_NONE;

	if (s->entry)
		return s->entry->uid == s->uid ? KNOWN_PRESENT : KNOWN_OTHER;
	if (w->whole)
		return KNOWN_ABSENT;
	if (!f->settled)
		known = catch_up_known_get(&w->catch_up_known, item->part, item->ordinal);
	if (known == KNOWN_NONE)
		known = !f->settled && item->created_seq <= f->from ? KNOWN_MAYBE : KNOWN_ABSENT;
	return known;
}

static int
look_closely(struct informer_handler *h, const struct feed_item *item, bool use_old, bool remember, bool anew,
	     struct told_subject *ret)
{
	struct handler_work *w = h->work;
	int r = 0;

	if (w->whole)
		r = snapshot_settle(feed_snapshot(&w->feed),
				    handler_look_at_key(h, use_old ? item->old_object : item->new_object,
							remember, anew, ret));
	if (r == 0 && !w->feed.settled)
		r = catch_up_known_reserve(h->inf, &w->catch_up_known, item->part, item->ordinal);
	if (r < 0)
		told_keys_drop(h->inf, ret->spare);
	else
		ret->known = known_of(w, item, ret);
	return r;
}

/*
 * All that must be known of an item's object before it is told, and memory for what will be known then. Of a
 * settled feed without keys that is nothing: who takes the item sees whether the old state was told. 0, or
 * negative: it cannot be told now.
 */
static inline __attribute__((always_inline)) int
look_at(struct informer_handler *h, const struct feed_item *item, bool use_old, bool remember, bool anew,
	struct told_subject *ret)
{
	*ret = (struct told_subject){.known = KNOWN_ABSENT};
	return h->work->whole || !h->work->feed.settled ? look_closely(h, item, use_old, remember, anew, ret)
							: 0;
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
is_behind(const struct handler_work *w, const struct feed_item *item)
{
	enum known_state known = w->feed.settled
					 ? KNOWN_PRESENT
					 : catch_up_known_get(&w->catch_up_known, item->part, item->ordinal);

	return known == KNOWN_NONE || known == KNOWN_BEHIND;
}

/*
 * Another object of that name was told, of which nothing but the key is known: delete it. False: the handler
 * leaves off.
 */
static bool
tell_other_gone(struct informer_handler *h, struct told_subject *s)
{
	if (!s->entry)
		return true;
	if (!handler_tell_delete_key(h, s->entry))
		return false;
	handler_forget_key(h, s->entry);
	s->entry = NULL;
	return !handler_leaves(h);
}

/* It was told, and is there now, or not. Of a settled feed without keys nothing is noted. */
static void
note(struct informer_handler *h, const struct feed_item *item, bool present, struct told_subject *s)
{
	struct handler_work *w = h->work;

	if (!w->feed.settled)
		catch_up_known_set(&w->catch_up_known, item->part, item->ordinal,
				   present ? KNOWN_PRESENT : KNOWN_ABSENT);
	if (!w->whole)
		return;
	if (!present) {
		if (s->entry)
			handler_forget_key(h, s->entry);
		return;
	}
	if (!s->entry) {
		s->entry = handler_keep_key(h, s->spare);
		s->spare = NULL;
	}
	if (s->entry)
		handler_set_key(w, s->entry, item->part, s->uid, s->version);
}

/*
 * The arena was taken back during the call: a RESYNC tells of it again. What counts as told stays: it has the
 * key, in no version that could pass for the one that there is; of one that is told as gone it keeps it.
 */
static void
note_cut_short(struct informer_handler *h, const struct feed_item *item, bool present, struct told_subject *s)
{
	s->version = 0;
	if (present)
		note(h, item, true, s);
	feed_begin_anew(&h->work->feed);
}

/* r: what came of telling; present: whether the handler takes it for there, when it was told. */
static inline __attribute__((always_inline)) int
conclude(struct informer_handler *h, const struct feed_item *item, int r, bool present,
	 struct told_subject *s)
{
	int cut = r == TOLD ? snapshot_settle(feed_snapshot(&h->work->feed), 0) : 0;

	if (unlikely(cut < 0))
		note_cut_short(h, item, present, s);
	else if (r > 0 && (h->work->whole || !h->work->feed.settled))
		note(h, item, present, s);
	if (s->spare)
		told_keys_drop(h->inf, s->spare);
	if (unlikely(cut < 0))
		return cut;
	return r > 0 ? 1 : r;
}

/* ---- items ---- */

static int
matches(const struct handler_work *w, const struct feed_item *item, bool use_old)
{
	if (!handler_selects(w))
		return 1;
	return handler_matches(w, feed_snapshot(&w->feed), use_old ? item->old_object : item->new_object,
			       use_old ? item->old_ref : item->new_ref,
			       w->feed.binding->parts[item->part].position);
}

static bool
walk_is_exact(const struct handler_work *w)
{
	return w->feed.fresh && w->feed.walk != WALK_COALESCED && !handler_resyncs_by_keys(w);
}

/* What is there, of which is known what s says. */
static int
tell_present(struct informer_handler *h, const struct feed_item *item, bool selected, struct told_subject *s)
{
	struct handler_work *w = h->work;
	bool exact = walk_is_exact(w);

	if (s->known == KNOWN_OTHER) {
		if (!tell_other_gone(h, s))
			return 0;
		s->known = KNOWN_ABSENT;
	}
	if (selected && s->known == KNOWN_ABSENT)
		return handler_tell_add(h, item, exact);
	if (selected && !(s->entry && s->entry->version && s->entry->version == s->version))
		return handler_tell_update(h, item, false, exact);
	if (!selected && (s->known != KNOWN_ABSENT || may_have_been_told(w)))
		return handler_tell_delete(h, item, false, false, exact && s->known != KNOWN_ABSENT);
	return NOTHING_TO_TELL;
}

static int
take_present(struct informer_handler *h, const struct feed_item *item)
{
	int selected = matches(h->work, item, false), r;
	struct told_subject s;

	if (selected < 0)
		return selected;
	r = look_at(h, item, false, selected, false, &s);
	if (r < 0)
		return r;
	return conclude(h, item, tell_present(h, item, selected, &s), selected, &s);
}

static int
take_gone(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	struct told_subject s;
	int r = look_at(h, item, true, false, false, &s), selected;

	if (r < 0)
		return r;
	if ((s.known == KNOWN_ABSENT && !may_have_been_told(w)) || s.known == KNOWN_OTHER)
		return 1;
	selected = matches(w, item, true);
	if (selected < 0)
		return selected;
	r = handler_tell_delete(h, item, true, selected && !item->unseen,
				walk_is_exact(w) && s.known != KNOWN_ABSENT);
	return conclude(h, item, r, false, &s);
}

static int
take_added(struct informer_handler *h, const struct feed_item *item)
{
	int selected = matches(h->work, item, false), r;
	struct told_subject s;

	if (selected < 0)
		return selected;
	r = look_at(h, item, false, selected, true, &s);
	if (r < 0)
		return r;
	r = tell_other_gone(h, &s);
	if (r > 0)
		r = selected ? handler_tell_add(h, item, true) : NOTHING_TO_TELL;
	return conclude(h, item, r, selected, &s);
}

/* An update of what was not told of yet. */
static int
tell_add_of_update(struct informer_handler *h, const struct feed_item *item)
{
	const struct feed *f = &h->work->feed;
	struct feed_item add = *item;

	/* moved on by a change while the walk that would have told of it was under way */
	add.initial |= !f->settled && f->walk != WALK_COALESCED && item->created_seq <= f->gone_after;
	return handler_tell_add(h, &add, true);
}

/* A change, of whose object is known what s says. */
static int
tell_updated(struct informer_handler *h, const struct feed_item *item, bool selected, struct told_subject *s)
{
	struct handler_work *w = h->work;

	if (s->known == KNOWN_PRESENT && is_behind(w, item))
		s->known = KNOWN_MAYBE;
	if (s->known == KNOWN_OTHER) {
		if (!tell_other_gone(h, s))
			return 0;
		s->known = KNOWN_ABSENT;
	}
	switch (s->known) {
	case KNOWN_PRESENT:
		return selected ? handler_tell_update(h, item, true, true)
				: handler_tell_delete(h, item, true, true, true);
	case KNOWN_BEHIND:
	case KNOWN_MAYBE:
		return selected ? handler_tell_update(h, item, false, false)
				: handler_tell_delete(h, item, false, false, false);
	case KNOWN_ABSENT:
	case KNOWN_NONE:
	case KNOWN_OTHER:
		break;
	}
	if (!selected)
		return may_have_been_told(w) ? handler_tell_delete(h, item, false, false, false)
					     : NOTHING_TO_TELL;
	return tell_add_of_update(h, item);
}

static int
take_updated(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	int selected = matches(w, item, false), before = 0, r;
	struct told_subject s;

	if (selected < 0)
		return selected;
	if (w->feed.settled && !w->whole)
		before = matches(w, item, true);
	if (before < 0)
		return before;
	r = look_at(h, item, false, selected, false, &s);
	if (r < 0)
		return r;
	if (w->feed.settled && !w->whole)
		s.known = before ? KNOWN_PRESENT : KNOWN_ABSENT;
	return conclude(h, item, tell_updated(h, item, selected, &s), selected, &s);
}

static int
take_deleted(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	int selected = matches(w, item, true), final = 0, r;
	struct told_subject s;

	if (selected < 0)
		return selected;
	/* the final state, unless it lies outside of the selection: then the last one within */
	if (selected && item->new_ref != item->old_ref)
		final = matches(w, item, false);
	if (final < 0)
		return final;
	r = look_at(h, item, true, false, false, &s);
	if (r < 0)
		return r;
	if (w->feed.settled && !w->whole)
		s.known = selected ? KNOWN_PRESENT : KNOWN_ABSENT;
	if (s.known == KNOWN_OTHER)
		return tell_other_gone(h, &s);
	r = s.known == KNOWN_ABSENT && !may_have_been_told(w)
		    ? NOTHING_TO_TELL
		    : handler_tell_delete(h, item, !final, selected && !item->unseen,
					  s.known == KNOWN_PRESENT && !is_behind(w, item));
	return conclude(h, item, r, false, &s);
}

/*
 * Tell what the Reflector met (a VALUE's ref; LAYOUT.md, STATUS). only_news: not when it was told already, or
 * says that all is well.
 */
static int
tell_status(struct informer_handler *h, uint32_t ref, bool only_news)
{
	struct handler_work *w = h->work;
	struct informer_watch_status told = {.size = sizeof(told), .resource = w->sub.resource->name};
	struct watch_error met;
	int r = watch_error_read(feed_snapshot(&w->feed), ref, &met);

	if (r < 0)
		return r;
	if (only_news && (met.recovered || met.hash == w->status_seen))
		return 0;
	w->status_seen = met.hash;
	told.recovered = met.recovered;
	told.http_code = met.recovered ? 0 : met.code;
	told.reason = met.recovered ? "" : met.reason;
	told.message = met.recovered ? "" : met.message;
	if (w->o.on_error)
		w->o.on_error(w->o.context, &told);
	return 0;
}

/* What the Reflector met last, of each part. 0 or negative. */
static int
tell_statuses(struct informer_handler *h)
{
	struct feed *f = &h->work->feed;
	int r = 0;

	for (uint32_t i = 0; i < f->binding->count && r == 0; i++) {
		const struct resource *resource = part_resource(feed_snapshot(f), &f->binding->parts[i]);
		uint32_t status = resource ? LOAD_ONCE(&resource->status) : 0;

		r = snapshot_settle(feed_snapshot(f), 0);
		if (r == 0 && status)
			r = tell_status(h, status, true);
	}
	return r;
}

/* An episode begins. What may fail comes first: it is begun again then. */
static int
begin_episode(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	int r = 0;

	catch_up_known_clear(h->inf, &w->catch_up_known);
	w->round++;
	/* What the keys are short of only a RESYNC that is told as one makes go away. */
	if (f->walk != WALK_COALESCED && w->short_of)
		w->whole = w->short_of = false;
	w->by_keys = w->whole || f->walk == WALK_COALESCED;
	if (f->walk == WALK_COALESCED && w->tracks && !w->whole && !w->gave_up) {
		handler_begin_keys(h);
		r = w->whole ? handler_seed_keys(h) : 0;
		w->short_of = f->unsure;
	} else if (f->walk != WALK_COALESCED && !w->whole) {
		told_keys_clear(&w->keys);
		w->gave_up = f->forgetful = false;
		atomic_store_explicit(&h->untracked, false, memory_order_relaxed);
		if (w->tracks)
			handler_begin_keys(h);
		if (f->walk == WALK_RESYNC) {
			w->pending |= PENDING_OVERFLOW | PENDING_BEGIN;
			w->coalescing = false;
			w->synced_told = false;
		}
	}
	return r;
}

static int
take_begin(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	int r = tell_statuses(h);

	if (r == 0 && w->feed.fresh)
		r = begin_episode(h);
	if (r == 0 && !w->feed.fresh)
		catch_up_known_fall_behind(&w->catch_up_known);
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
		r = tell_status(h, item->new_ref, false);
		return r < 0 ? r : 1;
	case FEED_LISTED:
		return 1;
	case FEED_SETTLED:
		catch_up_known_clear(h->inf, &w->catch_up_known);
		w->short_of = false;
		if (w->feed.walk == WALK_RESYNC) {
			w->swept = w->values_swept = 0;
			w->pending |= w->resyncing ? PENDING_END : 0;
		}
		w->pending |= PENDING_SWEEP;
		return 1;
	}
	return 1;
}
