/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for one RV after another; see object_wait.h. */
#include "tools/informer-gateway/answer/object_wait.h"

#include "tools/informer-gateway/answer/routing.h"

/* The wait has ended without the object. */
static void
give_up(struct gw_exchange *x)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	if (!hooks->elsewhere || !api_request_header(&x->api, "Authorization") ||
	    !hooks->elsewhere(hooks->ctx, x))
		x->route->next(x);
}

static void
on_rv(struct gw_exchange *x, bool reached)
{
	if (gw_answer_object(x))
		return;
	if (reached)
		gw_rv_wait_begin(x, gw_read_rv(x) + 1, x->route->until_ms, on_rv);
	else
		give_up(x);
}

void
gw_object_wait(struct gw_exchange *x, gw_next *next)
{
	x->route->next = next;
	x->route->until_ms = uv_now(gw_front_loop(x->route->router->front)) + GW_OBJECT_WAIT_MS;
	gw_rv_wait_begin(x, gw_read_rv(x) + 1, x->route->until_ms, on_rv);
}
