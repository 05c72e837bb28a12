/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that were taken and are not done: in order of arrival, in order by key, and those that may be
 * sent.
 *
 *	arrivals   1 ── 2 ── 3 ── mark ── 4 ── 5   what everything before is done of: the first one's `before`
 *	chain "a"  1 ── 3 ── 4                     only a chain's first may be sent: one event of a key is
 *	chain "b"  2 ── 5                          under way at a time
 *	ready      1 ── 2                          by arrival, chains' firsts that no worker has and that
 *	                                           wait for nothing
 *
 * A key whose first event is tried again and again, because its handler asks for it, keeps BACKLOG_KEY_MAX
 * events; what comes later is merged into the last of them, which says so. So one key cannot fill the
 * backlog. All others get each event.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_RUN_BACKLOG_H
#define TOOLS_INFORMER_RUN_BACKLOG_H

#include "tools/informer-run/event.h"

#define BACKLOG_KEY_MAX 4

/* A key's events. */
struct chain {
	struct chain *next; /* of its bucket */
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
	size_t bytes; /* of their objects */
	uint64_t numbers;
	uint64_t epochs;
	struct informer_cursor told;
	bool told_known;
};

/* capacity: about how many events there will be. Returns 0 or -ENOMEM. */
int
backlog_init(struct backlog *backlog, size_t capacity);
void
backlog_done(struct backlog *backlog);

/*
 * Take an event, or a mark. Its state becomes EVENT_READY or EVENT_BEHIND, unless it was merged into another.
 *
 * Returns 0, or -ENOMEM: it was freed, and nothing after it may be acknowledged
 */
int
backlog_add(struct backlog *backlog, struct event *event, uint64_t now_ms);

/* All up to here was told, whatever came of it. */
void
backlog_told(struct backlog *backlog, const struct informer_cursor *cursor);

/* Up to where everything is done; false while that is nowhere (the first initial events are under way). */
bool
backlog_position(const struct backlog *backlog, struct informer_cursor *ret_cursor);

/* An event is done, or a mark was passed: out of all lists, and freed. The next of its key becomes ready. */
void
backlog_remove(struct backlog *backlog, struct event *event);

/* Take a ready event out of the ready list, into another state; put it back. */
void
backlog_take(struct backlog *backlog, struct event *event, enum event_state state);
void
backlog_put(struct backlog *backlog, struct event *event);

/* The first mark that was not passed; NULL: none. */
struct event *
backlog_mark(const struct backlog *backlog);

#endif
