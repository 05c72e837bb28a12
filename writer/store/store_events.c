/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports events to readers with each commit, and keeps objects whole for readers that have not read their
 * events yet.
 *
 * Bad history prevented: an object is replaced twice before a commit, while no queue has unread entries. Its
 * middle state is retired at the working epoch. The commit reports it, and its root becomes current with no
 * older pin. The state is then reused although a queue shows it. So nothing is released whose seq is at or
 * above that of an unreported event.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"

/* ---- events ---- */

static int
reserve_events(struct store *s, size_t count)
{
	size_t wider = s->event_capacity ? s->event_capacity : 64;
	struct store_event *events;

	if (s->event_capacity - s->event_count >= count)
		return 0;
	while (wider - s->event_count < count)
		wider *= 2;
	events = realloc(s->events, wider * sizeof(*events));
	if (!events)
		return -ENOMEM;
	s->events = events;
	s->event_capacity = wider;
	return 0;
}

int
store_reserve_notes(struct store *s, struct store_resource *res, size_t count)
{
	int r = s->on_events ? reserve_events(s, count) : 0;

	if (r == 0 && s->lowest)
		r = retained_log_reserve(&res->left, count);
	return r;
}

void
store_note(struct store *s, enum queue_kind kind, unsigned resource, uint64_t seq, uint32_t old_ref,
	   uint32_t new_ref)
{
	if (!s->on_events || s->event_count == s->event_capacity)
		return;
	s->events[s->event_count++] = (struct store_event){
		.seq = seq,
		.kind = (uint16_t)kind,
		.resource = (uint16_t)resource,
		.old_ref = old_ref,
		.new_ref = new_ref,
	};
}

int
store_prepare_events(struct store *s)
{
	return s->on_events ? reserve_events(s, s->resource_count) : 0;
}

void
store_tell_events(struct store *s, uint64_t base)
{
	size_t count;

	for (unsigned i = 0; i < s->resource_count; i++) {
		struct store_resource *res = s->resources[i];
		bool synced = res->now.state == RESOURCE_SYNCED;

		if (synced && !res->synced_told)
			store_note(s, QUEUE_SYNCED, i, s->seq, 0, 0);
		res->synced_told = synced;
	}
	count = s->event_count;
	if (s->on_events)
		s->on_events(s->on_events_context, s->events, count, base);
	s->event_count = 0;
	if (s->event_capacity > 65536) { /* a large list */
		free(s->events);
		s->events = NULL;
		s->event_capacity = 0;
	}
}

void
store_on_events(struct store *s,
		void (*callback)(void *context, const struct store_event *events, size_t count,
				 uint64_t base),
		void *context)
{
	s->on_events = callback;
	s->on_events_context = context;
}

/* ---- blocks held for readers ---- */

/* Retire an object or a value that only readers of older roots can see. */
static void
retire(struct store *s, uint32_t ref)
{
	const struct block *b = arena_block(s->arena, ref);
	const struct object *o;

	if (block_type(b) == BLOCK_VALUE) {
		intern_unref(s->intern, ref);
		return;
	}
	o = object_at(&s->arena->view, ref);
	if (!o)
		return;
	intern_release_value(s->intern, b->payload + o->body_offset, b->payload + block_length(b));
	arena_retire(s->arena, ref);
}

void
store_let_go(struct store *s, struct retained_log *log, uint64_t seq, uint32_t ref)
{
	/* without memory for the note, the block stays until the next generation */
	if (!s->lowest)
		retire(s, ref);
	else
		retained_log_append(log, seq, ref, block_footprint(block_length(arena_block(s->arena, ref))));
}

static uint64_t
release_limit(const struct store *s, unsigned id)
{
	uint64_t limit = s->lowest ? s->lowest(s->lowest_context, id) : UINT64_MAX;

	return s->event_count > 0 && s->events[0].seq < limit ? s->events[0].seq : limit;
}

static void
release(struct store *s, unsigned id)
{
	struct store_resource *res = s->resources[id];
	uint64_t limit;
	uint32_t ref;

	if (retained_log_is_empty(&res->left) && retained_log_is_empty(&res->fallen))
		return;
	limit = release_limit(s, id);
	while (retained_log_take(&res->left, limit, &ref) || retained_log_take(&res->fallen, limit, &ref))
		retire(s, ref);
}

void
store_hold_for(struct store *s, uint64_t (*lowest)(void *context, unsigned resource), void *context)
{
	s->lowest = lowest;
	s->lowest_context = context;
}

void
store_heard_by(struct store *s, bool (*heard)(void *context, unsigned resource), void *context)
{
	s->heard = heard;
	s->heard_context = context;
}

bool
store_is_heard(const struct store *s, unsigned resource)
{
	return s->heard && s->heard(s->heard_context, resource);
}

void
store_release_held(struct store *s)
{
	for (unsigned i = 0; i < s->resource_count; i++)
		release(s, i);
}

uint64_t
store_held_bytes(const struct store *s, unsigned resource, uint64_t seq)
{
	const struct store_resource *res = s->resources[resource];

	return retained_log_bytes_after(&res->left, seq) + retained_log_bytes_after(&res->fallen, seq);
}
