/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the handlers, and decides which thread sleeps for them.
 *
 * One thread at a time claims a handler, under wait_lock; no other thread looks at a claimed handler. Three
 * kinds of thread come here: threads of informer_run(), callers of informer_dispatch(), and waiters (wait.c).
 * One of them is the leader and sleeps in poll(). Idle threads of informer_run() sleep on run_idle, other
 * waiters on wait_cond.
 *
 *	leader wakes ─▶ claims a handler that is due ─▶ wakes another to lead
 *	             ─▶ turns until nothing is due   ─▶ lets go ─▶ looks again
 *
 * No event is missed. Before a thread sleeps it arms (slot.h), passes a full fence, and looks at every
 * unclaimed handler. The leader passes over claimed handlers. So a thread that lets a handler go sets the
 * alarm for it under the same lock, and then looks at the handlers again.
 *
 * Without informer_run(), the caller polls informer_fd(). It is an epoll descriptor over two: the inner epoll
 * that the leader polls, and `due`, readable while a handler is due that no thread runs. A pulled handler
 * (changes.h) is run by its caller, which waits as wait.c does.
 *
 * "locked" below: the caller holds wait_lock.
 */
#ifndef READER_LIB_EVENTS_RUN_H
#define READER_LIB_EVENTS_RUN_H

#include "reader-lib/events/handler.h"

/*
 * The handle's part for running handlers. Guarded by wait_lock.
 *
 * leader      a thread sleeps in poll(); the others sleep on wait_cond
 * step_waits  the leader runs a handler before it reads the descriptors
 * kick        wakes the leader when another thread's dispatch took the news
 * waiters     number of threads in wait_for() (wait.c)
 * outer       informer_fd(): the handle's epoll, and due
 * due         readable while a handler is due that no thread runs
 * alarm       in the handle's epoll: a handler becomes due by time
 * parked      keys of all handlers that answer parked keys: wake us at commits
 */
struct run {
	pthread_mutex_t wait_lock;
	pthread_cond_t wait_cond;
	bool leader;
	bool step_waits;
	int kick;
	unsigned waiters;

	struct informer_handler *handlers;
	unsigned handler_count;      /* handlers that are not gone */
	pthread_cond_t handler_cond; /* signalled when a handler was let go or is gone */
	_Atomic unsigned watchers;   /* threads that wait on handler_cond */
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
	_Atomic unsigned parked;
};

/*
 * Initialise a zeroed struct for a handle that has its epoll. Returns 0 or negative errno. Call run_done() in
 * any case.
 */
int run_init(struct informer *inf);
/*
 * locked, while no thread leads. Sleep as the leader until there may be something to do, for at most `ms`
 * milliseconds (negative: no limit), and serve the connection.
 *
 * runs  the caller runs handlers, and does not sleep while one is due; if false, another thread is woken for
 *       them
 */
void run_lead(struct informer *inf, int ms, bool runs);
/* locked. Append a new handler to the list: it is run from now on. */
void run_add(struct informer_handler *h);
/* locked. News came, or a handler was let go: make sure that a thread looks. */
void run_wake(struct informer *inf);
/* Run due handlers in this thread, each for a bounded time. Returns whether something was done or is left. */
bool run_dispatch(struct informer *inf);
/* locked. This thread runs the handler until it lets it go. r: what the last turn returned. */
void run_claim(struct informer_handler *h);
void run_let_go(struct informer_handler *h, int r);
/* locked. Before a sleep: arm, look, set the alarm. True: a handler is due that informer_run() would run. */
bool run_prepare_sleep(struct informer *inf);
/* locked. informer_fd() is readable while a handler is due that no thread of informer_run() runs. */
void run_show_due(struct informer *inf);
/* locked. A handler was added or resumed: sleeping threads must look again. */
void run_look_again(struct informer *inf);
/* Take all handlers down, by the rules of informer_stop(). */
int run_stop(struct informer *inf);
/* Free everything that informer_stop() leaves. in_child: everything, without a call. */
void run_done(struct informer *inf, bool in_child);

#endif
