/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the waits share: how long is left, and what is said at the deadline.
 */
#ifndef READER_LIB_EVENTS_WAIT_H
#define READER_LIB_EVENTS_WAIT_H

#include <pthread.h>
#include <stdint.h>

#include "reader-lib/informer.h"

/* When a wait ends (CLOCK_MONOTONIC); UINT64_MAX: never. */
uint64_t wait_deadline(int timeout_ms);
/* What is left until then, rounded up; 0: nothing, -1: it never ends. For another wait's timeout_ms. */
int wait_left_ms(uint64_t end_ns);

/* See to the connection, and tell all that wait what came. */
void wait_step(struct informer *inf);
/* Sleep on a condition of CLOCK_MONOTONIC until then. 0 or ETIMEDOUT. */
int wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t end_ns);

/* Of a lookup's failure that may pass by itself: 0, and why it is waited for. Others are given back. */
int wait_later(int r, const char **ret_why);

/*
 * The deadline came: leaves a sentence in the handle of what is missing, of what the API server said of the
 * resource (NULL: of none), and of why nothing is attached.
 *
 * Returns  -ETIMEDOUT
 */
int wait_timed_out(struct informer *inf, struct informer_resource *resource, int timeout_ms, const char *why);

#endif
