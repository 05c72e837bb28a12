/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's clocks in nanoseconds: for the stamps that both sides put into the arena and measure by, and
 * for work within a turn of the writer's loop, during which that of writer/base/clock.h stands still. What
 * waits for a time there uses that one, which tests can turn.
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
