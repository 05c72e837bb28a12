/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs the handlers, and who sleeps for them.
 *
 * A handler is claimed by one thread at a time, under wait_lock; while it is claimed, nobody else looks at
 * it. Three kinds of thread come here: those of informer_run(), callers of informer_dispatch(), and those
 * that wait for something (wait.c). One of all is the leader, who sleeps in poll(); the threads of
 * informer_run() that have nothing to do sleep on run_idle, the waiters on wait_cond.
 *
 *	leader wakes ─▶ claims a handler that is due ─▶ wakes another to lead
 *	             ─▶ turns until nothing is due   ─▶ lets go ─▶ looks again
 *
 * No event is missed: whoever goes to sleep arms (slot.h), full fence, looks at every handler that nobody
 * claimed; whoever lets a handler go looks at it once more under the same lock, since the leader passed over
 * it.
 *
 * Without informer_run(), informer_fd() stands for it all: an epoll descriptor over the inner one, which the
 * leader polls, and `due`, which is readable while handlers have something to do that nobody does. A pulled
 * handler (changes.h) is left to its caller, who waits as wait.c does.
 *
 * Lock: wait_lock, held by the caller where "locked" is said.
 */
#ifndef READER_LIB_EVENTS_RUN_H
#define READER_LIB_EVENTS_RUN_H

#include "reader-lib/events/handler.h"

/*
 * What this room has of the handle; all with wait_lock.
 *
 * leader      one waiter sleeps in poll(); the others on wait_cond
 * step_waits  the leader has put the descriptors off, behind a handler
 * kick        wakes the leader when another thread's dispatch took the news
 * waiters     in wait_for() (wait.c)
 * outer       informer_fd(): the handle's epoll, and due
 * due         handlers have something to do that nobody does
 * alarm       in the handle's epoll: a handler becomes due by the time
 */
struct run {
	pthread_mutex_t wait_lock;
	pthread_cond_t wait_cond;
	bool leader;
	bool step_waits;
	int kick;
	unsigned waiters;

	struct informer_handler *handlers;
	unsigned handler_count;		/* that are not gone */
	pthread_cond_t handler_cond;	/* a handler was let go, or is gone */
	_Atomic unsigned watchers;	/* of handler_cond */
	pthread_cond_t run_idle;
	unsigned idle;			/* threads in run_idle */
	pthread_t threads[SLOT_QUEUES];
	unsigned thread_count;
	bool running, stopping, stopped;
	int outer;
	int due;
	bool due_set;
	int alarm;
	uint64_t alarm_at;
};

/* Make it, zeroed so far, for a handle that has its epoll. run_done() in any case. 0 or negative errno. */
int run_init(struct informer *inf);
/*
 * locked, while nobody leads. Sleep as the leader until there may be something to do, at most so many ms
 * (negative: for ever), and look after the connection.
 *
 * runs  the caller runs handlers, and does not sleep while one is due; else others are woken for them
 */
void run_lead(struct informer *inf, int ms, bool runs);
/* locked. News came, or a handler was let go: see to it that somebody looks. */
void run_wake(struct informer *inf);
/*
 * Run what is due, in this thread, each handler for a bounded time. Returns whether something was done, or is
 * still to be done.
 */
bool run_dispatch(struct informer *inf);
/* locked. This thread runs it, until it lets it go. r: what its last turn returned. */
void run_claim(struct informer_handler *h);
void run_let_go(struct informer_handler *h, int r);
/* locked. Before a sleep: arm, set the alarm, look. True: a handler is due that informer_run() would run. */
bool run_prepare_sleep(struct informer *inf);
/* locked. informer_fd() is readable while a handler is due that no thread of informer_run() runs. */
void run_show_due(struct informer *inf);
/* locked. Something of the handlers changed (added, let go on): whoever sleeps must look anew. */
void run_look_again(struct informer *inf);
/* Take all handlers down. informer_stop(), whose rules it has. */
int run_stop(struct informer *inf);
/* Take it down, with what informer_stop() leaves; in a forked child everything, without a call. */
void run_done(struct informer *inf, bool in_child);

#endif
