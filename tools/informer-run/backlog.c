/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and chains of events; see backlog.h. */
#include "tools/informer-run/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
backlog_init(struct backlog *backlog, size_t capacity)
{
	size_t count = 16;

	while (count < capacity)
		count *= 2;
	*backlog = (struct backlog){.bucket_count = count, .buckets = calloc(count, sizeof(struct chain *))};
	return backlog->buckets ? 0 : -ENOMEM;
}

void
backlog_done(struct backlog *backlog)
{
	for (struct event *event = backlog->first, *next; event; event = next) {
		next = event->next;
		event_free(event);
	}
	for (size_t i = 0; i < backlog->bucket_count && backlog->buckets; i++)
		for (struct chain *chain = backlog->buckets[i], *next; chain; chain = next) {
			next = chain->next;
			free(chain);
		}
	free(backlog->buckets);
	*backlog = (struct backlog){0};
}

/* FNV-1a. Keys chosen to collide slow only this handler. */
static uint64_t
hash_key(const char *key)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 0x100000001b3u;
	return hash;
}

static struct chain **
find_chain(struct backlog *backlog, const char *key, uint64_t hash)
{
	struct chain **at = &backlog->buckets[hash & (backlog->bucket_count - 1)];

	while (*at && ((*at)->hash != hash || strcmp((*at)->first->key, key) != 0))
		at = &(*at)->next;
	return at;
}

/* ---- the ready list, in order of arrival ---- */

void
backlog_put(struct backlog *backlog, struct event *event)
{
	struct event *before = backlog->ready_last;

	while (before && before->number > event->number)
		before = before->ready_before;
	event->state = EVENT_READY;
	event->ready_before = before;
	event->ready_after = before ? before->ready_after : backlog->ready_first;
	*(before ? &before->ready_after : &backlog->ready_first) = event;
	*(event->ready_after ? &event->ready_after->ready_before : &backlog->ready_last) = event;
}

void
backlog_take(struct backlog *backlog, struct event *event, enum event_state state)
{
	*(event->ready_before ? &event->ready_before->ready_after
			      : &backlog->ready_first) = event->ready_after;
	*(event->ready_after ? &event->ready_after->ready_before
			     : &backlog->ready_last) = event->ready_before;
	event->ready_before = event->ready_after = NULL;
	event->state = state;
}

/* ---- arrival ---- */

static void
append(struct backlog *backlog, struct event *event, uint64_t now_ms)
{
	event->before = backlog->told;
	event->number = ++backlog->numbers;
	event->arrived_ms = now_ms;
	event->previous = backlog->last;
	event->next = NULL;
	*(backlog->last ? &backlog->last->next : &backlog->first) = event;
	backlog->last = event;
}

static int
add_change(struct backlog *backlog, struct event *event, uint64_t now_ms)
{
	uint64_t hash = hash_key(event->key);
	struct chain **at = find_chain(backlog, event->key, hash), *chain = *at;

	if (chain && chain->first->retries > 0 && chain->length >= BACKLOG_KEY_MAX &&
	    chain->last->epoch == event->epoch) {
		size_t before = event_bytes(chain->last);

		if (event_merge(chain->last, event)) {
			backlog->bytes += event_bytes(chain->last) - before;
			return 0;
		}
	}
	if (!chain) {
		chain = calloc(1, sizeof(*chain));
		if (!chain) {
			event_free(event);
			return -ENOMEM;
		}
		chain->hash = hash;
		*at = chain;
	}
	append(backlog, event, now_ms);
	event->chain = chain;
	event->later = NULL;
	backlog->count++;
	backlog->bytes += event_bytes(event);
	if (chain->length++ > 0) {
		chain->last->later = event;
		event->state = EVENT_BEHIND;
	} else {
		chain->first = event;
		backlog_put(backlog, event);
	}
	chain->last = event;
	return 0;
}

int
backlog_add(struct backlog *backlog, struct event *event, uint64_t now_ms)
{
	const struct informer_cursor cursor = event->cursor;
	bool advances = event->advances;
	int r = 0;

	event->epoch = backlog->epochs;
	if (event_is_mark(event)) {
		append(backlog, event, now_ms);
		event->before = backlog->told;
		backlog->epochs++;
	} else {
		r = add_change(backlog, event, now_ms);
	}
	if (r == 0 && advances)
		backlog_told(backlog, &cursor);
	return r;
}

void
backlog_told(struct backlog *backlog, const struct informer_cursor *cursor)
{
	backlog->told = *cursor;
	backlog->told_known = true;
}

bool
backlog_position(const struct backlog *backlog, struct informer_cursor *ret_cursor)
{
	static const struct informer_cursor nowhere;

	if (!backlog->told_known)
		return false;
	*ret_cursor = backlog->first ? backlog->first->before : backlog->told;
	/* an event from before the first cursor has none */
	return memcmp(ret_cursor, &nowhere, sizeof(nowhere)) != 0;
}

/* ---- end ---- */

static void
leave_chain(struct backlog *backlog, struct event *event)
{
	struct chain *chain = event->chain, **at;

	chain->first = event->later;
	chain->length--;
	if (chain->first) {
		backlog_put(backlog, chain->first);
		return;
	}
	for (at = &backlog->buckets[chain->hash & (backlog->bucket_count - 1)]; *at != chain;
	     at = &(*at)->next)
		;
	*at = chain->next;
	free(chain);
}

void
backlog_remove(struct backlog *backlog, struct event *event)
{
	if (event->state == EVENT_READY && !event_is_mark(event))
		backlog_take(backlog, event, EVENT_SENT);
	*(event->previous ? &event->previous->next : &backlog->first) = event->next;
	*(event->next ? &event->next->previous : &backlog->last) = event->previous;
	if (event->chain) {
		backlog->count--;
		backlog->bytes -= event_bytes(event);
		leave_chain(backlog, event);
	}
	event_free(event);
}

struct event *
backlog_mark(const struct backlog *backlog)
{
	struct event *event = backlog->first;

	while (event && !event_is_mark(event))
		event = event->next;
	return event;
}
