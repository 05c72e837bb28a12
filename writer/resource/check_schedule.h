/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check schedule decides when a resource is compared with the API server (consistency_check.h), and counts
 * the results. The first check comes at a random time within a period. Each later one comes a period (±10 %)
 * after the end of the last. So neither the resources of a node nor the nodes of a cluster check at the same
 * time. If the content is not up to date when a check is due, the schedule tries again after one to two
 * seconds.
 *
 * The first ten differences are logged by name. Then the owner's differs() is called; the owner lists the
 * resource again.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RESOURCE_CHECK_SCHEDULE_H
#define WRITER_RESOURCE_CHECK_SCHEDULE_H

#include "writer/base/clock.h"
#include "writer/resource/consistency_check.h"

struct check_schedule_owner {
	/* Begin a check, with consistency_check_start(). -EAGAIN: the content is not up to date now. */
	int (*begin)(void *context, consistency_done_fn *on_done, void *to, struct consistency_check **ret);
	/* There are differences. The callback may stop the schedule. */
	void (*differs)(void *context);
	void *context;
};

/* Embedded in its owner's struct, zeroed at first. The owner may read the counters. */
struct check_schedule {
	const char *name; /* of the resource, for messages; the owner's */
	struct clock *clock;
	struct check_schedule_owner owner;
	uint64_t every_ms; /* 0: never */
	struct clock_timer timer;
	struct consistency_check *check; /* the one that runs, or NULL */

	uint64_t checks, inconclusive;      /* finished ones; of these: those without a result */
	uint64_t missing, extra, different; /* differences over all checks */
	uint64_t last_wall_ns;              /* end of the last check; 0: none */
};

/* Set the period; 0: no checks. The same period changes nothing. */
void check_schedule_set(struct check_schedule *s, uint64_t every_ms);

/* Cancel a running check, because its content is replaced. Later checks follow as planned. */
void check_schedule_stop(struct check_schedule *s);

/* Call before the owner is freed. */
void check_schedule_done(struct check_schedule *s);

#endif
