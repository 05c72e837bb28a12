/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of a workqueue, and the threads that sleep on it: workers until there is a key, drainers until all
 * keys are done.
 *
 * One waiting worker may be the keeper: it sleeps at most until the first delayed key is ready.
 *
 * Invariant: while a key is delayed and a worker waits, there is a keeper, or a waiting worker was woken to
 * become it. So the queue needs no thread of its own.
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
	pthread_mutex_t lock;           /* guards the fields below, and the rest of the queue */
	pthread_cond_t more;		/* workers sleep here */
	pthread_cond_t keeper_wakes;    /* the keeper sleeps here */
	pthread_cond_t drained;
	size_t count; /* workers asleep on `more` */
	bool keeper;
};

/* Returns 0 or negative errno. */
int sleepers_init(struct sleepers *s);
void sleepers_done(struct sleepers *s);

/* Real time, CLOCK_MONOTONIC; negative: NEVER. */
uint64_t deadline_of(int timeout_ms);
bool deadline_has_passed(uint64_t until_ns);

/* All functions below: the caller holds the lock, which is released while it sleeps. */

/* There is a key for one worker. */
void sleepers_wake_one(struct sleepers *s);
/* Another delayed key is the first now: make sure that a waiting worker, if any, sleeps until its time. */
void sleepers_wake_keeper(struct sleepers *s);
void sleepers_wake_drained(struct sleepers *s);
void sleepers_wake_all(struct sleepers *s);

/*
 * Sleep until woken or until until_ns. The worker becomes the keeper if a key is delayed and there is no
 * keeper.
 *
 * ready_ns  when the first delayed key is ready; NEVER: no key is delayed
 */
void sleepers_wait(struct sleepers *s, uint64_t until_ns, uint64_t ready_ns);
void sleepers_wait_drained(struct sleepers *s, uint64_t until_ns);

#endif
