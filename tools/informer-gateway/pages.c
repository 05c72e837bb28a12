/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages outside the API: /livez and /healthz (the loop runs), /readyz (informerd runs, and all its first
 * lists have arrived) and /metrics.
 */
#include "tools/informer-gateway/gateway.h"

#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/arena_view.h"
#include "writer/base/metrics_text.h"
#include "writer/base/process_metrics.h"

#define TEXT "text/plain; charset=utf-8"

/* Print a line for each reason why the gateway is not ready; none: ready. */
static void
say_missing(const struct gateway *g, struct api_buf *body)
{
	const struct gw_arena *arena = g->arena;
	struct informer_status status = {.size = sizeof(status)};
	unsigned there = 0;

	for (unsigned i = 0; i < arena->count; i++) {
		const struct gw_entry *entry = arena->entries[i];

		if (entry->gone || (entry->on_demand && !entry->followed))
			continue;
		there++;
		if (entry->feed.begun)
			continue;
		api_buf_printf(body, "[-]%s: its first list is not in\n", entry->name);
	}
	if (gw_front_draining(g->front))
		api_buf_puts(body, "[-]draining\n");
	if (informer_status(arena->reads, &status) == 0 && status.stale)
		api_buf_printf(body, "[-]informerd: %s\n", status.reason);
	if (there == 0)
		api_buf_puts(body, "[-]informerd: it is not running, or caches nothing yet\n");
}

static void
ready(const struct gateway *g, struct gw_exchange *x)
{
	struct api_buf body = {0};

	say_missing(g, &body);
	if (body.len == 0) {
		gw_reply_text(x, 200, TEXT, "ok");
		return;
	}
	api_buf_puts(&body, "readyz check failed\n");
	gw_reply(x, 503, TEXT, &body);
}

/* ---- metrics ---- */

static void
number(struct metrics_text *m, const char *name, const char *type, const char *help, uint64_t value)
{
	metrics_family(m, name, type, help);
	metrics_sample(m, "", (double)value, NULL);
}

static void
of_readiness(struct metrics_text *m, const struct gateway *g)
{
	struct api_buf missing = {0};

	say_missing(g, &missing);
	number(m, "informer_gateway_ready", "gauge", "1 when /readyz answers 200, 0 else.", missing.len == 0);
	api_buf_done(&missing);
}

static void
of_front(struct metrics_text *m, const struct gw_front_counters *c)
{
	number(m, "informer_gateway_connections", "gauge", "Connections that are open.", c->connections);
	number(m, "informer_gateway_connections_total", "counter", "Connections that were accepted.",
	       c->accepted);
	metrics_family(m, "informer_gateway_connections_refused_total", "counter",
		       "Connections beyond a limit: of all, or of one user or address.");
	metrics_sample(m, "", (double)c->refused_in_all, LABELS("limit", "all"));
	metrics_sample(m, "", (double)c->refused_of_one, LABELS("limit", "client"));
	number(m, "informer_gateway_requests_total", "counter", "Requests that were whole.", c->requests);
	number(m, "informer_gateway_requests", "gauge", "Requests under way.", c->exchanges);
	number(m, "informer_gateway_requests_slow_total", "counter", "Requests that were not whole in time.",
	       c->slow);
	number(m, "informer_gateway_requests_malformed_total", "counter", "Requests that are no HTTP.",
	       c->malformed);
	number(m, "informer_gateway_clients_gone_total", "counter",
	       "Clients that went before their answer was through.", c->gone);
}

static void
of_router(struct metrics_text *m, const struct gw_router_counters *c)
{
	metrics_family(m, "informer_gateway_reads_total", "counter",
		       "Reads that were served from the arena.");
	metrics_sample(m, "", (double)c->gets, LABELS("verb", "get"));
	metrics_sample(m, "", (double)c->lists, LABELS("verb", "list"));
	metrics_sample(m, "", (double)c->watches, LABELS("verb", "watch"));
	number(m, "informer_gateway_watches", "gauge", "Watches that are open.", c->watching);
	number(m, "informer_gateway_lists_made_total", "counter", "Lists that were encoded.", c->lists_made);
	number(m, "informer_gateway_lists_shared_total", "counter",
	       "Requests that were given a list that was there.", c->lists_shared);
	number(m, "informer_gateway_lists_dropped_total", "counter", "Lists that their clients did not take.",
	       c->lists_dropped);
	number(m, "informer_gateway_version_too_large_total", "counter",
	       "Requests for a resourceVersion that did not come.", c->too_large);
}

static void
of_memory(struct metrics_text *m, const struct gw_memory *memory)
{
	const struct {
		const char *of;
		const struct api_share *share;
	} rows[] = {
		{"bodies", &memory->bodies},
		{"lists", &memory->lists},
		{"views", &memory->views},
		{"history", &memory->history},
	};

	number(m, "informer_gateway_memory_limit_bytes", "gauge", "What clients can make it hold, in all.",
	       memory->all.most);
	metrics_family(m, "informer_gateway_memory_bytes", "gauge", "What it holds for clients.");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		metrics_sample(m, "", (double)rows[i].share->held, LABELS("of", rows[i].of));
	metrics_family(m, "informer_gateway_memory_refused_total", "counter",
		       "Requests for which there was no room (429).");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		metrics_sample(m, "", (double)rows[i].share->refused, LABELS("of", rows[i].of));
}

static void
of_access(struct metrics_text *m, const struct gateway *g)
{
	static const char *const names[] = {"allowed", "unauthenticated", "forbidden", "busy", "unavailable"};
	static const char *const kinds[] = {"request", "list", "watch"};
	struct gw_access_figures f = gw_access_figures(g->access);

	metrics_family(m, "informer_gateway_access_total", "counter", "Decisions on requests.");
	for (size_t i = 0; i <= GW_ACCESS_UNAVAILABLE; i++)
		metrics_sample(m, "", (double)f.outcomes[i], LABELS("outcome", names[i]));
	number(m, "informer_gateway_reviews_total", "counter", "Reviews that the API server was asked for.",
	       f.asked);
	number(m, "informer_gateway_reviews_failed_total", "counter", "Reviews without an answer.", f.failed);
	number(m, "informer_gateway_decisions_kept", "gauge", "Decisions that are remembered.",
	       f.tokens + f.decisions);
	metrics_family(m, "informer_gateway_under_way", "gauge", "What was let in, and is not over.");
	for (size_t i = 0; i < GW_LIMIT_KINDS; i++)
		metrics_sample(m, "", (double)gw_gatekeeper_under_way(g->keeper, (enum gw_limit)i),
			       LABELS("kind", kinds[i]));
	number(m, "informer_gateway_audit_lines_lost_total", "counter",
	       "Audit lines that could not be written in time.", g->audit ? gw_audit_log_lost(g->audit) : 0);
}

static void
of_upstream(struct metrics_text *m, const struct gateway *g)
{
	const struct gw_pass_through_counters *p = g->pass_through ? gw_pass_through_counters(g->pass_through)
								   : NULL;

	metrics_family(m, "informer_gateway_upstream_total", "counter", "What the API server was asked for.");
	metrics_sample(m, "", (double)(p ? p->requests : 0), LABELS("for", "pass-through"));
}

static void
of_arena(struct metrics_text *m, const struct gw_arena *arena)
{
	metrics_family(m, "informer_gateway_changes_total", "counter", "Changes that watches were offered.");
	for (unsigned i = 0; i < arena->count; i++)
		metrics_sample(m, "", (double)arena->entries[i]->feed.stats.changes,
			       LABELS("resource", arena->entries[i]->name));
	metrics_family(m, "informer_gateway_history_bytes", "gauge", "Bytes of changes that are kept.");
	for (unsigned i = 0; i < arena->count; i++)
		metrics_sample(m, "", (double)arena->entries[i]->feed.log.bytes,
			       LABELS("resource", arena->entries[i]->name));
	metrics_family(m, "informer_gateway_resets_total", "counter",
		       "Times that the order of changes was lost, and all watches of a resource ended.");
	for (unsigned i = 0; i < arena->count; i++)
		metrics_sample(m, "", (double)arena->entries[i]->feed.stats.resets,
			       LABELS("resource", arena->entries[i]->name));
	number(m, "informer_gateway_views", "gauge",
	       "States that lists and continue tokens hold in the arena.", gw_moments_count(arena));
	metrics_family(m, "informer_gateway_age_seconds", "gauge",
		       "Since the API server was last heard of; absent while that is not known.");
	for (unsigned i = 0; i < arena->count; i++) {
		uint64_t age = arena->entries[i]->gone ? UINT64_MAX : gw_entry_age_ns(arena->entries[i]);

		if (age != UINT64_MAX)
			metrics_sample(m, "", (double)age / 1e9, LABELS("resource", arena->entries[i]->name));
	}
}

static void
metrics(const struct gateway *g, struct gw_exchange *x)
{
	struct metrics_text m = {0};
	struct api_buf body = {0};

	metrics_family(&m, "informer_gateway_build_info", "gauge", "1, with the version.");
	metrics_sample(&m, "", 1, LABELS("version", INFORMER_VERSION));
	of_readiness(&m, g);
	of_front(&m, gw_front_counters(g->front));
	of_router(&m, gw_router_counters(g->router));
	of_memory(&m, &g->memory);
	of_access(&m, g);
	of_upstream(&m, g);
	of_arena(&m, g->arena);
	process_metrics(&m);
	body.data = metrics_take(&m, &body.len);
	body.cap = body.len;
	gw_reply(x, 200, METRICS_CONTENT_TYPE, &body);
}

bool
gw_page(const struct gateway *g, struct gw_exchange *x)
{
	const char *url = x->api.url;

	if (!api_request_is_read(&x->api))
		return false;
	if (!strcmp(url, "/livez") || !strcmp(url, "/healthz"))
		gw_reply_text(x, 200, TEXT, "ok");
	else if (!strcmp(url, "/readyz"))
		ready(g, x);
	else if (!strcmp(url, "/metrics"))
		metrics(g, x);
	else
		return false;
	return true;
}
