/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freshness proof: for whoever must not be answered with less than what upstream had when he asked. One
 * read of one object, as metadata, says upstream's RV, for all who wait at that moment; the arena must then
 * have come that far.
 *
 *	waits ──▶ next question ──▶ RV r of the list ─┬─▶ the arena has r
 *	          (one at a time)                     ├─▶ a probe: nothing but what the arena has up to r
 *	                                              └─▶ 3 s are over
 *
 * Who comes while a question is under way waits for the next, for its answer may be older than his wish.
 *
 * An RV counts the changes of all resources: where others change, a list's is ahead of what a quiet
 * resource's watch was last told of, for up to a minute. So where the arena is not there at once, a short
 * watch (quiet_probe.h) from the arena's RV on is asked whether anything happened since at all.
 *
 * Asked with our own credentials: what is learnt is a number.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_FRESHNESS_PROOF_H
#define TOOLS_INFORMER_GATEWAY_FRESHNESS_PROOF_H

#include <stdint.h>

#include "tools/informer-gateway/upstream.h"
#include "tools/serving/served_resource.h"

#define GW_FRESH_WAIT_MS 3000u	/* as upstream waits for an RV that is ahead */
#define GW_FRESH_PROBE_MS 50u	/* so long the arena's own watch is waited for, before one is begun */

struct gw_freshness;
struct gw_fresh_wait;

/*
 * Called once, from the loop.
 *
 * result  0: the arena now shows all that upstream had when this wait began;
 *         -ETIMEDOUT: it does not within GW_FRESH_WAIT_MS;
 *         -EACCES: we may not ask; others: upstream could not be asked
 * rv      what the arena must have reached; 0 where that is not known
 * why     a sentence where result is negative, else ""
 */
typedef void gw_fresh_fn(void *ctx, int result, uint64_t rv, const char *why);

/*
 * rv  the newest RV that the arena shows of a resource, or 0; called at any time, with `ctx`
 */
struct gw_freshness *gw_freshness_new(struct gw_upstream *upstream,
				      uint64_t (*rv)(void *ctx, const struct api_resource *resource),
				      void *ctx);
/* Who waits hears nothing. Not from a callback. NULL is fine. */
void gw_freshness_free(struct gw_freshness *freshness);

/*
 * Ask that what the arena shows be proved fresh.
 *
 * namespace_  in which alone we may list it, or NULL
 * Returns     what gw_fresh_cancel() takes, until `done` is called, which is not from in here
 */
struct gw_fresh_wait *gw_fresh_wait(struct gw_freshness *freshness, const struct api_resource *resource,
				    const char *namespace_, gw_fresh_fn *done, void *ctx);
/* NULL is fine. */
void gw_fresh_cancel(struct gw_fresh_wait *wait);

/* The arena shows a newer RV of a resource. Calls those who waited for it. */
void gw_fresh_reached(struct gw_freshness *freshness, const struct api_resource *resource);

/* Questions and probes that were asked so far. */
struct gw_freshness_counters {
	uint64_t waits, questions, probes, late;
};
const struct gw_freshness_counters *gw_freshness_counters(const struct gw_freshness *freshness);

#endif
