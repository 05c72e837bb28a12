/* SPDX-License-Identifier: Apache-2.0 */
/* Events; see event.h. */
#include "tools/informer-run/event.h"

#include <stdlib.h>
#include <string.h>

struct event *
event_new(enum change_type type, const char *key)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->type = type;
	event->key = key ? strdup(key) : NULL;
	if (key && !event->key) {
		free(event);
		return NULL;
	}
	return event;
}

void
event_free(struct event *event)
{
	if (!event)
		return;
	free(event->key);
	free(event->object);
	free(event->old);
	free(event);
}

size_t
event_bytes(const struct event *event)
{
	return event->object_length + event->old_length;
}

bool
event_is_mark(const struct event *event)
{
	return event->type > CHANGE_DELETED;
}

bool
event_merge(struct event *into, struct event *later)
{
	if (into->type == CHANGE_DELETED && later->type != CHANGE_DELETED)
		return false;
	if (later->type == CHANGE_MODIFIED && into->type == CHANGE_ADDED) {
		/* the handler has not seen the add */
		later->type = CHANGE_ADDED;
		later->initial = into->initial;
		free(later->old);
		later->old = NULL;
		later->old_length = 0;
	} else if (later->type == CHANGE_MODIFIED) {
		free(later->old);
		later->old = into->old;
		later->old_length = into->old_length;
		into->old = NULL;
	}
	free(into->object);
	free(into->old);
	into->coalesced = true;
	into->seq = later->seq;
	into->type = later->type;
	into->initial = later->initial;
	into->final_unknown = later->final_unknown;
	into->object = later->object;
	into->object_length = later->object_length;
	into->old = later->old;
	into->old_length = later->old_length;
	later->object = later->old = NULL;
	event_free(later);
	return true;
}

void
event_line(const struct event *event, struct text *out)
{
	const struct change change = {
		.seq = event->seq,
		.type = event->type,
		.initial = event->initial,
		.final_unknown = event->final_unknown,
		.coalesced = event->coalesced,
		.resync = event->resync,
		.object = event->object,
		.object_length = event->object_length,
		.old = event->old,
		.old_length = event->old_length,
	};

	change_line(&change, out);
}
