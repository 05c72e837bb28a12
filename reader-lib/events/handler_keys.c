/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that a handler remembers: looked up before an item is told, put in when it was, seeded for one
 * that goes on from a cursor, given up when there are too many.
 *
 * Invariant: a table that is whole was begun, and has nothing of what was read of an arena and not settled.
 */
#include "reader-lib/events/handler.h"

int
handler_look_at_key(const struct informer_handler *h, const struct object *o, bool remember, bool anew,
		    struct told_subject *s)
{
	const struct handler_work *w = h->work;
	const struct arena_view *view = &feed_snapshot(&w->feed)->view;
	struct object_extent extent;
	struct told_name name;
	const char *text;
	size_t length;

	if (!object_measure_within(view, o, &extent) || !told_keys_name(&w->keys, view, o, &name))
		return -EBADMSG;
	s->entry = told_keys_find(&w->keys, &name);
	if (!s->entry && !remember)
		return 0;
	text = object_string(o, &extent, OBJECT_UID, &length);
	s->uid = told_keys_hash(&w->keys, text, length);
	text = object_string(o, &extent, OBJECT_VERSION, &length);
	s->version = told_keys_hash(&w->keys, text, length);
	if (remember && (!s->entry || anew || s->entry->uid != s->uid))
		s->spare = told_keys_make(h->inf, &name);
	return 0;
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

struct told_key *
handler_keep_key(struct informer_handler *h, struct told_key *spare)
{
	struct handler_work *w = h->work;
	bool full = w->keys.table.count >= w->o.keys_max;

	if (!spare || full) {
		told_keys_drop(h->inf, spare);
		give_up_keys(h, full ? "keys_max" : "there is no memory");
		return NULL;
	}
	told_keys_insert(&w->keys, spare);
	handler_count_keys(h);
	return spare;
}

void
handler_set_key(const struct handler_work *w, struct told_key *e, uint32_t part, uint64_t uid,
		uint64_t version)
{
	e->uid = uid;
	e->version = version;
	e->round = w->round;
	e->position = (uint16_t)w->feed.binding->parts[part].position;
}

/* One of the keys of handler_seed_keys(). 1; 0: there is no room for it, and all were given up; negative. */
static int
seed_key(struct informer_handler *h, const struct found *found)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	uint64_t created_seq = LOAD_ONCE(&found->object->created_seq);
	struct told_subject s = {0};
	int r;

	if (created_seq > f->from || (found->gone && found->seq <= f->from) || !feed_wants(f, found->object))
		return 1;
	/* What changed since was in whatever state; what has not was told if it is selected. */
	if (found->seq <= f->from) {
		r = handler_matches(w, feed_snapshot(f), found->object, found->ref,
				    f->binding->parts[found->part].position);
		if (r <= 0)
			return r < 0 ? r : 1;
	}
	r = handler_look_at_key(h, found->object, true, false, &s);
	if (r < 0)
		return r;
	/* of what goes by a name twice, the later one */
	if (s.entry)
		told_keys_drop(h->inf, s.spare);
	else
		s.entry = handler_keep_key(h, s.spare);
	if (!s.entry)
		return 0;
	handler_set_key(w, s.entry, found->part, s.uid, found->seq <= f->from ? s.version : 0);
	return 1;
}

int
handler_seed_keys(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	const struct snapshot *s = feed_snapshot(&w->feed);
	struct found found;
	int r = by_seq_start(&w->feed.by_seq, s, w->feed.binding, 0);

	for (unsigned passed = 1; r >= 0 && (r = by_seq_next(&w->feed.by_seq, &found)) > 0; passed++) {
		r = seed_key(h, &found);
		if (r == 0)
			return 0;
		if (passed % SNAPSHOT_LOOK_EVERY == 0)
			r = snapshot_settle(s, r);
	}
	r = snapshot_settle(s, r);
	if (r < 0) {
		told_keys_clear(&w->keys);
		w->whole = false;
	}
	return r;
}

void
handler_begin_keys(struct informer_handler *h)
{
	struct handler_work *w = h->work;

	w->whole = true;
	if (told_keys_begin(h->inf, &w->keys) < 0)
		give_up_keys(h, "there is no memory");
}
