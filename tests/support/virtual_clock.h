/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that a test moves, without waiting. Its random numbers are the test's, or drawn from a seed. */
#ifndef TESTS_SUPPORT_VIRTUAL_CLOCK_H
#define TESTS_SUPPORT_VIRTUAL_CLOCK_H

#include "writer/base/clock.h"

struct virtual_clock {
	struct clock clock;
	uint64_t now;
	uint32_t chance;	/* the next random numbers, below the bound */
	uint64_t seed;		/* if not 0: the state of the generator that draws them */
};

void virtual_clock_init(struct virtual_clock *c);

/* Let time pass, timer by timer. */
void virtual_clock_advance(struct virtual_clock *c, uint64_t ms);

/* Milliseconds until the next timer; CLOCK_NEVER when none is armed. */
uint64_t virtual_clock_next(const struct virtual_clock *c);

#endif
