/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler gets in place of objects: what its group shows of them, and its own values: what its
 * transform made of each object that it was told of. They are kept by key, so that on_value has the one
 * before, whatever is known of the object's state before.
 *
 * Invariant: every value that transform made is either in the table or was released.
 */
#include <string.h>

#include "reader-lib/events/handler.h"
#include "reader-lib/read/copy.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/key_object.h"

const struct informer_object *
handler_shown(const struct handler_work *w, const struct informer_object *object,
	      struct informer_object *copy)
{
	const struct path_set *transform = w->group ? w->group->transform : NULL;

	memset(copy, 0, sizeof(*copy));
	return transform && object_copy_filtered(w->feed.inf, object, transform, copy) == 0 ? copy : object;
}

static void
release(const struct handler_work *w, void *value)
{
	if (value && w->o.release)
		w->o.release(w->o.context, value);
}

/* e: of its key; NULL: it has none. value: what it is now; present: of an object that is there. */
static void
tell(struct handler_work *w, struct told_key *e, const struct informer_object *object, void *value,
     bool present)
{
	const struct informer_handler_options *o = &w->o;
	struct informer_object copy;
	void *old = e ? e->value : NULL;

	/* Who goes on from a cursor may be told of the end of what an earlier process had a value of. */
	if (old || value || (!present && w->sub.consumer[0])) {
		o->on_value(o->context, handler_shown(w, object, &copy), old, value);
		informer_object_free(&copy);
	}
	release(w, old);
	if (!e)
		return;
	e->value = value;
	e->round = w->round;
	e->position = (uint16_t)informer_object_position(object);
	if (!value)
		told_keys_remove(&w->values, e);
}

int
handler_tell_value(struct informer_handler *h, const struct object *o, const struct informer_object *object,
		   bool present)
{
	struct handler_work *w = h->work;
	const struct snapshot *s = feed_snapshot(&w->feed);
	struct told_key *e, *spare = NULL;
	struct informer_object copy = {0};
	struct told_name name;
	void *value;
	int r = told_keys_begin(h->inf, &w->values);

	if (r < 0)
		return r;
	if (!told_keys_name(&w->values, &s->view, o, &name))
		return snapshot_settle(s, -EBADMSG);
	e = told_keys_find(&w->values, &name);
	if (present && !e && !(spare = told_keys_make(h->inf, &name)))
		return -ENOMEM;
	value = present ? w->o.transform(w->o.context, handler_shown(w, object, &copy)) : NULL;
	informer_object_free(&copy);
	/* Neither the key nor the value is of an object that could not be read any more. */
	r = snapshot_settle(s, 0);
	if (r < 0) {
		release(w, value);
		told_keys_drop(h->inf, spare);
		return r;
	}
	if (spare)
		told_keys_insert(&w->values, spare);
	tell(w, e ? e : spare, object, value, present);
	return 1;
}

void
handler_tell_value_gone(struct informer_handler *h, const struct told_key *key,
			const struct informer_object *object)
{
	struct handler_work *w = h->work;
	struct told_key *e = NULL;
	struct told_name name;

	if (w->values.table.count) {
		told_keys_name_of(&w->values, key, &name);
		e = told_keys_find(&w->values, &name);
	}
	tell(w, e, object, NULL, false);
}

void
handler_tell_value_again(struct informer_handler *h, const struct snapshot *s, const struct object *o,
			 const struct informer_object *object)
{
	const struct handler_work *w = h->work;
	const struct told_key *e = NULL;
	struct informer_object copy;
	struct told_name name;

	if (w->values.table.count && told_keys_name(&w->values, &s->view, o, &name))
		e = told_keys_find(&w->values, &name);
	if (e && e->value && snapshot_settle(s, 0) == 0) {
		w->o.on_value(w->o.context, handler_shown(w, object, &copy), e->value, e->value);
		informer_object_free(&copy);
	}
}

bool
handler_sweep_values(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct informer_object object = {0};
	struct key_object memory;
	struct told_key *e;

	while ((e = told_keys_unmet(&w->values, w->round, &w->values_swept))) {
		if (handler_leaves(h))
			return false;
		/* cannot fail: the key is one that an object had */
		(void)key_object_set(&memory, e->key, e->ns_length, e->key + e->ns_length,
				     e->node.length - e->ns_length, e->position, &object);
		object_mark_deleted(&object);
		tell(w, e, &object, NULL, false);
		atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	}
	return true;
}

void
handler_release_values(struct handler_work *w)
{
	struct told_key *e;

	while ((e = (struct told_key *)(void *)key_table_take(&w->values.table))) {
		release(w, e->value);
		allocator_put(&w->values.table.memory, e);
	}
	told_keys_clear(&w->values);
}
