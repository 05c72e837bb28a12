/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler's own values: what its transform made of each object that it was told of. They are kept by key,
 * so that on_value has the one before, whatever is known of the object's state before.
 *
 * Invariant: every value that transform made is either in the table or was released.
 */
#include "reader-lib/events/handler.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/key_object.h"

static void
tell(struct handler_work *w, struct told_key *e, const struct informer_object *object, bool present)
{
	const struct informer_handler_options *o = &w->o;
	void *old = e ? e->value : NULL;
	void *value = present ? o->transform(o->context, object) : NULL;

	/* Who goes on from a cursor may be told of the end of what an earlier process had a value of. */
	if (old || value || (!present && w->sub.consumer[0]))
		o->on_value(o->context, object, old, value);
	if (old && o->release)
		o->release(o->context, old);
	if (!e)
		return;
	e->value = value;
	e->round = w->round;
	e->position = (uint16_t)informer_object_position(object);
	if (!value)
		told_keys_remove(&w->values, e);
}

bool
handler_tell_value(struct informer_handler *h, const struct object *o, const struct informer_object *object,
		   bool present)
{
	struct handler_work *w = h->work;
	struct told_key *e = present ? told_keys_get(h->inf, &w->values, o) : told_keys_find(&w->values, o);

	if (present && !e) {
		w->no_memory = true;
		return false;
	}
	tell(w, e, object, present);
	return true;
}

void
handler_tell_value_again(struct informer_handler *h, const struct object *o,
			 const struct informer_object *object)
{
	const struct handler_work *w = h->work;
	const struct told_key *e = told_keys_find(&w->values, o);

	if (e && e->value)
		w->o.on_value(w->o.context, object, e->value, e->value);
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
		tell(w, e, &object, false);
		atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	}
	return true;
}

void
handler_release_values(struct handler_work *w)
{
	struct told_key *e;

	while ((e = (struct told_key *)(void *)key_table_take(&w->values.table))) {
		if (e->value && w->o.release)
			w->o.release(w->o.context, e->value);
		allocator_put(&w->values.table.memory, e);
	}
	told_keys_clear(&w->values);
}
