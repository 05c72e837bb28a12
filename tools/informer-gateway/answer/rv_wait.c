/* SPDX-License-Identifier: Apache-2.0 */
/* A list: few wait, and briefly; see rv_wait.h. */
#include "tools/informer-gateway/answer/rv_wait.h"

#include <stdlib.h>

#include "tools/serving/buf.h"

static void
link_wait(struct gw_rv_waits *waits, struct gw_rv_wait *wait)
{
	wait->waits = waits;
	wait->previous = NULL;
	wait->next = waits->first;
	if (wait->next)
		wait->next->previous = wait;
	waits->first = wait;
}

static void
unlink_wait(struct gw_rv_wait *wait)
{
	if (wait->previous)
		wait->previous->next = wait->next;
	else
		wait->waits->first = wait->next;
	if (wait->next)
		wait->next->previous = wait->previous;
	wait->waits = NULL;
}

static void
on_closed(uv_handle_t *timer)
{
	free(timer);
}

void
gw_rv_wait_cancel(struct gw_rv_wait *wait)
{
	if (!wait->waits)
		return;
	uv_close((uv_handle_t *)wait->timer, on_closed);
	wait->timer = NULL;
	unlink_wait(wait);
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

	*wait = (struct gw_rv_wait){.timer = api_alloc(sizeof(*wait->timer)),
				    .resource = resource,
				    .rv = rv,
				    .done = done,
				    .ctx = ctx};
	link_wait(waits, wait);
	uv_timer_init(waits->loop, wait->timer);
	wait->timer->data = wait;
	uv_timer_start(wait->timer, on_due, until_ms > now ? until_ms - now : 0, 0);
}

/* done() may begin and cancel waits: those that are over go to a list of their own first. */
void
gw_rv_waits_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv)
{
	struct gw_rv_waits over = *waits;
	struct gw_rv_wait *wait, *next;

	over.first = NULL;
	for (wait = waits->first; wait; wait = next) {
		next = wait->next;
		if (wait->resource->index == resource->index && wait->rv <= rv) {
			unlink_wait(wait);
			link_wait(&over, wait);
		}
	}
	while ((wait = over.first)) {
		gw_rv_wait_cancel(wait);
		wait->done(wait, true);
	}
}
