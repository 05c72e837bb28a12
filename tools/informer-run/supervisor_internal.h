/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the supervisor's three files: inputs (supervisor.c), actions that have become possible
 * (supervisor_proceed.c), the end of an event (supervisor_outcome.c). Each calls only the files after it.
 */
#ifndef TOOLS_INFORMER_RUN_SUPERVISOR_INTERNAL_H
#define TOOLS_INFORMER_RUN_SUPERVISOR_INTERNAL_H

#include "tools/informer-run/supervisor.h"

enum worker_state { WORKER_DOWN, WORKER_UP, WORKER_CLOSING, WORKER_KILLED };

/*
 * start_ms   WORKER_DOWN: when to start it
 * sent       its events, in order of sending; `head_ms`: since when the first one is first
 * crashes    in a row
 * suspects   held events that only this worker may get
 * mark       number of the last mark that its process got, if no answer followed; else 0. mark_type: its type
 * bare       its process, or the next one if it is down, does not get the open RESYNC
 */
struct worker {
	enum worker_state state;
	uint64_t start_ms;
	struct event *sent_first, *sent_last;
	uint32_t sent;
	uint64_t head_ms;
	uint32_t crashes;
	uint32_t suspects;
	uint64_t mark;
	enum change_type mark_type;
	bool bare;
};

/*
 * waiting        events that wait for their time, unordered; the earliest is due at waiting_ms
 * epoch          number of marks passed
 * failures       crashes since the last acknowledgement; acked: one came since an event was set aside
 * broken         an event was lost: nothing is acknowledged any more
 * resync         the open RESYNC, for workers that start within it. Its `crashes`: of processes that answered
 *                nothing after it; `answers`: not 0 if a process answered an event after it
 * resync_aside   it was set aside: no process that starts gets it
 */
struct supervisor {
	struct supervisor_options options;
	const struct supervisor_ops *ops;
	void *context;
	struct backlog backlog;
	struct event *waiting;
	uint64_t waiting_ms;
	uint64_t epoch;
	uint32_t failures;
	uint32_t suspects;
	uint32_t under_way;
	bool acked;
	bool held;
	bool draining;
	bool broken;
	bool resync_aside;
	struct event *resync;
	struct informer_cursor acknowledged;
	struct supervisor_stats stats;
	struct worker workers[];
};

/* base * 2^n, at most max. */
uint64_t
supervisor_backoff(uint32_t base, uint32_t max, uint32_t n);
/* The worker's event with this seq; NULL: none. */
struct event *
supervisor_find_sent(const struct worker *worker, uint64_t seq);
/* Remove an event from a worker. */
void
supervisor_take_from(struct supervisor *s, struct worker *worker, struct event *event, uint64_t now_ms);
/*
 * Set or clear `suspect`: the event may have crashed the worker, and only that worker gets it until it is
 * answered.
 */
void
supervisor_suspect(struct supervisor *s, struct event *event, bool is);
/* The event is done. */
void
supervisor_finish(struct supervisor *s, struct worker *worker, struct event *event);
/* Try the event again in ms; < 0: by the options' doubling delay. */
void
supervisor_try_later(struct supervisor *s, struct event *event, int64_t ms, uint64_t now_ms);
/* A worker crashed; event was its first. alone: it had no other. */
void supervisor_crashed_on(struct supervisor *s, struct worker *worker, struct event *event, bool alone,
			   const char *why, uint64_t now_ms);

/* Do every action that has become possible. */
void supervisor_proceed(struct supervisor *s, uint64_t now_ms);
/* The last part of supervisor_proceed(): pause or resume the source, acknowledge. */
void
supervisor_report(struct supervisor *s);

#endif
