/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a libuv loop, with one timer handle for all timers.
 *
 * A timer without delay fires in the loop's next turn, after the loop has looked at its sockets, also if
 * another timer set it. (libuv before 1.45 runs such a timer without looking at anything else.)
 */
#ifndef WRITER_BASE_CLOCK_UV_H
#define WRITER_BASE_CLOCK_UV_H

#include <uv.h>

#include "writer/base/clock.h"

struct clock_uv {
	struct clock clock;
	uv_timer_t timer;
	uv_idle_t at_once;
};

/* The struct must not move or be freed until the loop has run once after clock_uv_close(). */
void clock_uv_init(struct clock_uv *c, uv_loop_t *loop);
void clock_uv_close(struct clock_uv *c);

#endif
