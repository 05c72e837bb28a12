/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: which worker gets which event when, and what becomes of it.
 *
 * It knows no processes, pipes or clocks: it is told what happened and when (offer, acknowledged, exited,
 * tick), and asks for what is to be done through struct supervisor_ops. So its rules are tested without any
 * process, in virtual time.
 *
 *	library ──offer──▶ backlog ──send──▶ worker ──acknowledged──▶ done ──acknowledge──▶ cursor
 *	                      ▲                 │                                           (of the consumer)
 *	                      ├──── retry ──────┤
 *	                      └──── exited ─────┴── N times on one event ──▶ set_aside
 *
 * - Any worker gets any key; one event of a key is under way at a time, so a key's order holds over workers,
 *   retries and crashes.
 * - A worker that crashed with several events is given them again one by one, before anything else: whichever
 *   crashes it is known then. The one it had longest counts as the cause of the first crash, since handlers
 *   read their events in order.
 * - Crashes delay the next start (100 ms, doubling, at most 30 s) until an event is acknowledged again.
 *   Setting an event aside counts like that once: a handler that does nothing but crash is not fed all events
 *   at full speed.
 * - The event that a worker has longest must be answered within the deadline, counted from when it became
 *   that. If not, the worker is killed, which counts as a crash.
 * - Marks are passed in their place: RESYNC and RESYNC_END only when every key before them has been answered
 *   at least once.
 * - At most 2 * workers * window events are held (and 64 MiB of them); then the source is held back.
 */
#ifndef TOOLS_INFORMER_RUN_SUPERVISOR_H
#define TOOLS_INFORMER_RUN_SUPERVISOR_H

#include "tools/informer-run/backlog.h"

#define SUPERVISOR_NEVER UINT64_MAX
#define SUPERVISOR_BYTES_MAX (64u << 20)

/*
 * window       events a worker has at most
 * deadline_ms  see above
 * max_crashes  on one event; then it is set aside
 * exec         a worker is a place for one short process at a time, which the send starts; its end is the
 *              answer
 * backoff_ms, backoff_max_ms   before a new start, and before an event that crashed a short process is tried
 *                              again
 * retry_ms, retry_max_ms       before a retry that names no time: doubling
 */
struct supervisor_options {
	uint32_t workers;
	uint32_t window;
	uint32_t deadline_ms;
	uint32_t max_crashes;
	bool exec;
	uint32_t backoff_ms, backoff_max_ms;
	uint32_t retry_ms, retry_max_ms;
};
#define SUPERVISOR_OPTIONS                                                                                   \
	((struct supervisor_options){.workers = 1,                                                           \
				     .window = 16,                                                           \
				     .deadline_ms = 30000,                                                   \
				     .max_crashes = 3,                                                       \
				     .backoff_ms = 100,                                                      \
				     .backoff_max_ms = 30000,                                                \
				     .retry_ms = 100,                                                        \
				     .retry_max_ms = 60000})

/*
 * start        a process for this worker (not with exec). 0 or negative errno: it is tried again later
 * send         give it the event, which stays the supervisor's; a process that cannot be started with it
 *              (exec) counts as crashed: then a negative errno
 * mark         tell it of a mark
 * kill         end it at once; supervisor_exited() follows
 * acknowledge  all up to here is done
 * set_aside    keep the event for people. 0 or negative errno: it is tried again later
 * hold         whether the source shall hold events back
 */
struct supervisor_ops {
	int (*start)(void *context, uint32_t worker);
	int (*send)(void *context, uint32_t worker, const struct event *event);
	void (*mark)(void *context, uint32_t worker, const struct event *mark);
	void (*kill)(void *context, uint32_t worker, const char *why);
	void (*acknowledge)(void *context, const struct informer_cursor *cursor);
	int (*set_aside)(void *context, const struct event *event, const char *why);
	void (*hold)(void *context, bool hold);
};

struct supervisor_stats {
	/* oldest_ms: when it arrived; 0: none */
	uint64_t processed, retries, restarts, dead_letters, held, under_way, oldest_ms;
	uint64_t coalesced, resyncs;
	uint32_t up;
};

struct supervisor;

/* ops and context are borrowed. Nothing is called from within. Returns 0 or -ENOMEM. */
int
supervisor_new(const struct supervisor_options *options, const struct supervisor_ops *ops, void *context,
	       struct supervisor **ret_supervisor);
/* Calls nothing. NULL is fine. */
void
supervisor_free(struct supervisor *supervisor);

/*
 * Take an event, or a mark (event_new()). Returns 0 or -ENOMEM: then it is lost, and nothing may be
 * acknowledged any more.
 */
int
supervisor_offer(struct supervisor *supervisor, struct event *event, uint64_t now_ms);
/* An event was lost before it could be offered: nothing is acknowledged any more. */
void
supervisor_lose(struct supervisor *supervisor);
/* The source told all up to here (and what of it was for us was offered). */
void
supervisor_told(struct supervisor *supervisor, const struct informer_cursor *cursor, uint64_t now_ms);

/* A worker answered. False: it has no such event. ms < 0: no time was named. */
bool
supervisor_acknowledged(struct supervisor *supervisor, uint32_t worker, uint64_t seq, uint64_t now_ms);
bool
supervisor_retry(struct supervisor *supervisor, uint32_t worker, uint64_t seq, int64_t ms, uint64_t now_ms);

/* A worker's process is about to end, its last answers may follow: it is sent nothing more. */
void
supervisor_closing(struct supervisor *supervisor, uint32_t worker);

/*
 * A worker's process ended. With exec, done and retry are its answer; else the first two are crashes, too.
 * why: for people.
 */
enum supervisor_end { SUPERVISOR_END_DONE, SUPERVISOR_END_RETRY, SUPERVISOR_END_CRASH };
void supervisor_exited(struct supervisor *supervisor, uint32_t worker, enum supervisor_end end,
		       const char *why, uint64_t now_ms);

/* Do what time brings; when it brings something next (SUPERVISOR_NEVER: nothing will). */
void
supervisor_tick(struct supervisor *supervisor, uint64_t now_ms);
uint64_t
supervisor_next(const struct supervisor *supervisor);

/* Send nothing more; what is under way may be answered. Whether something still is. */
void
supervisor_drain(struct supervisor *supervisor);
bool
supervisor_busy(const struct supervisor *supervisor);

void
supervisor_stats(const struct supervisor *supervisor, struct supervisor_stats *ret_stats);

#endif
