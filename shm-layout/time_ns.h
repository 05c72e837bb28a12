/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's clocks in nanoseconds: for times that both sides store in shared memory, and for measuring
 * work within one turn of the writer's loop. The writer's timers use writer/base/clock.h, which stands still
 * during a turn and which tests can set.
 */
#ifndef SHM_LAYOUT_TIME_NS_H
#define SHM_LAYOUT_TIME_NS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
time_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
