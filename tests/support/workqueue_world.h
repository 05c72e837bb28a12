/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workqueue with a clock that the test moves, and memory that is counted and can fail.
 */
#ifndef TESTS_SUPPORT_WORKQUEUE_WORLD_H
#define TESTS_SUPPORT_WORKQUEUE_WORLD_H

#include <stdatomic.h>

#include "reader-lib/informer-workqueue.h"

#define MS 1000000ull
#define SECOND 1000000000ull

struct workqueue_world {
	struct informer_workqueue *q;
	_Atomic uint64_t now;
	size_t allocated;	/* pieces that are out */
	size_t fail_after;	/* allocations that succeed; SIZE_MAX: all */
};

/* For cmocka: *state is the world. tear_down fails when the queue leaves memory behind. */
int workqueue_world_set_up(void **state);
int workqueue_world_tear_down(void **state);

/* The world's clock and memory, and defaults. */
struct informer_workqueue_options workqueue_world_options(struct workqueue_world *w);
/* Another queue takes the place of the one that is there. */
void workqueue_world_queue(struct workqueue_world *w, const struct informer_workqueue_options *options);

/* Move the clock. */
void pass_time(struct workqueue_world *w, uint64_t ns);

/* The functions of the same names, which must succeed. */
void queue_add(struct workqueue_world *w, const char *key);
void queue_add_after(struct workqueue_world *w, const char *key, uint64_t delay_ns);
void queue_add_limited(struct workqueue_world *w, const char *key);
void queue_add_priority(struct workqueue_world *w, const char *key, int priority);
/* The next key must be this one, now. */
struct informer_work_item queue_get(struct workqueue_world *w, const char *expected);
void queue_get_and_done(struct workqueue_world *w, const char *expected);
void assert_nothing_waits(struct workqueue_world *w);
struct informer_workqueue_metrics queue_metrics(struct workqueue_world *w);

#endif
