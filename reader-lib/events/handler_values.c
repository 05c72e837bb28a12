/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler gets in place of objects: the part of them that its group shows, and its own values, which
 * its transform makes. Values are stored with the keys, so on_value gets the previous value even where the
 * object's previous state is unknown.
 *
 * Invariant: every value that transform made belongs to a key, or was released.
 */
#include <string.h>

#include "reader-lib/events/handler.h"
#include "reader-lib/read/copy.h"
#include "reader-lib/read/found_object.h"

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

/*
 * Call on_value.
 *
 * entry    has the old value and gets the new one; NULL: both are NULL
 * present  the object is present
 */
static void
tell(struct handler_work *w, struct known_key *entry, const struct informer_object *object, void *value,
     bool present)
{
	const struct informer_handler_options *o = &w->o;
	struct informer_object copy;
	void *old = entry ? entry->value : NULL;

	/* An earlier process of the consumer may have had a value of an object that is gone. */
	if (old || value || (!present && w->sub.consumer[0])) {
		o->on_value(o->context, handler_shown(w, object, &copy), old, value);
		informer_object_free(&copy);
	}
	release(w, old);
	if (entry)
		entry->value = value;
}

int
handler_tell_value(struct informer_handler *h, const struct informer_object *object, bool present)
{
	struct handler_work *w = h->work;
	struct known_subject *s = &w->subject;
	struct informer_object copy = {0};
	void *value = NULL;
	int r;

	if (present) {
		value = w->o.transform(w->o.context, handler_shown(w, object, &copy));
		informer_object_free(&copy);
	}
	/* If the object was taken back while transform read it, its value does not count. */
	r = snapshot_validate(feed_snapshot(&w->feed), 0);
	if (r < 0) {
		release(w, value);
		return r;
	}
	tell(w, s->entry ? s->entry : s->spare, object, value, present);
	return 1;
}

void
handler_tell_value_gone(struct informer_handler *h, struct known_key *entry,
			const struct informer_object *object)
{
	tell(h->work, entry, object, NULL, false);
}

void
handler_tell_value_again(struct informer_handler *h, const struct snapshot *s, const struct object *o,
			 const struct informer_object *object)
{
	const struct handler_work *w = h->work;
	const struct known_key *e = NULL;
	struct informer_object copy;
	struct known_name name;

	if (known_keys_name(&w->keys, &s->view, o, &name))
		e = known_keys_find(&w->keys, &name);
	if (e && e->value && snapshot_validate(s, 0) == 0) {
		w->o.on_value(w->o.context, handler_shown(w, object, &copy), e->value, e->value);
		informer_object_free(&copy);
	}
}

void
handler_release_values(struct informer_handler *h)
{
	struct handler_work *w = h->work;
	struct known_key *e;

	while ((e = (struct known_key *)(void *)key_table_take(&w->keys.table))) {
		release(w, e->value);
		allocator_put(&w->keys.table.memory, e);
	}
}
