/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gatekeeper: applies access (access.h) to the exchanges of all listeners. It is the router's hook `check`,
 * and it is called when an exchange is over. It refuses with 401, 403, 429 and 503 in upstream's words. It
 * limits each identity's requests, ends watches that are no longer allowed, and writes the audit lines.
 *
 * A request that is not served from the arena may be passed through with its caller's bearer token, if the
 * listener allows that. Then the API server decides; no review is made here, and the request counts for its
 * token. A request with impersonation (Impersonate-User) is treated the same: it is never answered from the
 * arena. A request for another protocol (gw_reply_upgrade()) is not forwarded; a token listener reviews it.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_GATEKEEPER_H
#define TOOLS_INFORMER_GATEWAY_GATE_GATEKEEPER_H

#include "tools/informer-gateway/access/access.h"
#include "tools/informer-gateway/gate/audit_log.h"
#include "tools/informer-gateway/http/exchange.h"

struct gw_gatekeeper_options {
	struct gw_access *access;              /* all pointers must outlive the gatekeeper */
	const struct gw_limits_config *limits; /* this one: copied */
	struct gw_audit_log *audit;            /* or NULL */
};

/*
 * What is limited for each identity. Lists have their own limit, equal to that of other requests: a client
 * that reads its lists slowly can still get single objects.
 */
enum gw_limit { GW_LIMIT_REQUESTS, GW_LIMIT_LISTS, GW_LIMIT_WATCHES, GW_LIMIT_KINDS };

struct gw_gatekeeper;

struct gw_gatekeeper *gw_gatekeeper_new(const struct gw_gatekeeper_options *options);
/* No exchange may be left. NULL is fine. */
void gw_gatekeeper_free(struct gw_gatekeeper *gatekeeper);

/*
 * As gw_hooks.check; ctx is the gatekeeper. gw_listener_options.profile must be the listener's struct
 * gw_listener_config.
 */
void gw_gatekeeper_check(void *ctx, struct gw_exchange *x, gw_next *next);
/* As gw_front_options.over; ctx is the gatekeeper. */
void gw_gatekeeper_over(struct gw_exchange *x, void *ctx);

/* Number of admitted exchanges in progress. */
unsigned gw_gatekeeper_under_way(const struct gw_gatekeeper *gatekeeper, enum gw_limit kind);

#endif
