/* SPDX-License-Identifier: Apache-2.0 */
/* A list: few wait, and briefly; see rv_wait.h. */
#include "tools/informer-gateway/rv_wait.h"

#include <stdlib.h>

#include "tools/serving/buf.h"

static void
on_closed(uv_handle_t *timer)
{
	free(timer);
}

void
gw_rv_wait_cancel(struct gw_rv_wait *wait)
{
	struct gw_rv_waits *waits = wait->waits;

	if (!waits)
		return;
	wait->waits = NULL;
	uv_close((uv_handle_t *)wait->timer, on_closed);
	wait->timer = NULL;
	if (wait->previous)
		wait->previous->next = wait->next;
	else
		waits->first = wait->next;
	if (wait->next)
		wait->next->previous = wait->previous;
	wait->previous = wait->next = NULL;
}

static void
on_due(uv_timer_t *timer)
{
	struct gw_rv_wait *wait = timer->data;

	gw_rv_wait_cancel(wait);
	wait->done(wait, false);
}

void
gw_rv_wait_begin(struct gw_rv_waits *waits, struct gw_rv_wait *wait, const struct api_resource *resource,
		 uint64_t rv, uint64_t until_ms, void (*done)(struct gw_rv_wait *wait, bool reached),
		 void *ctx)
{
	uint64_t now = uv_now(waits->loop);

	*wait = (struct gw_rv_wait){.waits = waits,
				    .timer = api_alloc(sizeof(*wait->timer)),
				    .resource = resource,
				    .rv = rv,
				    .done = done,
				    .ctx = ctx};
	wait->next = waits->first;
	if (wait->next)
		wait->next->previous = wait;
	waits->first = wait;
	uv_timer_init(waits->loop, wait->timer);
	wait->timer->data = wait;
	uv_timer_start(wait->timer, on_due, until_ms > now ? until_ms - now : 0, 0);
}

/* done() may begin and cancel others: whoever it was, the look begins anew. */
void
gw_rv_waits_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv)
{
	struct gw_rv_wait *wait = waits->first;

	while (wait) {
		if (wait->resource->index != resource->index || wait->rv > rv) {
			wait = wait->next;
			continue;
		}
		gw_rv_wait_cancel(wait);
		wait->done(wait, true);
		wait = waits->first;
	}
}
