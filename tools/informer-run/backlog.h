/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backlog: the events that were accepted and are not done. It keeps them in order of arrival, in a chain for
 * each key, and in a list of those that may be sent.
 *
 *	arrivals   1 ── 2 ── 3 ── mark ── 4 ── 5   all before the first event is done: its `before`
 *	chain "a"  1 ── 3 ── 4                     only the first of a chain may be sent: one event
 *	chain "b"  2 ── 5                          of a key is in progress at a time
 *	ready      1 ── 2                          by arrival: the first of each chain, if no worker has it
 *	                                           and it waits for nothing
 *
 * If the first event of a key is being retried at its handler's request, the key keeps BACKLOG_KEY_MAX
 * events. A later event is merged into the last one, which is then marked coalesced. So one key cannot fill
 * the backlog. Other keys keep each event.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_RUN_BACKLOG_H
#define TOOLS_INFORMER_RUN_BACKLOG_H

#include "tools/informer-run/event.h"

#define BACKLOG_KEY_MAX 4

/* A key's events. */
struct chain {
	struct chain *next; /* in its bucket */
	struct event *first, *last;
	uint32_t length;
	uint64_t hash;
};

struct backlog {
	struct event *first, *last;
	struct event *ready_first, *ready_last;
	struct chain **buckets;
	size_t bucket_count;
	size_t count; /* without marks */
	size_t bytes; /* of the events' objects */
	uint64_t numbers;
	uint64_t epochs;
	struct informer_cursor told;
	bool told_known;
};

/* capacity: expected number of events. Returns 0 or -ENOMEM. */
int
backlog_init(struct backlog *backlog, size_t capacity);
void
backlog_done(struct backlog *backlog);

/*
 * Add an event or a mark. Its state becomes EVENT_READY or EVENT_BEHIND, unless it was merged into another.
 *
 * Returns 0, or -ENOMEM: the event was freed, and nothing after it may be acknowledged
 */
int
backlog_add(struct backlog *backlog, struct event *event, uint64_t now_ms);

/* The source has told everything up to here. */
void
backlog_told(struct backlog *backlog, const struct informer_cursor *cursor);

/* The cursor up to which all is done; false: there is none yet (the initial events are not done). */
bool
backlog_position(const struct backlog *backlog, struct informer_cursor *ret_cursor);

/*
 * Remove and free an event that is done, or a mark that was passed. The next event of its key becomes ready.
 */
void
backlog_remove(struct backlog *backlog, struct event *event);

/* Move an event from the ready list to another state, and back. */
void
backlog_take(struct backlog *backlog, struct event *event, enum event_state state);
void
backlog_put(struct backlog *backlog, struct event *event);

/* The first mark not passed; NULL: none. */
struct event *
backlog_mark(const struct backlog *backlog);

#endif
