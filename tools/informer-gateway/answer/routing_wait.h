/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RV waits: a request for an RV that is not cached yet waits until the store has it or the time is over. A
 * wait ends with its exchange.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_WAIT_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_ROUTING_WAIT_H

#include <sys/queue.h>
#include <uv.h>

#include "tools/informer-gateway/http/exchange.h"

LIST_HEAD(gw_rv_waits, gw_rv_wait);

/* Part of an exchange's route; zeroed when the exchange does not wait. */
struct gw_rv_wait {
	LIST_ENTRY(gw_rv_wait) link;
	uv_timer_t *timer; /* NULL: no wait. The loop closes and frees the timer after the wait ends */
	struct gw_exchange *x;
	uint64_t rv;
	void (*done)(struct gw_exchange *x, bool reached);
};

/* Wait for an RV of the exchange's resource. done() is called once, never from within this function. */
void gw_rv_wait_begin(struct gw_exchange *x, uint64_t rv, uint64_t until_ms,
		      void (*done)(struct gw_exchange *x, bool reached));
/* A resource has reached this RV: end the waits for it. */
void gw_rv_wait_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv);
/* Cancel the wait. A wait that is not active is fine. */
void gw_rv_wait_cancel(struct gw_rv_wait *wait);

#endif
