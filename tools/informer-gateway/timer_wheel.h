/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timer wheel: thousands of times at which something is to be looked at again, a quarter of a second more
 * or less. It costs nothing while nothing is in it, and a list operation for each time that is set.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_TIMER_WHEEL_H
#define TOOLS_INFORMER_GATEWAY_TIMER_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define GW_WHEEL_STEP_MS 250u

struct gw_wheel;

/* Embedded in whatever has a time; zeroed when it has none. */
struct gw_wheel_time {
	struct gw_wheel_time *previous, *next;
	uint64_t at_ms; /* uv_now() */
	void (*due)(struct gw_wheel_time *time);
	unsigned slot; /* + 1; 0: in none */
};

struct gw_wheel *gw_wheel_new(uv_loop_t *loop);
/* Nothing is in it any more. NULL is fine; memory goes with the loop's next run. */
void gw_wheel_free(struct gw_wheel *wheel);

/*
 * Call due() once at that time, or a step later; another time that was set is forgotten. due() may set it
 * again.
 */
void gw_wheel_set(struct gw_wheel *wheel, struct gw_wheel_time *time, uint64_t at_ms);
void gw_wheel_clear(struct gw_wheel *wheel, struct gw_wheel_time *time);

#endif
