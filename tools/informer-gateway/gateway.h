/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway: builds all parts of the program from a configuration and runs them.
 *
 *	             ┌───────── listeners ─▶ front ─▶ router ─▶ arena (libinformer)
 *	clients ─────┤                        │  ▲
 *	             └───────────────── gatekeeper  hooks ─▶ pass-through ─▶ upstream
 *
 * SIGTERM, SIGINT   drain, then exit; a second signal exits at once
 * SIGHUP            reload certificates, reopen the audit log
 *
 * Threads  one, besides the audit log's
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATEWAY_H
#define TOOLS_INFORMER_GATEWAY_GATEWAY_H

#include "tools/informer-gateway/access/access.h"
#include "tools/informer-gateway/answer/router.h"
#include "tools/informer-gateway/gate/audit_log.h"
#include "tools/informer-gateway/gate/gatekeeper.h"
#include "tools/informer-gateway/http/drain.h"
#include "tools/informer-gateway/pass/pass_through.h"
#include "tools/informer-gateway/views/gateway_arena.h"
#include "writer/base/clock_uv.h"

struct gateway {
	const struct gw_config *config;
	uv_loop_t loop;
	struct clock_uv clock;
	uv_timer_t watchdog;
	uv_signal_t signals[3];
	uv_poll_t arena_poll;
	uv_timer_t arena_timer;
	uv_prepare_t arena_prepare; /* sets the timer to the arena's next deadline */

	struct gw_memory {
		struct api_budget all;
		struct api_share bodies, lists, views, history;
	} memory; /* memory that clients can cause */

	struct gw_arena *arena;
	struct gw_upstream *upstream; /* NULL: no listener needs it */
	struct gw_access *access;
	struct gw_audit_log *audit; /* NULL: none */
	struct gw_gatekeeper *keeper;
	struct gw_pass_through *pass_through; /* NULL: no listener passes through */
	struct gw_front *front;
	struct gw_router *router;
	struct gw_listener *listeners[GW_LISTENERS_MAX];
	size_t listener_count;
};

/* As gw_hooks.page: the health pages and /metrics. */
bool gw_page(const struct gateway *gateway, struct gw_exchange *x);
/* As gw_hooks.missing; ctx is the gateway. */
void gw_missing_object(void *ctx, struct gw_exchange *x, gw_next *next);

/*
 * Run until a signal.
 *
 * Returns  0, or a negative errno with message: it could not start
 */
int gateway_run(const struct gw_config *config, char **ret_error);

#endif
