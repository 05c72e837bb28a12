/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all waits share: the time that is left, and the message at the deadline.
 */
#ifndef READER_LIB_EVENTS_WAIT_H
#define READER_LIB_EVENTS_WAIT_H

#include <pthread.h>
#include <stdint.h>

#include "reader-lib/informer.h"

/* When a wait ends (CLOCK_MONOTONIC); UINT64_MAX: never. */
uint64_t wait_deadline(int timeout_ms);
/* Milliseconds until then, rounded up; 0: none, -1: no end. Fits another wait's timeout_ms. */
int wait_left_ms(uint64_t end_ns);

/* Serve the connection, and wake all waiters. */
void wait_step(struct informer *inf);
/* Sleep on a CLOCK_MONOTONIC condition until then. Returns 0 or ETIMEDOUT. */
int wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t end_ns);

/*
 * Returns 0 for a lookup's failure that may pass by itself, with a reason (unchanged if the arena expired);
 * otherwise r.
 */
int wait_later(int r, const char **ret_why);

/*
 * The deadline passed. Leaves a sentence in the handle: what is missing, what the API server said of the
 * resource (NULL: none), and why nothing is attached.
 */
int wait_timed_out(struct informer *inf, struct informer_resource *resource, int timeout_ms, const char *why);

#endif
