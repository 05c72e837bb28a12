/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic time, for deadlines and durations. */
#ifndef TOOLS_INFORMER_SIM_SIM_CLOCK_H
#define TOOLS_INFORMER_SIM_SIM_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
sim_now_us(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000;
}

static inline uint64_t
sim_now_ms(void)
{
	return sim_now_us() / 1000;
}

#endif
