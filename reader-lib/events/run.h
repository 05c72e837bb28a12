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
 * leader polls, and `due`, which is readable while handlers have something to do that nobody does.
 *
 * Lock: wait_lock, held by the caller where "locked" is said.
 */
#ifndef READER_LIB_EVENTS_RUN_H
#define READER_LIB_EVENTS_RUN_H

#include "reader-lib/events/handler.h"

/*
 * locked. Before the leader's poll(): arm, set the alarm, look. True: a handler is due, unclaimed: do not
 * sleep on its account.
 */
bool run_prepare_sleep(struct informer *inf);
/* locked. News came, or a handler was let go: see to it that somebody looks. */
void run_wake(struct informer *inf);
/*
 * Run what is due, in this thread, each handler for a bounded time. Returns whether something was done, or is
 * still to be done.
 */
bool run_dispatch(struct informer *inf);
/* locked. Something of the handlers changed (added, let go on): whoever sleeps must look anew. */
void run_look_again(struct informer *inf);
/* Take all handlers down. informer_stop(), whose rules it has. */
int run_stop(struct informer *inf);
/* locked, claimed by this thread: on_done, and the end. The lock is given up meanwhile. */
void run_finish(struct informer *inf, struct informer_handler *h);
/* Free what informer_stop() leaves, or in a forked child everything, without a call. */
void run_free(struct informer *inf, bool in_child);

#endif
