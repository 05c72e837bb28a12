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
 *         Who does not take his is dropped (slow_takers.h).
 * Threads the loop's only. wake() is called from the loop, never from within a function here.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H

#include "tools/informer-gateway/http/exchange.h"

struct api_share;
struct gw_router;
struct gw_bodies;
struct gw_body_reader;

struct gw_bodies *gw_bodies_new(struct gw_router *router, struct api_share *share);
/* No reader is left. NULL is fine; memory goes with the loop's next run. */
void gw_bodies_free(struct gw_bodies *bodies);

/*
 * Read the body that the exchange's query asks for.
 *
 * events  not a list, but the lines that a watch begins with
 * wake    called when its state changes, and when gw_body_read() has something again
 * Returns 0; -EBUSY with x->api.status: the budget is used up
 */
int gw_body_join(struct gw_exchange *x, bool events, void (*wake)(void *ctx), void *ctx,
		 struct gw_body_reader **ret_reader);
/* NULL is fine. */
void gw_body_leave(struct gw_body_reader *reader);

/* Of an OPEN one: the RV and the position that it shows, and whether its bytes are compressed. */
struct gw_body_shown {
	enum { GW_BODY_PENDING, GW_BODY_OPEN, GW_BODY_FAILED } state;
	bool gzip;
	uint64_t rv, position;
};
const struct gw_body_shown *gw_body_shown(const struct gw_body_reader *reader);
/* Of a FAILED one: make its status the exchange's. */
void gw_body_fault(const struct gw_body_reader *reader, struct gw_exchange *x);
/* As gw_stream_ops.read; GW_STREAM_BROKEN: what it shows was taken away before it was whole. */
ssize_t gw_body_read(struct gw_body_reader *reader, char *out, size_t max);

#endif
