/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor's three files share, each calling only those behind it: what it is told (supervisor.c),
 * what that makes possible (supervisor_proceed.c), what becomes of an event (supervisor_outcome.c).
 */
#ifndef TOOLS_INFORMER_RUN_SUPERVISOR_INTERNAL_H
#define TOOLS_INFORMER_RUN_SUPERVISOR_INTERNAL_H

#include "tools/informer-run/supervisor.h"

enum worker_state { WORKER_DOWN, WORKER_UP, WORKER_CLOSING, WORKER_KILLED };

/*
 * start_ms   WORKER_DOWN: when to start it
 * sent       what it has, in order of sending; `head_ms`: since when the first is the first
 * crashes    in a row
 * suspects   held events that are for it alone
 */
struct worker {
	enum worker_state state;
	uint64_t start_ms;
	struct event *sent_first, *sent_last;
	uint32_t sent;
	uint64_t head_ms;
	uint32_t crashes;
	uint32_t suspects;
};

/*
 * waiting        events that wait for their time, in no order; the earliest is waiting_ms
 * epoch          marks that were passed
 * failures       crashes since the last acknowledgement; acked: there was one since an event was set aside
 * broken         an event was lost: nothing is acknowledged any more
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
	struct event *resync; /* the mark, for workers that start amid it */
	struct informer_cursor acknowledged;
	struct supervisor_stats stats;
	struct worker workers[];
};

/* base * 2^n, at most max. */
uint64_t
supervisor_backoff(uint32_t base, uint32_t max, uint32_t n);
/* The event of this seq that a worker has; NULL: none. */
struct event *
supervisor_find_sent(const struct worker *worker, uint64_t seq);
/* A worker has it no longer. */
void
supervisor_take_from(struct supervisor *s, struct worker *worker, struct event *event, uint64_t now_ms);
/* It is the worker's alone until it is answered, since it may have crashed it; or is no longer. */
void
supervisor_suspect(struct supervisor *s, struct event *event, bool is);
/* It is done. */
void
supervisor_finish(struct supervisor *s, struct worker *worker, struct event *event);
/* It is tried again in so many ms; < 0: as the options say, doubling. */
void
supervisor_try_later(struct supervisor *s, struct event *event, int64_t ms, uint64_t now_ms);
/* A worker crashed, with this event first in its hands, and alone or not. */
void supervisor_crashed_on(struct supervisor *s, struct worker *worker, struct event *event, bool alone,
			   const char *why, uint64_t now_ms);

/* Do all that has become possible. */
void supervisor_proceed(struct supervisor *s, uint64_t now_ms);
/* Its last part: hold the source back or let it go on, acknowledge. */
void
supervisor_report(struct supervisor *s);

#endif
