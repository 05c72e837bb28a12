/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns an item of the feed into calls. "Told" and "absent" are what the table of keys says.
 *
 *	item, what is known            selected: yes                       no
 *	present, absent                add                                 -
 *	present, told                  update, old unknown                 delete, final state unknown
 *	present, told in this version  -                                   delete, final state unknown
 *	present, another was told      delete of that one, then as absent
 *	gone, absent                   -                                   -
 *	gone, told                     delete                              delete, final state unknown
 *	added                          add                                 -
 *	updated, told                  update                              delete with the old state
 *	updated, told before that      update, old unknown                 delete, final state unknown
 *	updated, not told              add                                 -
 *	deleted, told                  delete                              delete
 *
 * If another object of that name was told, an added, updated or deleted item tells that one's delete first.
 *
 * In an episode from a stored cursor, an absent object that is gone, deleted or not selected gets a delete,
 * too: an earlier process may have been told of it, without acknowledging that.
 *
 * Invariant: everything known of an object was read and validated before its call. If the arena is taken back
 * during the call, the handler may have been unable to read the object. Then the item is not done, and an
 * episode on the next arena tells it again.
 */
#include <string.h>

#include "reader-lib/base/likely.h"
#include "reader-lib/events/handler.h"
#include "reader-lib/events/watch_error.h"

/* Results of telling; 0: the handler leaves off; negative: an error. */
#define TOLD 1
#define NOTHING_TO_TELL 2

/* ---- previous and new state ---- */

/*
 * Look up what is known of an object before it is told, and allocate what will be kept. 0; negative: it
 * cannot be told now.
 */
static int
look_at(struct informer_handler *h, const struct object *o, bool remember, bool anew,
	struct known_subject *ret)
{
	int r;

	*ret = (struct known_subject){.known = KNOWN_ABSENT};
	r = snapshot_validate(feed_snapshot(&h->work->feed), handler_look_at_key(h, o, remember, anew, ret));
	if (r < 0)
		known_keys_drop(h->inf, ret->spare), ret->spare = NULL;
	return r;
}

/*
 * In an episode from a stored cursor, objects that were created after it may have been told, but not
 * acknowledged.
 */
static bool
may_have_been_told(const struct handler_work *w)
{
	return !w->feed.caught_up && w->feed.unsure;
}

/*
 * An object of that name was told, and only its key is known: tell its delete. False: the handler leaves off.
 */
static bool
tell_other_gone(struct informer_handler *h, struct known_subject *s)
{
	if (!s->entry)
		return true;
	if (!handler_tell_delete_key(h, s->entry))
		return false;
	handler_forget_key(h, s->entry);
	s->entry = NULL;
	s->known = KNOWN_ABSENT;
	return !handler_leaves(h);
}

/*
 * Record the result of telling.
 *
 * r        the result; TOLD by a pulled handler is recorded when its caller comes back
 * present  if told, the handler takes the object for present
 *
 * If the arena was taken back during the call, another episode tells of the object again. Until then its key
 * stays, also if its delete was told, with version 0, which equals no version.
 */
static inline __attribute__((always_inline)) int
conclude(struct informer_handler *h, const struct feed_item *item, int r, bool present,
	 struct known_subject *s)
{
	int cut;

	if (r == TOLD && h->pulled && !h->work->held) {
		h->work->held = true;
		h->work->held_present = present;
		return 0;
	}
	h->work->held = false;
	cut = r == TOLD ? snapshot_validate(feed_snapshot(&h->work->feed), 0) : 0;
	if (unlikely(cut < 0)) {
		s->version = 0;
		if (s->entry)
			s->entry->version = 0;
		feed_begin_anew(&h->work->feed);
	}
	if (r > 0 && present)
		handler_keep_key(h, s, item->part);
	else if (r > 0 && cut == 0 && s->entry)
		handler_forget_key(h, s->entry);
	if (s->spare)
		known_keys_drop(h->inf, s->spare);
	s->spare = NULL;
	if (unlikely(cut < 0))
		return cut;
	return r > 0 ? 1 : r;
}

int
handler_conclude_held(struct informer_handler *h)
{
	struct handler_work *w = h->work;

	return conclude(h, &w->feed.item, TOLD, w->held_present, &w->subject);
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

/* The object is present; s is what is known of it. */
static int
tell_present(struct informer_handler *h, const struct feed_item *item, bool selected, struct known_subject *s)
{
	struct handler_work *w = h->work;
	bool exact = walk_is_exact(w);

	if (s->known == KNOWN_OTHER && !tell_other_gone(h, s))
		return 0;
	if (selected && s->known == KNOWN_ABSENT)
		return handler_tell_add(h, item, exact);
	if (selected && (w->resyncing || !s->version || s->entry->version != s->version))
		return handler_tell_update(h, item, false, exact);
	if (!selected && (s->known != KNOWN_ABSENT || may_have_been_told(w)))
		return handler_tell_delete(h, item, false, false, exact && s->known != KNOWN_ABSENT);
	return NOTHING_TO_TELL;
}

static int
take_present(struct informer_handler *h, const struct feed_item *item)
{
	struct known_subject *s = &h->work->subject;
	int selected = matches(h->work, item, false), r;

	if (selected < 0)
		return selected;
	r = look_at(h, item->new_object, selected, false, s);
	if (r < 0)
		return r;
	return conclude(h, item, tell_present(h, item, selected, s), selected, s);
}

static int
take_gone(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	struct known_subject *s = &w->subject;
	int r = look_at(h, item->old_object, false, false, s), selected;

	if (r < 0)
		return r;
	if ((s->known == KNOWN_ABSENT && !may_have_been_told(w)) || s->known == KNOWN_OTHER)
		return 1;
	selected = matches(w, item, true);
	if (selected < 0)
		return selected;
	r = handler_tell_delete(h, item, true, selected && !item->unseen,
				walk_is_exact(w) && s->known != KNOWN_ABSENT);
	return conclude(h, item, r, false, s);
}

static int
take_added(struct informer_handler *h, const struct feed_item *item)
{
	struct known_subject *s = &h->work->subject;
	int selected = matches(h->work, item, false), r;

	if (selected < 0)
		return selected;
	r = look_at(h, item->new_object, selected, true, s);
	if (r < 0)
		return r;
	r = tell_other_gone(h, s);
	if (r > 0)
		r = selected ? handler_tell_add(h, item, true) : NOTHING_TO_TELL;
	return conclude(h, item, r, selected, s);
}

/* An update of an object that was not told: tell it as an add. */
static int
tell_add_of_update(struct informer_handler *h, const struct feed_item *item)
{
	const struct feed *f = &h->work->feed;
	struct feed_item add = *item;

	/* the object changed during the walk that would have told it as initial */
	add.initial |= !f->caught_up && f->walk != WALK_COALESCED && item->created_seq <= f->gone_after;
	return handler_tell_add(h, &add, true);
}

/* The object changed; s is what is known of it. */
static int
tell_updated(struct informer_handler *h, const struct feed_item *item, bool selected, struct known_subject *s)
{
	if (s->known == KNOWN_OTHER && !tell_other_gone(h, s))
		return 0;
	switch (s->known) {
	case KNOWN_PRESENT:
		return selected ? handler_tell_update(h, item, true, true)
				: handler_tell_delete(h, item, true, true, true);
	case KNOWN_BEHIND:
		return selected ? handler_tell_update(h, item, false, false)
				: handler_tell_delete(h, item, false, false, false);
	case KNOWN_ABSENT:
	case KNOWN_OTHER:
		break;
	}
	if (!selected)
		return may_have_been_told(h->work) ? handler_tell_delete(h, item, false, false, false)
						   : NOTHING_TO_TELL;
	return tell_add_of_update(h, item);
}

static int
take_updated(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	struct known_subject *s = &w->subject;
	int selected = matches(w, item, false), r;

	if (selected < 0)
		return selected;
	r = look_at(h, item->new_object, selected, false, s);
	if (r == 0 && !w->feed.caught_up && s->known == KNOWN_PRESENT &&
	    handler_is_behind(w, s, item->old_object))
		s->known = KNOWN_BEHIND;
	if (r < 0)
		return r;
	return conclude(h, item, tell_updated(h, item, selected, s), selected, s);
}

static int
take_deleted(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	struct known_subject *s = &w->subject;
	int selected = matches(w, item, true), final = 0, r;

	if (selected < 0)
		return selected;
	/* the final state, unless it is not selected: then the last state that is */
	if (selected && item->new_ref != item->old_ref)
		final = matches(w, item, false);
	if (final < 0)
		return final;
	r = look_at(h, item->old_object, false, false, s);
	if (r < 0)
		return r;
	if (s->known == KNOWN_OTHER)
		return tell_other_gone(h, s);
	r = s->known == KNOWN_ABSENT && !may_have_been_told(w)
		    ? NOTHING_TO_TELL
		    : handler_tell_delete(h, item, !final, selected && !item->unseen,
					  s->known == KNOWN_PRESENT &&
						  (w->feed.caught_up || s->entry->version == s->version));
	return conclude(h, item, r, false, s);
}

/*
 * Tell the status of the Reflector (a VALUE's ref; LAYOUT.md, STATUS). only_news: not if it was told already,
 * or is a recovery.
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

/* Tell each part's last status. 1; 0: the handler leaves off; or negative. */
static int
tell_statuses(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	int r;

	for (; w->status_part < f->binding->count; w->status_part++) {
		const struct resource *resource = part_resource(feed_snapshot(f),
								&f->binding->parts[w->status_part]);
		uint32_t status = resource ? LOAD_ONCE(&resource->status) : 0;

		if (handler_leaves(h))
			return 0;
		r = snapshot_validate(feed_snapshot(f), 0);
		if (r == 0 && status)
			r = tell_status(h, status, true);
		if (r < 0)
			return r;
	}
	w->status_part = 0;
	return handler_leaves(h) ? 0 : 1;
}

/* An episode begins. Seeding may fail, so it comes last: the episode is then begun again. 1 or negative. */
static int
begin_episode(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	int r;

	w->round++;
	/* The keys that an earlier process was told are unknown: what the RESYNC does not tell is gone. */
	if (f->walk == WALK_RESYNC && w->keys_short) {
		if (!w->o.on_value)
			known_keys_clear(&w->keys);
		handler_count_keys(h);
		w->pending |= PENDING_OVERFLOW | PENDING_BEGIN;
		w->coalescing = false;
		w->synced_told = false;
	}
	r = f->unsure ? handler_seed_keys(h) : 0;
	return r < 0 ? r : 1;
}

static int
take_begin(struct informer_handler *h)
{
	int r = tell_statuses(h);

	if (r > 0 && h->work->feed.fresh)
		r = begin_episode(h);
	return r;
}

int
handler_take(struct informer_handler *h, const struct feed_item *item)
{
	struct handler_work *w = h->work;
	int r;

	if (item->kind != FEED_BEGIN && item->kind != FEED_CAUGHT_UP)
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
	case FEED_CAUGHT_UP:
		w->keys_short = false;
		w->swept = 0;
		w->pending |= PENDING_SWEEP | (w->resyncing ? PENDING_END : 0);
		return 1;
	}
	return 1;
}
