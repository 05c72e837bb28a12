/*
 * The clock of a libuv loop: one timer handle for all timers.
 */
#ifndef WRITER_CLOCK_UV_H
#define WRITER_CLOCK_UV_H

#include <uv.h>

#include "writer/clock.h"

struct clock_uv {
	struct clock clock;
	uv_timer_t timer;
};

/* The struct must stay where it is until the loop has run once after clock_uv_close(). */
void clock_uv_init(struct clock_uv *c, uv_loop_t *loop);
void clock_uv_close(struct clock_uv *c);

#endif
