/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of a quarter of a second; what is further away than all of them waits in the last, again; see
 * timer_wheel.h.
 */
#include "tools/informer-gateway/timer_wheel.h"

#include <stdlib.h>

#include "tools/serving/buf.h"

#define SLOTS 256u

struct gw_wheel {
	uv_timer_t timer;
	uint64_t step; /* the next one to look at */
	unsigned count;
	struct gw_wheel_time *slots[SLOTS + 1]; /* the last: being looked at */
};

struct gw_wheel *
gw_wheel_new(uv_loop_t *loop)
{
	struct gw_wheel *wheel = api_alloc(sizeof(*wheel));

	*wheel = (struct gw_wheel){0};
	uv_timer_init(loop, &wheel->timer);
	wheel->timer.data = wheel;
	return wheel;
}

static void
on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void
gw_wheel_free(struct gw_wheel *wheel)
{
	if (wheel)
		uv_close((uv_handle_t *)&wheel->timer, on_closed);
}

void
gw_wheel_clear(struct gw_wheel *wheel, struct gw_wheel_time *time)
{
	if (!time->slot)
		return;
	if (time->previous)
		time->previous->next = time->next;
	else
		wheel->slots[time->slot - 1] = time->next;
	if (time->next)
		time->next->previous = time->previous;
	time->previous = time->next = NULL;
	time->slot = 0;
	wheel->count--;
}

static void
put(struct gw_wheel *wheel, struct gw_wheel_time *time)
{
	uint64_t step = (time->at_ms + GW_WHEEL_STEP_MS - 1) / GW_WHEEL_STEP_MS;
	unsigned slot;

	if (step < wheel->step)
		step = wheel->step;
	if (step > wheel->step + SLOTS - 1)
		step = wheel->step + SLOTS - 1;
	slot = (unsigned)(step % SLOTS);
	time->next = wheel->slots[slot];
	if (time->next)
		time->next->previous = time;
	wheel->slots[slot] = time;
	time->slot = slot + 1;
	wheel->count++;
}

/*
 * due() may set and clear any time. The slot's are moved into a list of their own first, which they can be
 * cleared from like from any slot; what is not due goes back into the wheel.
 */
static void
turn(struct gw_wheel *wheel, uint64_t now)
{
	unsigned slot = (unsigned)(wheel->step++ % SLOTS);
	struct gw_wheel_time *time;

	wheel->slots[SLOTS] = wheel->slots[slot];
	wheel->slots[slot] = NULL;
	for (time = wheel->slots[SLOTS]; time; time = time->next)
		time->slot = SLOTS + 1;
	while ((time = wheel->slots[SLOTS])) {
		gw_wheel_clear(wheel, time);
		if (time->at_ms <= now)
			time->due(time);
		else
			put(wheel, time);
	}
}

static void
on_timer(uv_timer_t *timer)
{
	struct gw_wheel *wheel = timer->data;
	uint64_t now = uv_now(timer->loop), last = now / GW_WHEEL_STEP_MS;

	/* one that stood still for long is turned once: all slots are looked at then */
	if (wheel->step + SLOTS < last)
		wheel->step = last - SLOTS;
	while (wheel->step <= last)
		turn(wheel, now);
	if (wheel->count == 0)
		uv_timer_stop(timer);
}

void
gw_wheel_set(struct gw_wheel *wheel, struct gw_wheel_time *time, uint64_t at_ms)
{
	gw_wheel_clear(wheel, time);
	if (wheel->count == 0 && !uv_is_active((uv_handle_t *)&wheel->timer)) {
		wheel->step = uv_now(wheel->timer.loop) / GW_WHEEL_STEP_MS + 1;
		uv_timer_start(&wheel->timer, on_timer, GW_WHEEL_STEP_MS, GW_WHEEL_STEP_MS);
	}
	time->at_ms = at_ms;
	put(wheel, time);
}
