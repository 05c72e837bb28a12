/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that a handler remembers: looked up before an item is told, entered afterwards, and filled for a
 * consumer that goes on from a stored cursor.
 *
 * Invariant: the table holds nothing that was read from an arena without validation.
 */
#include "reader-lib/events/handler.h"

static uint64_t
hash_of(const struct handler_work *w, const struct object *o, const struct object_extent *extent,
	enum object_string which)
{
	size_t length;
	const char *text = object_string(o, extent, which, &length);

	return known_keys_hash(&w->keys, text, length);
}

int
handler_look_at_key(const struct informer_handler *h, const struct object *o, bool remember, bool anew,
		    struct known_subject *s)
{
	const struct handler_work *w = h->work;
	const struct arena_view *view = &feed_snapshot(&w->feed)->view;
	struct object_extent extent;
	struct known_name name;

	if (!object_measure_within(view, o, &extent) || !known_keys_name(&w->keys, view, o, &name))
		return -EBADMSG;
	s->entry = known_keys_find(&w->keys, &name);
	s->known = KNOWN_ABSENT;
	if (!s->entry && !remember)
		return 0;
	s->uid = hash_of(w, o, &extent, OBJECT_UID);
	s->version = hash_of(w, o, &extent, OBJECT_VERSION);
	if (s->entry)
		s->known = w->o.on_value || s->entry->uid == s->uid ? KNOWN_PRESENT : KNOWN_OTHER;
	if (remember && (anew || s->known != KNOWN_PRESENT)) {
		s->spare = known_keys_make(h->inf, &name);
		if (!s->spare)
			return -ENOMEM;
	}
	return 0;
}

bool
handler_is_behind(const struct handler_work *w, const struct known_subject *s, const struct object *o)
{
	struct object_extent extent;

	return s->entry && object_measure_within(&feed_snapshot(&w->feed)->view, o, &extent) &&
	       s->entry->version != hash_of(w, o, &extent, OBJECT_VERSION);
}

void
handler_keep_key(struct informer_handler *h, struct known_subject *s, uint32_t part)
{
	struct handler_work *w = h->work;
	struct known_key *e = s->entry;

	if (!e) {
		e = s->entry = s->spare;
		s->spare = NULL;
		known_keys_insert(&w->keys, e);
		handler_count_keys(h);
	}
	if (!w->o.on_value)
		e->uid = s->uid;
	e->version = s->version;
	e->round = w->round;
	e->position = (uint16_t)w->feed.binding->parts[part].position;
}

/* Seed the key of one object. 1 or negative. */
static int
seed_key(struct informer_handler *h, const struct found *found)
{
	struct handler_work *w = h->work;
	struct feed *f = &w->feed;
	uint64_t created_seq = LOAD_ONCE(&found->object->created_seq);
	struct known_subject s = {0};
	int r;

	if (created_seq > f->from || (found->gone && found->seq <= f->from) || !feed_wants(f, found->object))
		return 1;
	/* If it changed after the cursor, the state told is unknown; else it was told if it is selected. */
	if (found->seq <= f->from) {
		r = handler_matches(w, feed_snapshot(f), found->object, found->ref,
				    f->binding->parts[found->part].position);
		if (r <= 0)
			return r < 0 ? r : 1;
	}
	r = handler_look_at_key(h, found->object, true, false, &s);
	if (r == 0) {
		s.version = found->seq <= f->from ? s.version : 0;
		/* of two objects with the same name, the later one stays */
		handler_keep_key(h, &s, found->part);
	}
	known_keys_drop(h->inf, s.spare);
	return r < 0 ? r : 1;
}

int
handler_seed_keys(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	const struct snapshot *s = feed_snapshot(&w->feed);
	struct found found;
	int r;

	known_keys_clear(&w->keys);
	r = by_seq_start(&w->feed.by_seq, s, w->feed.binding, 0);
	for (unsigned passed = 1; r >= 0 && (r = by_seq_next(&w->feed.by_seq, &found)) > 0; passed++) {
		r = seed_key(h, &found);
		if (passed % SNAPSHOT_LOOK_EVERY == 0)
			r = snapshot_validate(s, r);
	}
	r = snapshot_validate(s, r);
	if (r < 0)
		known_keys_clear(&w->keys);
	handler_count_keys(h);
	return r;
}
