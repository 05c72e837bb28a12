/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gatekeeper: access (access.h) of the exchanges of all listeners: the router's hook `check`, and what is to
 * be done when an exchange is over. It says 401, 403, 429 and 503 in upstream's words, counts what an
 * identity has under way, ends watches whose access has turned, and writes the audit line.
 *
 * What is not served from the arena may go on with its caller's own bearer token where the listener passes
 * through: then the API server is who decides, and nothing is asked here. It counts for its token. So does
 * whatever is asked in somebody else's name (Impersonate-User): it is never answered from the arena. A
 * request for another protocol (gw_reply_upgrade()) goes nowhere: where tokens are reviewed, it is reviewed.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_GATEKEEPER_H
#define TOOLS_INFORMER_GATEWAY_GATE_GATEKEEPER_H

#include "tools/informer-gateway/access/access.h"
#include "tools/informer-gateway/gate/audit_log.h"
#include "tools/informer-gateway/http/exchange.h"

struct gw_gatekeeper_options {
	struct gw_access *access;              /* borrowed for good, as all here */
	const struct gw_limits_config *limits; /* for the call */
	struct gw_audit_log *audit;            /* or NULL */
};

/*
 * What is counted of each identity. Lists are a kind of their own, as many as of other requests: who reads
 * his lists slowly still gets single objects.
 */
enum gw_limit { GW_LIMIT_REQUESTS, GW_LIMIT_LISTS, GW_LIMIT_WATCHES, GW_LIMIT_KINDS };

struct gw_gatekeeper;

struct gw_gatekeeper *gw_gatekeeper_new(const struct gw_gatekeeper_options *options);
/* When no exchange is left. NULL is fine. */
void gw_gatekeeper_free(struct gw_gatekeeper *gatekeeper);

/*
 * gw_hooks.check; ctx is the gatekeeper. The profile of each listener (gw_listener_options.profile) is its
 * struct gw_listener_config.
 */
void gw_gatekeeper_check(void *ctx, struct gw_exchange *x, gw_next *next);
/* gw_front_options.over; ctx is the gatekeeper. */
void gw_gatekeeper_over(struct gw_exchange *x, void *ctx);

/* How much that was let in is under way. */
unsigned gw_gatekeeper_under_way(const struct gw_gatekeeper *gatekeeper, enum gw_limit kind);

#endif
