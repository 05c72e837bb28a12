/* SPDX-License-Identifier: Apache-2.0 */
/* A wait for an RV, once more after each; see object_wait.h. */
#include "tools/informer-gateway/answer/object_wait.h"

#include <stdlib.h>

#include "tools/informer-gateway/answer/router_private.h"

struct object_wait {
	struct gw_exchange *x;
	gw_next *next;
	uint64_t until_ms;
	struct gw_rv_wait wait;
};

static void begin(struct object_wait *w);

static void
on_gone(void *ctx)
{
	struct object_wait *w = ctx;

	gw_rv_wait_cancel(&w->wait);
	free(w);
}

/* Nobody waits any more. */
static void
give_up(struct gw_exchange *x, gw_next *next)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	if (!hooks->elsewhere || !api_request_header(&x->api, "Authorization") ||
	    !hooks->elsewhere(hooks->ctx, x))
		next(x);
}

static void
on_rv(struct gw_rv_wait *wait, bool reached)
{
	struct object_wait *w = wait->ctx;
	struct gw_exchange *x = w->x;
	gw_next *next = w->next;

	gw_on_gone(x, NULL, NULL);
	if (gw_answer_object(x)) {
		free(w);
	} else if (reached) {
		begin(w);
	} else {
		free(w);
		give_up(x, next);
	}
}

/* For the next RV. */
static void
begin(struct object_wait *w)
{
	struct gw_exchange *x = w->x;

	gw_on_gone(x, on_gone, w);
	gw_rv_wait_begin(&x->route->router->waits, &w->wait, x->api.resource, gw_read_rv(x) + 1, w->until_ms,
			 on_rv, w);
}

void
gw_object_wait(struct gw_exchange *x, gw_next *next)
{
	struct object_wait *w = api_alloc(sizeof(*w));

	*w = (struct object_wait){
		.x = x,
		.next = next,
		.until_ms = uv_now(gw_front_loop(x->route->router->front)) + GW_OBJECT_WAIT_MS,
	};
	begin(w);
}
