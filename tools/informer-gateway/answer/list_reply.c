/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a LIST with a stream of a shared body. */
#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/routing.h"

static ssize_t
read_list(void *reader, char *out, size_t max)
{
	return gw_body_read(reader, out, max);
}

/* Drains wait for lists, because lists end by themselves. */
static void
go_on(void *reader)
{
	(void)reader;
}

static void
list_closed(void *reader)
{
	gw_body_leave(reader);
}

void
gw_answer_list(struct gw_exchange *x)
{
	static const struct gw_stream_ops ops = {read_list, go_on, list_closed};

	x->route->router->counters.lists++;
	gw_read_warn(x);
	gw_body_answer(x, false, &ops, NULL, NULL);
}
