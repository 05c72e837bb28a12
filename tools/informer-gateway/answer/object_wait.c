/* SPDX-License-Identifier: Apache-2.0 */
/* The route's wait for an RV, once more after each; see object_wait.h. */
#include "tools/informer-gateway/answer/object_wait.h"

#include "tools/informer-gateway/answer/router_private.h"

static void begin(struct gw_exchange *x);

static void
on_gone(void *ctx)
{
	struct gw_exchange *x = ctx;

	gw_rv_wait_cancel(&x->route->wait);
}

/* Nobody waits any more. */
static void
give_up(struct gw_exchange *x)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	if (!hooks->elsewhere || !api_request_header(&x->api, "Authorization") ||
	    !hooks->elsewhere(hooks->ctx, x))
		x->route->next(x);
}

static void
on_rv(struct gw_rv_wait *wait, bool reached)
{
	struct gw_exchange *x = wait->ctx;

	gw_on_gone(x, NULL, NULL);
	if (gw_answer_object(x))
		return;
	if (reached)
		begin(x);
	else
		give_up(x);
}

/* For the next RV. */
static void
begin(struct gw_exchange *x)
{
	struct gw_route *route = x->route;

	gw_on_gone(x, on_gone, x);
	gw_rv_wait_begin(&route->router->waits, &route->wait, x->api.resource, gw_read_rv(x) + 1,
			 route->until_ms, on_rv, x);
}

void
gw_object_wait(struct gw_exchange *x, gw_next *next)
{
	x->route->next = next;
	x->route->until_ms = uv_now(gw_front_loop(x->route->router->front)) + GW_OBJECT_WAIT_MS;
	begin(x);
}
