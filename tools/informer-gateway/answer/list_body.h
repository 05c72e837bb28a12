/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List bodies: what LISTs, and the beginnings of watches, are answered with, made once for all who ask for
 * the same at the same time.
 *
 *   join -> PENDING -> OPEN (its state is taken, bytes come in slices of two milliseconds) -> whole
 *                   -> FAILED (status)
 *
 * Who asks for the newest state gets none that is older than his question. While one of the same kind is
 * being made, or a large one was begun less than a second ago, he waits for the next, together with all
 * others who came meanwhile. Who names an RV, or 0, is content with one that was begun within the last
 * second.
 *
 * Budget  all bodies together have a share, and there are as many as it has quarters of a MiB; beyond that
 *         who comes is told 429. What is whole and read by nobody gives way. One body that takes
 *         more than half of it takes no newcomers, and goes on as its slowest reader does. So does each that
 *         is more than a quarter of a MiB where many that came at once would together go beyond it.
 * Slow    What a client does not take of a body is held for it, within the budget, and while that is used up
 *         others are refused. So a client is dropped
 *         - that has taken nothing for router_options.stall_ms, though there is something;
 *         - that takes less than 16 KB a second, while the budget is used up and after that time.
 *         Its connection is cut, so that it does not take the part for the whole.
 * Threads the loop's only
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H

#include "tools/informer-gateway/http/exchange.h"

struct gw_router;
struct gw_bodies;
struct gw_body_reader;

struct gw_bodies *gw_bodies_new(struct gw_router *router);
/* No reader is left. NULL is fine; memory goes with the loop's next run. */
void gw_bodies_free(struct gw_bodies *bodies);

/*
 * Answer with the body that the exchange's query asks for as a stream; with a status, where there is none.
 *
 * events  not a list, but the lines that a watch begins with
 * ops     of the stream. closed is called once, also if it does not come to a stream
 * ctx     of ops; NULL: the reader
 * ret_reader  set before a function of ops is called; NULL is fine
 */
void gw_body_answer(struct gw_exchange *x, bool events, const struct gw_stream_ops *ops, void *ctx,
		    struct gw_body_reader **ret_reader);
/* NULL is fine. */
void gw_body_leave(struct gw_body_reader *reader);

/* The state that its bytes show. */
struct gw_body_shown {
	uint64_t rv, position;
};
struct gw_body_shown gw_body_shown(const struct gw_body_reader *reader);
/* As gw_stream_ops.read; GW_STREAM_BROKEN: what it shows was taken away before it was whole. */
ssize_t gw_body_read(struct gw_body_reader *reader, char *out, size_t max);

#endif
