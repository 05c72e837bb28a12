/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event: a change of one object on its way to a handler process, or a mark between changes.
 *
 * It owns all its data: the object's JSON was made inside the library's callback. It belongs to the backlog
 * (backlog.h) from its offer to its end.
 */
#ifndef TOOLS_INFORMER_RUN_EVENT_H
#define TOOLS_INFORMER_RUN_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/informer.h"
#include "tools/change/change.h"

/* Where an event is. */
enum event_state {
	EVENT_BEHIND,  /* an earlier event of its key is not done */
	EVENT_READY,   /* first of its key, may be sent */
	EVENT_SENT,    /* a worker has it */
	EVENT_WAITING, /* is sent again at due_ms */
};

/*
 * seq        the number that a handler acknowledges: the modification seq
 * key        "namespace/name" or "name"; NULL for marks
 * object, old   JSON or NULL; allocated
 * resync     number of a RESYNC and its RESYNC_END; never used twice, also after restarts
 * cursor     all up to here is done when this event and all before it are done; valid if `advances`
 * advances   false for initial events: the cursor moves only after the last of them
 *
 * The rest belongs to the backlog and the supervisor:
 * before     all up to here is done when all events before this one are done
 * number     order of arrival
 * epoch      number of marks that arrived before
 * crashes    crashes of handlers that had it; answers: times it was answered (retry or crash); retries: of
 *            these, retries
 * suspect    it was in a worker that crashed: only that worker gets it, until it is answered
 */
struct event {
	uint64_t seq;
	enum change_type type;
	bool initial;
	bool final_unknown;
	bool advances;
	bool coalesced; /* later changes were merged into it */
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
	struct event *later;                  /* next of its key */
	struct event *ready_before, *ready_after; /* the ready list, or the waiting list */
	struct event *sent_before, *sent_after;   /* a worker's list, in order of sending */
	struct chain *chain;
};

/* Returns an event of this key; key NULL: a mark. NULL: no memory. */
struct event *
event_new(enum change_type type, const char *key);
/* NULL is fine. */
void
event_free(struct event *event);

/* Size of its objects, in bytes. */
size_t
event_bytes(const struct event *event);

bool
event_is_mark(const struct event *event);

/*
 * Merge a later event of the same key into a waiting one, so that a key that is retried needs bounded memory:
 * add + update = add, update + update = update from the first's old state, any + delete = delete. A delete
 * cannot absorb an add.
 *
 * Returns true: `later` was merged and freed
 */
bool
event_merge(struct event *into, struct event *later);

/* Append the line that a handler gets. */
void
event_line(const struct event *event, struct text *out);

#endif
