/* SPDX-License-Identifier: Apache-2.0 */
/* A timer ends streams in proportion to the elapsed time; see drain.h. */
#include "tools/informer-gateway/http/drain.h"

#include "tools/informer-gateway/http/exchange_private.h"
#include "tools/informer-gateway/http/front_private.h"
#include "tools/informer-gateway/http/listener.h"

#define TICK_MS 50u
#define GRACE_MS 1000u

static void
on_tick(uv_timer_t *timer)
{
	struct gw_front *front = timer->data;
	uint64_t now = uv_now(timer->loop), begun = front->drain.begun_ms, end = front->drain.end_ms;
	bool late = now >= end, over = now >= end + GRACE_MS;
	unsigned due = late ? UINT32_MAX : (unsigned)(front->drain.all * (now - begun) / (end - begun));
	struct gw_client *c;

	/* newest clients first */
	LIST_FOREACH (c, &front->clients, link) {
		if (over && c->x)
			gw_exchange_cut(c->x);
		else if (c->x && front->drain.asked < due && gw_exchange_end_soon(c->x))
			front->drain.asked++;
		/* idle clients; when late, also clients that have sent no request yet */
		if (over || c->phase == GW_IDLE || (late && !c->x))
			gw_client_cut(c);
	}
	if (front->counters.connections > 0 && !over)
		return;
	uv_timer_stop(timer);
	front->drain.done(front->drain.ctx);
}

void
gw_drain_begin(struct gw_front *front, unsigned seconds, void (*done)(void *ctx), void *ctx)
{
	uint64_t now = uv_now(front->loop);
	struct gw_listener *l;

	front->drain.done = done;
	front->drain.ctx = ctx;
	front->drain.begun_ms = now;
	front->drain.end_ms = now + (uint64_t)seconds * 1000;
	front->drain.all = front->counters.streams;
	LIST_FOREACH (l, &front->listeners, link)
		gw_listener_stop_accepting(l);
	uv_timer_start(&front->drain.timer, on_tick, 0, TICK_MS);
}
