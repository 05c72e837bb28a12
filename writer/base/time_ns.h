/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's clocks in nanoseconds, for stamps, and to measure work within a turn of the loop, during which
 * that of clock.h stands still. What waits for a time uses clock.h, which tests can turn.
 */
#ifndef WRITER_BASE_TIME_NS_H
#define WRITER_BASE_TIME_NS_H

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
