/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a handler's functions, and shows the handler's position.
 */
#include <string.h>

#include "reader-lib/events/handler.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/label_selector.h"

static inline struct informer_object
object_for_call(const struct feed *f, uint32_t part, const struct object *o, uint32_t ref)
{
	struct informer_object object;

	object_set(&object, feed_snapshot(f), o, ref, f->binding->parts[part].position);
	return object;
}

int
handler_matches(const struct handler_work *w, const struct snapshot *s, const struct object *o, uint32_t ref,
		uint32_t position)
{
	struct informer_object object, copy;
	struct value body;
	int r = 1;

	if (!handler_selects(w))
		return 1;
	body = value_of_object(&s->view, ref);
	if (w->labels)
		r = selector_match(w->labels, body);
	if (r > 0 && w->fields)
		r = field_selector_match(w->fields, body);
	if (r > 0 && w->o.filter) {
		object_set(&object, s, o, ref, position);
		r = w->o.filter(w->filter_context, handler_shown(w, &object, &copy));
		informer_object_free(&copy);
	}
	return snapshot_validate(s, r);
}

void
handler_show(struct informer_handler *h, uint64_t seq)
{
	const struct feed *f = &h->work->feed;

	/* During a RESYNC the shown position stays: it counts only when everything was told. */
	if (f->walk == WALK_RESYNC && (!f->caught_up || (h->work->pending & PENDING_TELLS)))
		return;
	if (memcmp(h->shown_lineage, f->cursor.lineage, sizeof(h->shown_lineage)) != 0) {
		pthread_mutex_lock(&h->inf->lock);
		memcpy(h->shown_lineage, f->cursor.lineage, sizeof(h->shown_lineage));
		atomic_store_explicit(&h->shown_seq, seq, memory_order_relaxed);
		pthread_mutex_unlock(&h->inf->lock);
	}
	atomic_store_explicit(&h->shown_seq, seq, memory_order_relaxed);
}

/* ---- calls: 0 (false) when the handler leaves off before the call ---- */

/* Before a call that is not exact: tell the handler once that changes are coalesced. False: it leaves off. */
static bool
notice(struct informer_handler *h, bool exact)
{
	struct handler_work *w = h->work;

	if (exact) {
		w->coalescing = false;
		return true;
	}
	if (w->coalescing)
		return true;
	w->coalescing = true;
	atomic_fetch_add_explicit(&h->coalesced, 1, memory_order_relaxed);
	log_say(h->inf, INFORMER_LOG_INFO, "a handler of %s missed changes: it is told the newest states",
		w->sub.resource->name);
	if (w->o.on_overflow)
		w->o.on_overflow(w->o.context, INFORMER_COALESCED);
	return !handler_leaves(h);
}

static int
tell_value(struct informer_handler *h, const struct informer_object *object, bool present)
{
	int r = handler_tell_value(h, object, present);

	if (r > 0)
		atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	return r;
}

int
handler_tell_add(struct informer_handler *h, const struct feed_item *item, bool exact)
{
	struct handler_work *w = h->work;
	struct informer_object copy,
		object = object_for_call(&w->feed, item->part, item->new_object, item->new_ref);
	bool initial = item->initial && !(handler_resyncs_by_keys(w) && item->kind == FEED_PRESENT);

	if (!notice(h, exact))
		return 0;
	if (w->o.on_value)
		return tell_value(h, &object, true);
	if (w->o.on_add) {
		w->o.on_add(w->o.context, handler_shown(w, &object, &copy), initial);
		informer_object_free(&copy);
	}
	atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	return 1;
}

int
handler_tell_update(struct informer_handler *h, const struct feed_item *item, bool with_old, bool exact)
{
	struct handler_work *w = h->work;
	struct informer_object copy,
		old_copy = {0}, old,
		object = object_for_call(&w->feed, item->part, item->new_object, item->new_ref);

	if (with_old)
		old = object_for_call(&w->feed, item->part, item->old_object, item->old_ref);
	if (!notice(h, exact))
		return 0;
	if (w->o.on_value)
		return tell_value(h, &object, true);
	if (w->o.on_update) {
		w->o.on_update(w->o.context, with_old ? handler_shown(w, &old, &old_copy) : NULL,
			       handler_shown(w, &object, &copy));
		informer_object_free(&copy);
		informer_object_free(&old_copy);
	}
	atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	return 1;
}

int
handler_tell_delete(struct informer_handler *h, const struct feed_item *item, bool use_old, bool final_known,
		    bool exact)
{
	struct handler_work *w = h->work;
	struct informer_object copy;
	struct informer_object object = use_old ? object_for_call(&w->feed, item->part, item->old_object,
								  item->old_ref)
						: object_for_call(&w->feed, item->part, item->new_object,
								  item->new_ref);

	if (item->kind == FEED_GONE || item->kind == FEED_DELETED)
		object_mark_deleted(&object);
	if (!notice(h, exact))
		return 0;
	if (w->o.on_value)
		return tell_value(h, &object, false);
	if (w->o.on_delete) {
		w->o.on_delete(w->o.context, handler_shown(w, &object, &copy), final_known);
		informer_object_free(&copy);
	}
	atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	return 1;
}

bool
handler_tell_delete_key(struct informer_handler *h, struct known_key *e)
{
	struct handler_work *w = h->work;
	struct informer_object object, copy;

	if (key_object_set(&w->gone, e->key, e->ns_length, e->key + e->ns_length,
			   e->node.length - e->ns_length, e->position, &object) < 0)
		return true;
	object_mark_deleted(&object);
	if (!notice(h, w->resyncing))
		return false;
	if (w->o.on_value) {
		handler_tell_value_gone(h, e, &object);
	} else if (w->o.on_delete) {
		w->o.on_delete(w->o.context, handler_shown(w, &object, &copy), false);
		informer_object_free(&copy);
	}
	atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	return true;
}

/* ---- pending calls ---- */

void
handler_forget_key(struct informer_handler *h, struct known_key *entry)
{
	known_keys_remove(&h->work->keys, entry);
	handler_count_keys(h);
}

static bool
sweep(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct known_key *e;

	/* Only a RESYNC meets all objects. */
	while (w->feed.walk == WALK_RESYNC && (e = known_keys_unmet(&w->keys, w->round, &w->swept))) {
		if (handler_leaves(h) || !handler_tell_delete_key(h, e))
			return false;
		handler_forget_key(h, e);
	}
	w->coalescing = false;
	return true;
}

bool
handler_pending_calls(struct informer_handler *h)
{
	struct handler_work *w = h->work;

	if (w->feed.caught_up && w->feed.has_cursor && w->feed.mode == FEED_MODE_RING && !w->synced_told &&
	    feed_all_listed(&w->feed)) {
		w->synced_told = true;
		w->pending |= PENDING_SYNCED;
	}
	for (unsigned bit = PENDING_OVERFLOW; w->pending && bit <= PENDING_SYNCED; bit <<= 1) {
		if (!(w->pending & bit))
			continue;
		if (handler_leaves(h) || (bit == PENDING_SWEEP && !sweep(h)))
			return false;
		w->pending &= ~bit;
		switch (bit) {
		case PENDING_OVERFLOW:
			atomic_fetch_add_explicit(&h->resyncs, 1, memory_order_relaxed);
			log_say(h->inf, INFORMER_LOG_INFO, "a handler of %s is told of everything anew",
				w->sub.resource->name);
			if (w->o.on_overflow)
				w->o.on_overflow(w->o.context, INFORMER_RESYNC);
			break;
		case PENDING_BEGIN:
			w->resyncing = true;
			if (w->o.on_resync_begin)
				w->o.on_resync_begin(w->o.context);
			break;
		case PENDING_END:
			w->resyncing = false;
			if (w->o.on_resync_end)
				w->o.on_resync_end(w->o.context);
			break;
		case PENDING_SYNCED:
			/* Meets informer_handler_has_synced(): every add was told before. */
			atomic_store_explicit(&h->synced, true, memory_order_release);
			if (w->o.on_synced)
				w->o.on_synced(w->o.context);
			break;
		default:
			break;
		}
	}
	return !handler_leaves(h);
}
