/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervisor: decides which worker gets which event, and handles answers, retries and crashes.
 *
 * It has no processes, pipes or clocks. Its caller reports each occurrence with its time (offer,
 * acknowledged, exited, tick). The supervisor acts through struct supervisor_ops. So its rules are tested
 * without processes, in virtual time.
 *
 *	library ──offer──▶ backlog ──send──▶ worker ──acknowledged──▶ done ──acknowledge──▶ cursor
 *	                      ▲                 │                                           (of the consumer)
 *	                      ├──── retry ──────┤
 *	                      └──── exited ─────┴── N times on one event ──▶ set_aside
 *
 * - Any worker gets any key. One event of a key is in progress at a time, so a key's order holds across
 *   workers, retries and crashes.
 * - A worker that crashed with several events gets them again one by one, before all others. This finds the
 *   event that causes the crash. The event it had longest is blamed for the first crash, because handlers
 *   read in order.
 * - A mark has no answer. So a crash between a mark and the next answer sets no event aside: the mark may be
 *   the cause. Later processes get the events without the mark, but with the open RESYNC. If an event crashes
 *   max_crashes - 1 processes after the RESYNC, the worker's next process gets the event without it. If that
 *   process crashes, the event is at fault. If it answers, the RESYNC is, and is set aside.
 * - A process that did not get the RESYNC does not get its RESYNC_END.
 * - Crashes delay the next start (100 ms, doubling, at most 30 s) until an event is acknowledged. Setting an
 *   event aside ends the delay once, like an acknowledgement. So a handler that always crashes does not go
 *   through all events at full speed.
 * - The deadline applies to the event that a worker has longest, and starts when the event becomes that. If
 *   it passes, the worker is killed, which counts as a crash.
 * - Marks are passed in order. RESYNC and RESYNC_END pass only when every key before them was answered at
 *   least once.
 * - At most 2 * workers * window events (and 64 MiB of them) are held; then the source is paused.
 */
#ifndef TOOLS_INFORMER_RUN_SUPERVISOR_H
#define TOOLS_INFORMER_RUN_SUPERVISOR_H

#include "tools/informer-run/backlog.h"

#define SUPERVISOR_NEVER UINT64_MAX
#define SUPERVISOR_BYTES_MAX (64u << 20)

/*
 * window       most events of a worker
 * deadline_ms  see above
 * max_crashes  of one event; then it is set aside
 * exec         a worker runs one short process for each event; send starts it, and its end is the answer
 * backoff_ms, backoff_max_ms   delay before a new start; with exec, before a crashed event is tried again
 * retry_ms, retry_max_ms       delay before a retry that names no time: doubling
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
 * start        start a process for this worker (not with exec). 0 or a negative errno: tried again later
 * send         give the worker the event, which stays the supervisor's. A negative errno (exec only): its
 *              process could not be started; counts as a crash
 * mark         give the worker a mark
 * kill         end the worker at once; supervisor_exited() follows
 * acknowledge  all up to here is done
 * set_aside    keep the event, or the RESYNC, for people. 0 or a negative errno: an event is tried
 *              again later, a RESYNC is not
 * hold         pause or resume the source
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
	/* oldest_ms: arrival of the oldest event held; 0: none */
	uint64_t processed, retries, restarts, dead_letters, held, under_way, oldest_ms;
	uint64_t coalesced, resyncs, resyncs_aside;
	uint32_t up;
};

struct supervisor;

/* ops and context are borrowed. Calls no op. Returns 0 or -ENOMEM. */
int
supervisor_new(const struct supervisor_options *options, const struct supervisor_ops *ops, void *context,
	       struct supervisor **ret_supervisor);
/* Calls no op. NULL is fine. */
void
supervisor_free(struct supervisor *supervisor);

/*
 * Take an event or a mark (event_new()). Returns 0, or -ENOMEM: it is lost, and nothing is acknowledged any
 * more.
 */
int
supervisor_offer(struct supervisor *supervisor, struct event *event, uint64_t now_ms);
/* An event was lost before it could be offered: nothing is acknowledged any more. */
void
supervisor_lose(struct supervisor *supervisor);
/* The source has told everything up to here, and has offered all events of it. */
void
supervisor_told(struct supervisor *supervisor, const struct informer_cursor *cursor, uint64_t now_ms);

/* A worker answered with done, or with retry (ms < 0: no time named). False: it has no such event. */
bool
supervisor_acknowledged(struct supervisor *supervisor, uint32_t worker, uint64_t seq, uint64_t now_ms);
bool
supervisor_retry(struct supervisor *supervisor, uint32_t worker, uint64_t seq, int64_t ms, uint64_t now_ms);

/* A worker's process is about to end and may still answer: send it nothing more. */
void
supervisor_closing(struct supervisor *supervisor, uint32_t worker);

/* The type of the last mark that the worker's process got, if no answer followed; else NULL. */
const char *
supervisor_unanswered_mark(const struct supervisor *supervisor, uint32_t worker);

/*
 * A worker's process ended. With exec the end is the answer to its event; else every end counts as a crash.
 * why: for people.
 */
enum supervisor_end { SUPERVISOR_END_DONE, SUPERVISOR_END_RETRY, SUPERVISOR_END_CRASH };
void supervisor_exited(struct supervisor *supervisor, uint32_t worker, enum supervisor_end end,
		       const char *why, uint64_t now_ms);

/* Do what is due; the next time something is due (SUPERVISOR_NEVER: nothing). */
void
supervisor_tick(struct supervisor *supervisor, uint64_t now_ms);
uint64_t
supervisor_next(const struct supervisor *supervisor);

/* Drain: send nothing more; events in progress may be answered. supervisor_busy(): some are in progress. */
void
supervisor_drain(struct supervisor *supervisor);
bool
supervisor_busy(const struct supervisor *supervisor);

void
supervisor_stats(const struct supervisor *supervisor, struct supervisor_stats *ret_stats);

#endif
