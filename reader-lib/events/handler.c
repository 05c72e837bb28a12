/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handler: making it from its options, its turns, freeing it.
 */
#include "reader-lib/events/handler.h"

#include <stdio.h>
#include <string.h>

#include "shm-layout/time_ns.h"

static int
copy_text(const char *what, const char *text, char *buffer, size_t room)
{
	size_t length = text ? strlen(text) : 0;

	if (length > room)
		return error_set(-ENAMETOOLONG, "the %s '%.40s…' has more than %zu bytes", what, text, room);
	if (length)
		memcpy(buffer, text, length);
	return 0;
}

static int
compile(struct informer *inf, struct handler_work *w, const struct informer_handler_options *o)
{
	int r = 0;

	if (o->label_selector && *o->label_selector)
		r = informer_label_selector_compile(inf, o->label_selector, strlen(o->label_selector),
						    &w->labels, NULL);
	if (r == 0 && o->field_selector && *o->field_selector)
		r = informer_field_selector_compile(inf, o->field_selector, strlen(o->field_selector),
						    &w->fields);
	return r;
}

/* on_value replaces the calls about objects, and needs transform. A pulled handler has only filter. */
static int
check_functions(const struct informer_handler_options *o)
{
	if (o->pull && (o->transform || o->on_value || o->release || o->on_add || o->on_update ||
			o->on_delete || o->on_synced || o->on_overflow || o->on_resync_begin ||
			o->on_resync_end || o->on_error || o->on_done))
		return error_set(-EINVAL,
				 "pull goes without functions but filter: informer_changes_next() tells");
	if (o->pull && o->resync_ms && o->resync_ms != INFORMER_NO_RESYNC)
		return error_set(-EINVAL, "pull goes without resync_ms");
	if (!o->transform != !o->on_value)
		return error_set(-EINVAL, "transform and on_value go together: one of them is NULL");
	if (o->on_value && (o->on_add || o->on_update || o->on_delete))
		return error_set(-EINVAL, "on_value is told instead of on_add, on_update and on_delete");
	return 0;
}

static const struct handler_kind changes_kind;

int
handler_work_new(struct informer *inf, const struct informer_handler_options *given,
		 struct handler_work **ret_work)
{
	struct handler_work *w;
	int r;

	if (given->size < offsetof(struct informer_handler_options, namespace_))
		return -EINVAL;
	w = memory_get(inf, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->kind = &changes_kind;
	memcpy(&w->o, given, given->size < sizeof(w->o) ? given->size : sizeof(w->o));
	r = w->o.resource ? informer_resource_open(inf, w->o.resource, &w->sub.resource) : -EINVAL;
	if (r == 0)
		r = copy_text("namespace", w->o.namespace_, w->sub.ns, sizeof(w->sub.ns) - 1);
	if (r == 0)
		r = copy_text("consumer's name", w->o.consumer, w->sub.consumer, CONSUMER_NAME_MAX);
	if (r == 0 && w->o.manual_ack && !w->sub.consumer[0])
		r = error_set(-EINVAL, "manual_ack is for handlers with a consumer");
	if (r == 0)
		r = check_functions(&w->o);
	if (r == 0)
		r = compile(inf, w, &w->o);
	if (r == 0)
		r = known_keys_init(inf, &w->keys);
	w->filter_context = w->o.context;
	if (r == 0 && w->o.pull) {
		w->changes = memory_get(inf, sizeof(*w->changes));
		if (w->changes)
			changes_listen(w->changes, &w->o);
		else
			r = -ENOMEM;
	}
	if (r < 0) {
		handler_work_free(inf, w, false);
		return r;
	}
	w->sub.entries = w->o.queue_entries;
	snprintf(w->sub.name, sizeof(w->sub.name), "%s", w->o.name ? w->o.name : "");
	/* The caller's strings are not kept. */
	w->o.resource = w->o.namespace_ = w->o.label_selector = w->o.field_selector = w->o.consumer =
		w->o.name = NULL;
	feed_init(&w->feed, inf, &w->sub);
	w->keys_short = w->sub.consumer[0] != '\0';
	resync_init(w);
	*ret_work = w;
	return 0;
}

void
handler_work_free(struct informer *inf, struct handler_work *w, bool in_child)
{
	if (!w)
		return;
	w->kind->release(inf, w, in_child);
	memory_put(inf, w);
}

static void
release(struct informer *inf, struct handler_work *w, bool in_child)
{
	if (w->feed.inf)
		feed_done(&w->feed, in_child);
	known_keys_drop(inf, w->subject.spare);
	known_keys_done(&w->keys);
	memory_put(inf, w->changes);
	informer_label_selector_free(w->labels);
	informer_field_selector_free(w->fields);
}

/*
 * Store the cursor of a named consumer for the daemon: what the handler did, or what the caller acknowledged.
 */
static void
acknowledge(struct handler_work *w)
{
	struct feed *f = &w->feed;
	uint64_t seq = f->cursor.seq;

	if (!f->ring || !f->caught_up || !f->has_cursor || f->mode != FEED_MODE_RING ||
	    (w->pending & PENDING_TELLS))
		return;
	/* the slot counts in its arena's lineage, which a ring lacks before the first look */
	if (memcmp(f->ring->arena_lineage, f->cursor.lineage, sizeof(f->cursor.lineage)) != 0)
		return;
	if (w->o.manual_ack) {
		/* a slot of a new arena does not have what the caller acknowledged before */
		if (memcmp(w->acknowledged.lineage, f->cursor.lineage, sizeof(f->cursor.lineage)) != 0)
			return;
		seq = w->acknowledged.seq;
	}
	if (seq > atomic_load_explicit(&f->ring->cursor->acknowledged, memory_order_relaxed))
		/*
		 * Meets take_acknowledgement() (writer/serve/consumers.c): the handler's functions returned
		 * before. Without release, informerd could keep a cursor that is ahead of the work.
		 */
		atomic_store_explicit(&f->ring->cursor->acknowledged, seq, memory_order_release);
}

static uint64_t
coarse_ns(void)
{
	return time_ns(CLOCK_MONOTONIC_COARSE);
}

/*
 * 1: items were told; 0: none; or negative. The coarse clock's next tick ends the turn, so a slow handler
 * gives its pin back after each call. at_once: tell one item before looking at the clock.
 */
static int
take_items(struct informer_handler *h, bool at_once)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	const struct feed_item *item;
	int told = 0, r = 1;

	while ((at_once || coarse_ns() == w->begun_ns) && feed_next(f, &item) > 0) {
		at_once = false;
		told = 1;
		r = handler_take(h, item);
		if (r <= 0)
			break;
		feed_told(f);
		if (item->kind == FEED_BEGIN || item->kind == FEED_CAUGHT_UP || item->kind == FEED_LISTED)
			r = handler_pending_calls(h);
		if (r <= 0 || handler_leaves(h))
			break;
	}
	return r < 0 ? r : told;
}

static int
turn(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	int r, did = 0;

	if (w->held) {
		did = 1;
		r = handler_conclude_held(h);
		if (r > 0)
			feed_told(f);
	} else if (handler_pending_calls(h)) {
		w->begun_ns = coarse_ns();
		r = feed_open(f);
	} else {
		return 0;
	}
	if (r > 0) {
		r = handler_pending_calls(h) ? take_items(h, !did) : 0;
		if (w->held)
			return 1;
		did |= r > 0 || f->again;
	}
	if (r == INFORMER_E_CORRUPT) {
		feed_broken(f, "an object");
		r = 0;
	}
	feed_close(f);
	/* also if an item could not be told: it was shown before the try */
	if (f->has_cursor)
		handler_show(h, f->mode == FEED_MODE_WALK ? f->position : f->cursor.seq);
	if (r < 0)
		return r;
	if (w->sub.consumer[0]) {
		pthread_mutex_lock(&h->inf->lock);
		acknowledge(w);
		pthread_mutex_unlock(&h->inf->lock);
	}
	if (!handler_pending_calls(h))
		return did;
	if (!did) {
		r = resync_turn(h);
		did = r > 0;
	}
	return r < 0 ? r : did;
}

static bool
due(const struct handler_work *w, uint64_t now_ns)
{
	return w->pending != 0 || now_ns >= w->due_ns || feed_due(&w->feed);
}

static uint64_t
due_at(const struct handler_work *w)
{
	return w->due_ns;
}

static const struct handler_kind changes_kind = {
	.turn = turn, .due = due, .due_at = due_at, .end = handler_release_values, .release = release};

int
handler_turn(struct informer_handler *h)
{
	return h->work->kind->turn(h);
}

bool
handler_due(const struct informer_handler *h, uint64_t now_ns)
{
	const struct handler_work *w = h->work;

	if (!w)
		return false;
	if (h->removed)
		return true;
	if (handler_leaves(h) || now_ns < h->retry_ns)
		return false;
	return w->kind->due(w, now_ns);
}

uint64_t
handler_due_at(const struct informer_handler *h)
{
	if (!h->work || handler_leaves(h))
		return UINT64_MAX;
	if (h->retry_ns)
		return h->retry_ns;
	return h->work->kind->due_at(h->work);
}
