/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock gives time, timers and random numbers to the Reflectors and the applier. The daemon uses the
 * loop's (clock_uv.c). Tests use a virtual one, in which minutes pass at once and every random number is
 * known.
 *
 * Threads: one.
 */
#ifndef WRITER_BASE_CLOCK_H
#define WRITER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

/* Embedded in its owner's struct, zeroed at first. */
struct clock_timer {
	struct clock_timer *next;
	uint64_t due_ms;
	void (*fire)(void *context);
	void *context;
	bool armed;
	uint64_t set_after; /* runs of the clock that had begun when the timer was set */
};

struct clock {
	uint64_t (*now_ms)(struct clock *clock);	/* monotonic */
	uint32_t (*chance)(struct clock *clock, uint32_t below); /* uniform in [0, below) */
	/* ask for clock_run() at due_ms; CLOCK_NEVER: not at all. Replaces the last wish. */
	void (*wake_at)(struct clock *clock, uint64_t due_ms);
	struct clock_timer *timers;			/* armed ones, earliest first */
	uint64_t runs;                                  /* runs that have begun */
};

/* Arm a timer, or move it. fire(context) is called once, from clock_run(). */
void clock_set(struct clock *clock, struct clock_timer *timer, uint64_t delay_ms, void (*fire)(void *context),
	       void *context);
void clock_clear(struct clock *clock, struct clock_timer *timer);

/*
 * Fire all due timers. A timer may set and clear any timer, also itself. A timer set within a run fires in a
 * later run, however short its delay.
 */
void clock_run(struct clock *clock);

/* Write wall time as "2026-01-31T12:00:00Z" into text, and return text; 0 gives "". */
#define CLOCK_TEXT_SIZE 32
const char *clock_text(uint64_t wall_ns, char text[CLOCK_TEXT_SIZE]);

#endif
