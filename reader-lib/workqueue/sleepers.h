/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of a workqueue, and those who sleep on it: workers until there is a key, who drains until all is
 * done.
 *
 * Of the workers one may be the keeper: it sleeps no longer than until the first delayed key is ready.
 * Invariant: while a key is delayed and a worker waits, there is a keeper, or one of those who wait was woken
 * to become it. So no thread of the queue's own is needed.
 */
#ifndef READER_LIB_WORKQUEUE_SLEEPERS_H
#define READER_LIB_WORKQUEUE_SLEEPERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A time that does not come. */
#define NEVER UINT64_MAX

struct sleepers {
	pthread_mutex_t lock;		/* guards what follows, and the rest of the queue */
	pthread_cond_t more;		/* workers sleep here */
	pthread_cond_t keeper_wakes;	/* but the keeper here */
	pthread_cond_t drained;
	size_t count;			/* on `more` */
	bool keeper;
};

/* Returns 0 or negative errno. */
int sleepers_init(struct sleepers *s);
void sleepers_done(struct sleepers *s);

/* Real time, CLOCK_MONOTONIC; negative: NEVER. */
uint64_t deadline_of(int timeout_ms);
bool deadline_has_passed(uint64_t until_ns);

/* All below: with the lock held, which is let go while one sleeps. */

/* There is a key for one worker. */
void sleepers_wake_one(struct sleepers *s);
/* Another delayed key is the first now: see that somebody, if anybody waits, sleeps for its time. */
void sleepers_wake_keeper(struct sleepers *s);
void sleepers_wake_drained(struct sleepers *s);
void sleepers_wake_all(struct sleepers *s);

/*
 * Sleep until woken or until this time, as the keeper where there is something to keep and nobody who does.
 *
 * ready_ns  when the first delayed key is ready; NEVER: there is nothing to keep
 */
void sleepers_wait(struct sleepers *s, uint64_t until_ns, uint64_t ready_ns);
void sleepers_wait_drained(struct sleepers *s, uint64_t until_ns);

#endif
