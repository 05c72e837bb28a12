/* SPDX-License-Identifier: Apache-2.0 */
/* A list of waits. It is short, because waits are rare and brief; see routing_wait.h. */
#include "tools/informer-gateway/answer/routing_wait.h"

#include <stdlib.h>

#include "tools/informer-gateway/answer/routing.h"

static void
on_closed(uv_handle_t *timer)
{
	free(timer);
}

void
gw_rv_wait_cancel(struct gw_rv_wait *wait)
{
	if (!wait->timer)
		return;
	uv_close((uv_handle_t *)wait->timer, on_closed);
	wait->timer = NULL;
	LIST_REMOVE(wait, link);
}

static void
on_due(uv_timer_t *timer)
{
	struct gw_rv_wait *wait = timer->data;

	gw_rv_wait_cancel(wait);
	wait->done(wait->x, false);
}

void
gw_rv_wait_begin(struct gw_exchange *x, uint64_t rv, uint64_t until_ms,
		 void (*done)(struct gw_exchange *x, bool reached))
{
	struct gw_router *router = x->route->router;
	struct gw_rv_wait *wait = &x->route->wait;
	uv_loop_t *loop = gw_front_loop(router->front);
	uint64_t now = uv_now(loop);

	*wait = (struct gw_rv_wait){.timer = api_alloc(sizeof(*wait->timer)), .x = x, .rv = rv, .done = done};
	LIST_INSERT_HEAD(&router->waits, wait, link);
	uv_timer_init(loop, wait->timer);
	wait->timer->data = wait;
	uv_timer_start(wait->timer, on_due, until_ms > now ? until_ms - now : 0, 0);
}

/* done() may begin and cancel waits, so finished waits go to a separate list first. */
void
gw_rv_wait_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv)
{
	struct gw_rv_waits over = {0};
	struct gw_rv_wait *wait, *next;

	for (wait = LIST_FIRST(waits); wait; wait = next) {
		next = LIST_NEXT(wait, link);
		if (wait->x->api.resource->index == resource->index && wait->rv <= rv) {
			LIST_REMOVE(wait, link);
			LIST_INSERT_HEAD(&over, wait, link);
		}
	}
	while ((wait = LIST_FIRST(&over))) {
		gw_rv_wait_cancel(wait);
		wait->done(wait->x, true);
	}
}
