/* SPDX-License-Identifier: Apache-2.0 */
/* A workqueue with a clock that the test moves, and memory that is counted and can fail. */
#ifndef TESTS_SUPPORT_WORKQUEUE_WORLD_H
#define TESTS_SUPPORT_WORKQUEUE_WORLD_H

#include <stdatomic.h>

#include "reader-lib/informer-workqueue.h"

#define MS 1000000ull
#define SECOND 1000000000ull

#define WORKQUEUE_HELD 8u

struct workqueue_world {
	struct informer_workqueue *q;
	_Atomic uint64_t now;
	size_t allocated;	/* allocations that were not released */
	size_t fail_after;	/* allocations that succeed; SIZE_MAX: all */
	struct informer_work_item held[WORKQUEUE_HELD]; /* of play(); without a key: unused */
};

/* For cmocka: *state is the world. tear_down fails when the queue leaves memory behind. */
int workqueue_world_set_up(void **state);
int workqueue_world_tear_down(void **state);

/* Options with the world's clock and memory. */
struct informer_workqueue_options workqueue_world_options(struct workqueue_world *w);
/* Replace the queue by another. */
void workqueue_world_queue(struct workqueue_world *w, const struct informer_workqueue_options *options);

/* Move the clock. */
void pass_time(struct workqueue_world *w, uint64_t ns);

/*
 * Calls to the queue and what must come of them, one word each, in the test's order:
 *
 *	+foo +foo@5ms +foo~ +foo^7~@5ms	add: after this time, rate limited, with this priority; must succeed
 *	+foo!				an add that is refused: the queue shuts down
 *	foo foo^7			the next key is foo, now, with this priority; and done
 *	<foo >foo			get it and keep it; done with it
 *	foo:5ms				failed, foo comes after this wait, to the nanosecond; and done
 *	.				nothing waits
 *	5ms /5ms			the clock moves; without a kick of the queue
 *	#3 foo?2 adds=2			the length, foo's failures, a metric
 *	-foo				forget
 *	SHUT DRAIN DRAIN!		shut down; drain, which ends well; which gives up after 1 ms
 *	OVER				get says that the queue shuts down
 */
__attribute__((format(printf, 2, 3))) void play(struct workqueue_world *w, const char *format, ...);

struct informer_workqueue_metrics queue_metrics(struct workqueue_world *w);

#endif
