/* SPDX-License-Identifier: Apache-2.0 */
/* A timer that ends as many streams as the time that has gone says; see drain.h. */
#include "tools/informer-gateway/http/drain.h"

#include <stdlib.h>

#include "tools/informer-gateway/http/client.h"
#include "tools/informer-gateway/http/exchange_private.h"
#include "tools/informer-gateway/http/front_private.h"

#define TICK_MS 50u
#define GRACE_MS 1000u

struct gw_drain {
	struct gw_front *front;
	void (*done)(void *ctx);
	void *ctx;
	uv_timer_t timer;
	uint64_t begun_ms, end_ms;
	unsigned asked; /* streams, so far */
	unsigned all;	/* that there were at the beginning */
};

/* Ask so many more to end, the longest-lived last. */
static void
ask(struct gw_drain *d, unsigned count)
{
	for (struct gw_client *c = d->front->clients; c && count > 0; c = c->next)
		if (c->x && gw_exchange_end_soon(c->x)) {
			count--;
			d->asked++;
		}
}

/* Those between requests; late: also who has not asked anything yet. */
static void
close_idle(const struct gw_front *front, bool late)
{
	for (struct gw_client *c = front->clients; c; c = c->next)
		if (c->phase == GW_IDLE || (late && !c->x))
			gw_client_cut(c);
}

static void
cut_all(const struct gw_front *front)
{
	for (struct gw_client *c = front->clients; c; c = c->next) {
		if (c->x)
			gw_exchange_cut(c->x);
		gw_client_cut(c);
	}
}

static void
on_tick(uv_timer_t *timer)
{
	struct gw_drain *d = timer->data;
	uint64_t now = uv_now(timer->loop), gone = now - d->begun_ms, whole = d->end_ms - d->begun_ms;
	unsigned due = now >= d->end_ms ? UINT32_MAX : (unsigned)(d->all * gone / whole);

	close_idle(d->front, now >= d->end_ms);
	if (due > d->asked)
		ask(d, due - d->asked);
	if (now >= d->end_ms + GRACE_MS)
		cut_all(d->front);
	if (d->front->counters.connections > 0 && now < d->end_ms + GRACE_MS)
		return;
	uv_timer_stop(timer);
	d->done(d->ctx);
}

void
gw_drain_begin(struct gw_front *front, unsigned seconds, void (*done)(void *ctx), void *ctx,
	       struct gw_drain **ret_drain)
{
	struct gw_drain *d = api_alloc(sizeof(*d));
	uint64_t now = uv_now(front->loop);

	*d = (struct gw_drain){.front = front,
			       .done = done,
			       .ctx = ctx,
			       .begun_ms = now,
			       .end_ms = now + (uint64_t)seconds * 1000,
			       .all = front->counters.streams};
	front->draining = true;
	for (struct gw_listener *l = front->listeners; l; l = l->next)
		gw_listener_stop_accepting(l);
	uv_timer_init(front->loop, &d->timer);
	d->timer.data = d;
	uv_timer_start(&d->timer, on_tick, 0, TICK_MS);
	*ret_drain = d;
}

static void
on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void
gw_drain_free(struct gw_drain *drain)
{
	if (drain)
		uv_close((uv_handle_t *)&drain->timer, on_closed);
}
