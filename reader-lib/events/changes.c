/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that record a pulled handler's calls as changes. */
#include "reader-lib/events/changes.h"

#include <string.h>

static struct informer_change *
put_down(struct changes *c, enum informer_change_kind kind, const struct informer_object *object)
{
	c->taken = true;
	c->change = (struct informer_change){.kind = kind};
	if (object) {
		c->object = *object;
		c->change.object = &c->object;
	}
	return &c->change;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	put_down(context, INFORMER_CHANGE_ADDED, object)->is_initial = is_initial;
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct changes *c = context;

	put_down(c, INFORMER_CHANGE_UPDATED, object);
	if (old) {
		c->old = *old;
		c->change.old = &c->old;
	}
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	put_down(context, INFORMER_CHANGE_DELETED, object)->final_state_known = final_state_known;
}

/* INFORMER_RESYNC records no change: on_resync_begin() follows. */
static void
on_overflow(void *context, enum informer_overflow kind)
{
	if (kind == INFORMER_COALESCED)
		put_down(context, INFORMER_CHANGE_COALESCED, NULL);
}

static void
on_resync_begin(void *context)
{
	put_down(context, INFORMER_CHANGE_RESYNC_BEGIN, NULL);
}

static void
on_resync_end(void *context)
{
	put_down(context, INFORMER_CHANGE_RESYNC_END, NULL);
}

static void
on_synced(void *context)
{
	put_down(context, INFORMER_CHANGE_SYNCED, NULL);
}

static void
on_error(void *context, const struct informer_watch_status *status)
{
	struct changes *c = context;

	memcpy(c->met.reason, status->reason, strlen(status->reason) + 1);
	memcpy(c->met.message, status->message, strlen(status->message) + 1);
	c->status = *status;
	c->status.reason = c->met.reason;
	c->status.message = c->met.message;
	put_down(c, INFORMER_CHANGE_ERROR, NULL)->status = &c->status;
}

void
changes_listen(struct changes *c, struct informer_handler_options *o)
{
	o->context = c;
	o->on_add = on_add;
	o->on_update = on_update;
	o->on_delete = on_delete;
	o->on_overflow = on_overflow;
	o->on_resync_begin = on_resync_begin;
	o->on_resync_end = on_resync_end;
	o->on_synced = on_synced;
	o->on_error = on_error;
}
