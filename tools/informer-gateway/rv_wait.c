/* SPDX-License-Identifier: Apache-2.0 */
/* A list: few wait, and briefly; see rv_wait.h. */
#include "tools/informer-gateway/rv_wait.h"

#include <stddef.h>

void
gw_rv_wait_cancel(struct gw_rv_wait *wait)
{
	struct gw_rv_waits *waits = wait->waits;

	if (!waits)
		return;
	wait->waits = NULL;
	gw_wheel_clear(waits->wheel, &wait->time);
	if (wait->previous)
		wait->previous->next = wait->next;
	else
		waits->first = wait->next;
	if (wait->next)
		wait->next->previous = wait->previous;
	wait->previous = wait->next = NULL;
}

static void
on_due(struct gw_wheel_time *time)
{
	struct gw_rv_wait *wait = (struct gw_rv_wait *)((char *)time - offsetof(struct gw_rv_wait, time));

	gw_rv_wait_cancel(wait);
	wait->done(wait, false);
}

void
gw_rv_wait_begin(struct gw_rv_waits *waits, struct gw_rv_wait *wait, const struct api_resource *resource,
		 uint64_t rv, uint64_t until_ms, void (*done)(struct gw_rv_wait *wait, bool reached),
		 void *ctx)
{
	*wait = (struct gw_rv_wait){
		.waits = waits, .resource = resource, .rv = rv, .done = done, .ctx = ctx, .time.due = on_due};
	wait->next = waits->first;
	if (wait->next)
		wait->next->previous = wait;
	waits->first = wait;
	gw_wheel_set(waits->wheel, &wait->time, until_ms);
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
