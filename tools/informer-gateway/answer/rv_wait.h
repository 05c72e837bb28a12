/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RV waits: requests that ask for a state we have not seen yet. Each waits until the store has it, at most
 * until a time.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_RV_WAIT_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_RV_WAIT_H

#include <sys/queue.h>
#include <uv.h>

#include "tools/serving/served_resource.h"

LIST_HEAD(gw_rv_wait_list, gw_rv_wait);

struct gw_rv_waits {
	uv_loop_t *loop;
	struct gw_rv_wait_list list;
};

/* Embedded in whoever waits; zeroed when it does not. */
struct gw_rv_wait {
	LIST_ENTRY(gw_rv_wait) link;
	uv_timer_t *timer; /* NULL: it does not wait. It outlives the wait until the loop has closed it */
	const struct api_resource *resource;
	uint64_t rv;
	void (*done)(struct gw_rv_wait *wait, bool reached);
	void *ctx; /* of whoever waits */
};

/* Wait; done() is called once, not from in here. */
void gw_rv_wait_begin(struct gw_rv_waits *waits, struct gw_rv_wait *wait, const struct api_resource *resource,
		      uint64_t rv, uint64_t until_ms, void (*done)(struct gw_rv_wait *wait, bool reached),
		      void *ctx);
/* Do not wait any more. One that does not is fine. */
void gw_rv_wait_cancel(struct gw_rv_wait *wait);
/* The resource has come to this RV. */
void gw_rv_waits_told(struct gw_rv_waits *waits, const struct api_resource *resource, uint64_t rv);

#endif
