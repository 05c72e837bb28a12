/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List bodies: the answers to LISTs, and the initial events of watches. Equal requests at the same time share
 * one body.
 *
 *   join -> PENDING -> OPEN (the snapshot is taken; bytes are made in slices of 2 ms) -> whole
 *                   -> FAILED (status)
 *
 * A request for the newest state gets a body that began after the request. It waits for that body, with later
 * requests, while an equal body is in progress. It also waits if an equal body of more than 1 MiB began less
 * than 1 s ago. A request with an RV or 0 shares any body of that RV or newer that began within the last
 * second.
 *
 * Budget  All bodies share one memory budget. At most 16 bodies, plus one per 256 KiB of the budget, exist at
 *         a time; a request for another gets 429. Complete bodies without a reader are freed first. A body
 *         that takes more than half of the budget accepts no new readers and waits for its slowest reader. So
 *         does each body above 256 KiB when many that began together would exceed the budget.
 * Slow    Bytes that a client has not read stay in the budget. A client is dropped
 *         - if it read nothing for router_options.stall_ms while bytes were waiting;
 *         - if the budget is used up and the client, after stall_ms, reads less than 16 KB a second.
 *         Its connection is cut, so that the client does not take a part for the whole list.
 * Threads the loop's only
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_H

#include "tools/informer-gateway/http/exchange.h"

struct gw_router;
struct gw_bodies;
struct gw_body_reader;

struct gw_bodies *gw_bodies_new(struct gw_router *router);
/* No reader may be left. NULL is fine; the memory is freed in the loop's next run. */
void gw_bodies_free(struct gw_bodies *bodies);

/*
 * Answer the exchange's query with a stream of its body, or with a status if there is no body.
 *
 * events      make the initial events of a watch, not a list
 * ops         of the stream. closed is called once, also if no stream begins
 * ctx         of ops; NULL: the reader
 * ret_reader  set before any function of ops is called; may be NULL
 */
void gw_body_answer(struct gw_exchange *x, bool events, const struct gw_stream_ops *ops, void *ctx,
		    struct gw_body_reader **ret_reader);
/* NULL is fine. */
void gw_body_leave(struct gw_body_reader *reader);

/* The snapshot that the body shows. */
struct gw_body_shown {
	uint64_t rv, position;
};
struct gw_body_shown gw_body_shown(const struct gw_body_reader *reader);
/* As gw_stream_ops.read. GW_STREAM_BROKEN: the snapshot was revoked before the body was complete. */
ssize_t gw_body_read(struct gw_body_reader *reader, char *out, size_t max);

#endif
