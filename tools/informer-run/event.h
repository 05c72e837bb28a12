/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event on its way to a handler process: a change of one object, or a mark between changes.
 *
 * Everything it needs stands in its own memory: the object's JSON was made when the library told of it. It
 * belongs to the backlog (backlog.h) from its offer to its end.
 */
#ifndef TOOLS_INFORMER_RUN_EVENT_H
#define TOOLS_INFORMER_RUN_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/informer.h"
#include "tools/change/change.h"

/* Where an event is. */
enum event_state {
	EVENT_BEHIND,	/* an earlier event of its key is not done */
	EVENT_READY,	/* the first of its key, may be sent */
	EVENT_SENT,	/* a worker has it */
	EVENT_WAITING,	/* to be sent again at due_ms */
};

/*
 * seq        what a handler acknowledges: the modification seq
 * key        "namespace/name" or "name"; NULL for marks
 * object, old   JSON or NULL; allocated
 * resync     of RESYNC and RESYNC_END: which one; no other has its number, also over restarts
 * cursor     all up to here is done when this and all before it are; meaningful if `advances`
 * advances   false for initial ones: only when the last of them is done is anything done
 *
 * The rest is the backlog's and the supervisor's:
 * before     all up to here is done when all before this one are
 * number     order of arrival
 * epoch      how many marks arrived before
 * crashes    of handlers that had it; answers: how often it was answered (retry, crash); retries: of these,
 *            retries
 * suspect    it was in a worker that crashed: sent to that one alone, until it answers
 */
struct event {
	uint64_t seq;
	enum change_type type;
	bool initial;
	bool final_unknown;
	bool advances;
	bool coalesced; /* others were merged into it */
	uint64_t resync;
	char *key;
	char *object;
	size_t object_length;
	char *old;
	size_t old_length;
	struct informer_cursor cursor;

	struct informer_cursor before;
	uint64_t number;
	uint64_t epoch;
	uint64_t arrived_ms;
	uint64_t due_ms;
	uint32_t crashes;
	uint32_t retries;
	uint32_t answers;
	enum event_state state;
	bool suspect;
	uint32_t worker; /* of EVENT_SENT and of suspects */

	struct event *previous, *next;	      /* arrivals */
	struct event *later;		      /* of the same key */
	struct event *ready_before, *ready_after; /* the ready list, or those that wait */
	struct event *sent_before, *sent_after;	  /* a worker's, in order of sending */
	struct chain *chain;
};

/* An event of this key; key NULL for a mark. NULL: no memory. */
struct event *
event_new(enum change_type type, const char *key);
/* NULL is fine. */
void
event_free(struct event *event);

/* How much its objects take. */
size_t
event_bytes(const struct event *event);

bool
event_is_mark(const struct event *event);

/*
 * Let a waiting event take a later one of its key in, so that a key whose event is tried again and again
 * needs bounded memory: add + update = add, update + update = update from the first's old state, any + delete
 * = delete. A delete takes no add in.
 *
 * Returns true: `later` was taken in and freed
 */
bool
event_merge(struct event *into, struct event *later);

/* The line that a handler gets. */
void
event_line(const struct event *event, struct text *out);

#endif
