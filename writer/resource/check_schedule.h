/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check schedule: when a resource is compared with the API server (consistency_check.h), and what came of it.
 * The first time comes by chance within a period, each later one a period after the end of the last, give or
 * take a tenth: neither the resources of a node nor the nodes of a cluster ask together. Where the content is
 * not up to date when the time has come, one looks again every second or two.
 *
 * Differences are logged by name, ten of them; then the owner is told, who lists anew.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RESOURCE_CHECK_SCHEDULE_H
#define WRITER_RESOURCE_CHECK_SCHEDULE_H

#include "writer/base/clock.h"
#include "writer/resource/consistency_check.h"

struct check_schedule_owner {
	/* Begin one, with consistency_check_start(). -EAGAIN: not now, the content is not up to date. */
	int (*begin)(void *context, consistency_done_fn *on_done, void *to, struct consistency_check **ret);
	/* There are differences. May stop the schedule. */
	void (*differs)(void *context);
	void *context;
};

/* Embedded by its owner, zeroed at first; what is counted may be read. */
struct check_schedule {
	const char *name; /* of the resource, for messages; the owner's */
	struct clock *clock;
	struct check_schedule_owner owner;
	uint64_t every_ms; /* 0: never */
	struct clock_timer timer;
	struct consistency_check *check; /* under way, or NULL */

	uint64_t checks, inconclusive;      /* that came to an end; of these: that said nothing */
	uint64_t missing, extra, different; /* differences, of all checks */
	uint64_t last_wall_ns;              /* the end of the last one; 0: none */
};

/* every_ms: 0, or the period from now on. One that is the same as before changes nothing. */
void check_schedule_set(struct check_schedule *s, uint64_t every_ms);

/* Give up a check that is under way: what it works with goes, or has become another. There will be others. */
void check_schedule_stop(struct check_schedule *s);

/* Before the owner goes. */
void check_schedule_done(struct check_schedule *s);

#endif
