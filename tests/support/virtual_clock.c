/* SPDX-License-Identifier: Apache-2.0 */
/* A clock (writer/base/clock.h) that a test moves; due timers fire on the way, in order. */
#include "tests/support/virtual_clock.h"

static uint64_t
now_ms(struct clock *clock)
{
	return ((struct virtual_clock *)(void *)clock)->now;
}

static uint32_t
chance(struct clock *clock, uint32_t below)
{
	struct virtual_clock *c = (struct virtual_clock *)(void *)clock;

	if (c->seed == 0)
		return c->chance < below ? c->chance : below - 1;
	c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((c->seed >> 33) * below >> 31);
}

static void
wake_at(struct clock *clock, uint64_t due_ms)
{
	(void)clock;
	(void)due_ms;
}

void
virtual_clock_init(struct virtual_clock *c)
{
	*c = (struct virtual_clock){.clock = {.now_ms = now_ms, .chance = chance, .wake_at = wake_at},
				    .now = 1000000};
}

void
virtual_clock_advance(struct virtual_clock *c, uint64_t ms)
{
	uint64_t end = c->now + ms;

	while (c->clock.timers && c->clock.timers->due_ms <= end) {
		if (c->clock.timers->due_ms > c->now)
			c->now = c->clock.timers->due_ms;
		clock_run(&c->clock);
	}
	c->now = end;
}

uint64_t
virtual_clock_next(const struct virtual_clock *c)
{
	if (!c->clock.timers)
		return CLOCK_NEVER;
	return c->clock.timers->due_ms > c->now ? c->clock.timers->due_ms - c->now : 0;
}
