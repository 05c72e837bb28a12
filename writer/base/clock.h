/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock: time, timers and chance, as the Reflectors and the applier see them; the loop's in the daemon
 * (clock_uv.c), a virtual one in tests, where minutes pass at once and every jitter is known.
 *
 * Threads: one.
 */
#ifndef WRITER_BASE_CLOCK_H
#define WRITER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

/* Embedded by its owner, zeroed at first. */
struct clock_timer {
	struct clock_timer *next;
	uint64_t due_ms;
	void (*fire)(void *context);
	void *context;
	bool armed;
	uint64_t set_after;	/* runs of the clock that had begun */
};

struct clock {
	uint64_t (*now_ms)(struct clock *clock);	/* monotonic */
	uint32_t (*chance)(struct clock *clock, uint32_t below); /* uniform in [0, below) */
	/* clock_run() is to be called at due_ms; CLOCK_NEVER: not at all. Replaces what was asked before. */
	void (*wake_at)(struct clock *clock, uint64_t due_ms);
	struct clock_timer *timers;			/* armed ones, earliest first */
	uint64_t runs;					/* that have begun */
};

/* Arm a timer, or move it. fire(context) is called once, from clock_run(). */
void clock_set(struct clock *clock, struct clock_timer *timer, uint64_t delay_ms, void (*fire)(void *context),
	       void *context);
void clock_clear(struct clock *clock, struct clock_timer *timer);

/*
 * Fire what is due. A timer may set and clear any timer, its own too; what it sets waits for the next run,
 * however short its delay.
 */
void clock_run(struct clock *clock);

/* Wall time as "2026-01-31T12:00:00Z", into text, which is returned; 0 is "". */
#define CLOCK_TEXT_SIZE 32
const char *clock_text(uint64_t wall_ns, char text[CLOCK_TEXT_SIZE]);

#endif
