/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks all parts of a resource side by side in order of seq, for feeds and private indexes, objects and
 * tombstones alike.
 */
#include "reader-lib/read/by_seq.h"

#include <string.h>

#include "shm-layout/ordinal.h"
#include "shm-layout/tombstone.h"

/* Read a leaf of by-seq: an object or a tombstone. */
static int
read_leaf(const struct snapshot *s, const struct resource *resource, uint32_t leaf, struct found *ret)
{
	const struct tombstone *t;
	int r;

	if (link_is_immediate(leaf)) {
		/* every ordinal that by-seq names has an object */
		r = ordinal_object(&s->view, resource->ordinals, link_value(leaf), &ret->ref, &ret->object);
		if (r <= 0)
			return -EBADMSG;
		ret->seq = LOAD_ONCE(&ret->object->seq);
		ret->gone = ret->unseen = false;
		return 0;
	}
	t = tombstone_at(&s->view, leaf);
	ret->ref = t ? LOAD_ONCE(&t->object) : 0;
	ret->object = object_at(&s->view, ret->ref);
	if (!ret->object)
		return -EBADMSG;
	ret->seq = LOAD_ONCE(&t->seq);
	ret->gone = true;
	ret->unseen = t->flags & TOMBSTONE_UNSEEN;
	return 0;
}

struct leaf_context {
	const struct snapshot *s;
	const struct resource *resource;
};

static int
key_of(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
       uint64_t *ret_key)
{
	const struct leaf_context *c = self->context;
	struct found found;
	int r = read_leaf(c->s, c->resource, leaf, &found);

	(void)view;
	(void)way;
	if (r == 0)
		*ret_key = found.seq;
	return r;
}

/* r: what the trie returned for the part's next leaf. */
static int
take(struct by_seq *w, struct by_seq_part *p, int r)
{
	uint64_t last = p->next.seq;

	p->ended = r <= 0;
	if (r > 0)
		r = read_leaf(w->s, p->resource, p->it.leaf, &p->next);
	/* the seq must grow: a damaged trie could lead round in circles */
	if (r == 0 && !p->ended && p->next.seq <= last)
		r = -EBADMSG;
	return r;
}

int
by_seq_start(struct by_seq *w, const struct snapshot *s, const struct resource_binding *b, uint64_t after)
{
	int r = 0;

	w->s = s;
	w->count = b->count;
	if (b->count > w->room) {
		by_seq_done(s->inf, w);
		w->parts = memory_get(s->inf, b->count * sizeof(*w->parts));
		if (!w->parts)
			return -ENOMEM;
		w->count = w->room = b->count;
	}
	for (uint32_t i = 0; i < w->count && r == 0; i++) {
		struct by_seq_part *p = &w->parts[i];
		struct leaf_context context = {s, NULL};
		struct trie_keys keys = {key_of, &context};

		p->resource = context.resource = part_resource(s, &b->parts[i]);
		p->next.part = i;
		p->next.seq = after;
		if (!p->resource)
			return -EBADMSG;
		r = after == UINT64_MAX ? 0
					: trie_seek(&p->it, &s->view, p->resource->by_seq, after + 1, &keys);
		r = take(w, p, r);
	}
	return r;
}

int
by_seq_next(struct by_seq *w, struct found *ret)
{
	struct by_seq_part *first = NULL;

	for (uint32_t i = 0; i < w->count; i++) {
		struct by_seq_part *p = &w->parts[i];

		if (!p->ended && (!first || p->next.seq < first->next.seq))
			first = p;
	}
	if (!first)
		return 0;
	*ret = first->next;
	if (take(w, first, trie_next(&first->it)) < 0)
		return -EBADMSG;
	return 1;
}

void
by_seq_done(struct informer *inf, struct by_seq *w)
{
	memory_put(inf, w->parts);
	w->parts = NULL;
	w->count = w->room = 0;
}
