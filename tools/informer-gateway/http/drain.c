/* SPDX-License-Identifier: Apache-2.0 */
/* A timer that ends as many streams as the time that has gone says; see drain.h. */
#include "tools/informer-gateway/http/drain.h"

#include "tools/informer-gateway/http/exchange_private.h"
#include "tools/informer-gateway/http/front_private.h"

#define TICK_MS 50u
#define GRACE_MS 1000u

/* Ask so many more to end, the longest-lived last. */
static void
ask(struct gw_front *front, unsigned count)
{
	struct gw_client *c;

	LIST_FOREACH (c, &front->clients, link) {
		if (count == 0)
			break;
		if (c->x && gw_exchange_end_soon(c->x)) {
			count--;
			front->drain.asked++;
		}
	}
}

/* Those between requests; late: also who has not asked anything yet. */
static void
close_idle(const struct gw_front *front, bool late)
{
	struct gw_client *c;

	LIST_FOREACH (c, &front->clients, link)
		if (c->phase == GW_IDLE || (late && !c->x))
			gw_client_cut(c);
}

static void
cut_all(const struct gw_front *front)
{
	struct gw_client *c;

	LIST_FOREACH (c, &front->clients, link) {
		if (c->x)
			gw_exchange_cut(c->x);
		gw_client_cut(c);
	}
}

static void
on_tick(uv_timer_t *timer)
{
	struct gw_front *front = timer->data;
	uint64_t now = uv_now(timer->loop), begun = front->drain.begun_ms, end = front->drain.end_ms;
	unsigned due = now >= end ? UINT32_MAX : (unsigned)(front->drain.all * (now - begun) / (end - begun));

	close_idle(front, now >= end);
	if (due > front->drain.asked)
		ask(front, due - front->drain.asked);
	if (now >= end + GRACE_MS)
		cut_all(front);
	if (front->counters.connections > 0 && now < end + GRACE_MS)
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
