/* SPDX-License-Identifier: Apache-2.0 */
/* A LIST as a stream of a body that others may read as well. */
#include <stdlib.h>

#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/router_private.h"
#include "tools/serving/answer.h"

struct lister {
	struct gw_exchange *x;
	struct gw_body_reader *reader;
	bool replied;
};

static ssize_t
read_list(void *ctx, char *out, size_t max)
{
	struct lister *l = ctx;

	return gw_body_read(l->reader, out, max);
}

static void
list_closed(void *ctx)
{
	struct lister *l = ctx;

	gw_body_leave(l->reader);
	free(l);
}

/* A drain waits for a list: it is over soon. */
static void
go_on(void *ctx)
{
	(void)ctx;
}

static const struct gw_stream_ops list_ops = {read_list, go_on, list_closed};

static void
reply(struct lister *l)
{
	struct gw_exchange *x = l->x;

	gw_on_gone(x, NULL, NULL);
	if (gw_body_shown(l->reader)->state == GW_BODY_FAILED) {
		gw_body_fault(l->reader, x);
		list_closed(l);
		gw_reply_status(x);
		return;
	}
	l->replied = true;
	x->rv = gw_body_shown(l->reader)->rv;
	if (gw_body_shown(l->reader)->gzip) {
		gw_reply_header(x, "Content-Encoding", "gzip");
		gw_reply_header(x, "Vary", "Accept-Encoding");
	}
	gw_reply_stream(x, 200, api_answer_type(&x->api, false), &list_ops, l);
}

static void
on_body(void *ctx)
{
	struct lister *l = ctx;

	if (l->replied)
		gw_stream_wake(l->x);
	else
		reply(l);
}

void
gw_answer_list(struct gw_exchange *x)
{
	struct lister *l = api_alloc(sizeof(*l));

	*l = (struct lister){.x = x};
	x->route->router->counters.lists++;
	gw_read_warn(x);
	if (gw_body_join(x, false, on_body, l, &l->reader) < 0) {
		free(l);
		gw_reply_status(x);
		return;
	}
	gw_on_gone(x, list_closed, l);
	if (gw_body_shown(l->reader)->state != GW_BODY_PENDING)
		reply(l);
}
