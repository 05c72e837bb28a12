/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers over a clock: a short list in order of time, and one wake-up for the earliest. A timer that is set
 * while others fire waits for the next run, so that no run is endless.
 */
#include "writer/base/clock.h"

#include <stddef.h>
#include <time.h>

static void
ask_to_wake(struct clock *clock)
{
	clock->wake_at(clock, clock->timers ? clock->timers->due_ms : CLOCK_NEVER);
}

static void
take_out(struct clock *clock, struct clock_timer *timer)
{
	for (struct clock_timer **at = &clock->timers; *at; at = &(*at)->next) {
		if (*at == timer) {
			*at = timer->next;
			break;
		}
	}
	timer->armed = false;
}

void
clock_set(struct clock *clock, struct clock_timer *timer, uint64_t delay_ms, void (*fire)(void *context),
	  void *context)
{
	struct clock_timer **at = &clock->timers;

	if (timer->armed)
		take_out(clock, timer);
	timer->due_ms = clock->now_ms(clock) + delay_ms;
	timer->fire = fire;
	timer->context = context;
	timer->armed = true;
	timer->set_after = clock->runs;
	while (*at && (*at)->due_ms <= timer->due_ms)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
	ask_to_wake(clock);
}

void
clock_clear(struct clock *clock, struct clock_timer *timer)
{
	if (!timer->armed)
		return;
	take_out(clock, timer);
	ask_to_wake(clock);
}

void
clock_run(struct clock *clock)
{
	uint64_t now = clock->now_ms(clock);

	clock->runs++;
	/* timers set meanwhile stand behind all that were due before */
	while (clock->timers && clock->timers->due_ms <= now && clock->timers->set_after < clock->runs) {
		struct clock_timer *timer = clock->timers;

		clock->timers = timer->next;
		timer->armed = false;
		timer->fire(timer->context);
	}
	ask_to_wake(clock);
}

const char *
clock_text(uint64_t wall_ns, char text[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	struct tm tm;

	if (!wall_ns || !gmtime_r(&seconds, &tm) ||
	    strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		text[0] = '\0';
	return text;
}
