/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives the daemon's libuv loop a clock (clock.h): the loop's time, random numbers from libsodium, and one
 * timer handle that wakes for the earliest timer.
 */
#include "writer/base/clock_uv.h"

#include <sodium.h>

static void
on_timer(uv_timer_t *timer)
{
	clock_run(&((struct clock_uv *)timer->data)->clock);
}

static void
on_turn(uv_idle_t *idle)
{
	uv_idle_stop(idle);
	clock_run(&((struct clock_uv *)idle->data)->clock);
}

static uint64_t
now_ms(struct clock *clock)
{
	return uv_now(((struct clock_uv *)(void *)clock)->timer.loop);
}

static uint32_t
chance(struct clock *clock, uint32_t below)
{
	(void)clock;
	return randombytes_uniform(below);
}

static void
wake_at(struct clock *clock, uint64_t due_ms)
{
	struct clock_uv *c = (struct clock_uv *)(void *)clock;
	uint64_t now = uv_now(c->timer.loop);

	if (uv_is_closing((uv_handle_t *)&c->timer))
		return;
	uv_timer_stop(&c->timer);
	uv_idle_stop(&c->at_once);
	if (due_ms <= now)
		uv_idle_start(&c->at_once, on_turn);
	else if (due_ms != CLOCK_NEVER)
		uv_timer_start(&c->timer, on_timer, due_ms - now, 0);
}

void
clock_uv_init(struct clock_uv *c, uv_loop_t *loop)
{
	c->clock = (struct clock){ .now_ms = now_ms, .chance = chance, .wake_at = wake_at };
	uv_timer_init(loop, &c->timer);
	uv_idle_init(loop, &c->at_once);
	c->timer.data = c;
	c->at_once.data = c;
}

void
clock_uv_close(struct clock_uv *c)
{
	uv_close((uv_handle_t *)&c->timer, NULL);
	uv_close((uv_handle_t *)&c->at_once, NULL);
}
