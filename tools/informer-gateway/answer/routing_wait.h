/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RV waits: requests that ask for a state we have not seen yet. Each waits until the store has it, at most
 * until a time. A wait ends with its exchange.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_WAIT_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_WAIT_H

#include <sys/queue.h>
#include <uv.h>

#include "tools/informer-gateway/http/exchange.h"

LIST_HEAD(gw_rv_waits, gw_rv_wait);

/* Of an exchange, in its route; zeroed when it does not wait. */
struct gw_rv_wait {
	LIST_ENTRY(gw_rv_wait) link;
	uv_timer_t *timer; /* NULL: it does not wait. It outlives the wait until the loop has closed it */
	struct gw_exchange *x;
	uint64_t rv;
	void (*done)(struct gw_exchange *x, bool reached);
};

/* Wait for an RV of the exchange's resource; done() is called once, not from in here. */
void gw_rv_wait_begin(struct gw_exchange *x, uint64_t rv, uint64_t until_ms,
		      void (*done)(struct gw_exchange *x, bool reached));
/* A resource has come to this RV: who waits for it goes on. */
void gw_rv_wait_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv);
/* Do not wait any more. One that does not is fine. */
void gw_rv_wait_cancel(struct gw_rv_wait *wait);

#endif
