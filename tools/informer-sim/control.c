/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's own pages: health, metrics, and /sim/. Tests use /sim/ to start churn, drop history, inject
 * faults, and read figures and the journal.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/churn.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/reply.h"

static enum MHD_Result
text(struct sim_request *request, const char *line)
{
	struct api_buf body = {0};

	api_buf_puts(&body, line);
	return sim_reply(request, 200, "text/plain; charset=utf-8", &body);
}

/* Whether a resource is served and is the first entry of its objects. */
static bool
is_shown(const struct api_registry *registry, unsigned i)
{
	return api_resource_served(registry->items[i]) && registry->items[i]->index == i;
}

static enum MHD_Result
metrics(struct sim_request *request)
{
	struct sim_server *server = request->server;
	const struct api_registry *registry = server->registry;
	struct api_buf body = {0};

	sim_metrics_print(&server->metrics, &body);
	api_buf_puts(&body, "# HELP apiserver_storage_objects Number of stored objects by resource.\n"
			    "# TYPE apiserver_storage_objects gauge\n");
	for (unsigned i = 0; i < api_registry_count(registry); i++)
		if (is_shown(registry, i))
			api_buf_printf(&body, "apiserver_storage_objects{resource=\"%s\"} %zu\n",
				       registry->items[i]->group_resource,
				       sim_store_count(server->store, registry->items[i]));
	pthread_mutex_lock(&server->lock);
	api_buf_printf(
		&body,
		"# HELP informer_sim_watches Watches open now.\n# TYPE informer_sim_watches gauge\n"
		"informer_sim_watches %u\n"
		"# HELP informer_sim_watches_cut_total Watches ended because their client was too slow.\n"
		"# TYPE informer_sim_watches_cut_total counter\ninformer_sim_watches_cut_total %" PRIu64 "\n",
		server->watch_count, server->watches_cut);
	pthread_mutex_unlock(&server->lock);
	return sim_reply(request, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

static enum MHD_Result
stats(struct sim_request *request)
{
	struct sim_server *server = request->server;
	const struct api_registry *registry = server->registry;
	struct sim_churn_stats churn = sim_churn_stats(server->churn);
	struct api_buf body = {0};
	bool first = true;

	pthread_mutex_lock(&server->lock);
	api_buf_printf(&body, "{\"watches\":%u,\"watchesCut\":%" PRIu64, server->watch_count,
		       server->watches_cut);
	pthread_mutex_unlock(&server->lock);
	api_buf_printf(&body,
		       ",\"resourceVersion\":%" PRIu64 ",\"changes\":%" PRIu64
		       ",\"churn\":{\"rate\":%g,\"done\":%" PRIu64 ",\"remaining\":%" PRIu64
		       ",\"running\":%s},\"objects\":{",
		       sim_store_rv(server->store), sim_store_changes(server->store), churn.rate, churn.done,
		       churn.remaining, churn.running ? "true" : "false");
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		size_t count = sim_store_count(server->store, registry->items[i]);

		if (!count || !is_shown(registry, i))
			continue;
		api_buf_printf(&body, "%s\"%s\":{\"count\":%zu,\"oldestResourceVersion\":%" PRIu64 "}",
			       first ? "" : ",", registry->items[i]->group_resource, count,
			       sim_store_floor(server->store, registry->items[i]));
		first = false;
	}
	api_buf_puts(&body, "}}\n");
	return sim_reply(request, 200, "application/json", &body);
}

static enum MHD_Result
churn(struct sim_request *request)
{
	const char *rate_text = api_request_query(&request->api, "rate"),
		   *count_text = api_request_query(&request->api, "count");
	char *rate_end = NULL, *count_end = NULL;
	double rate = rate_text ? strtod(rate_text, &rate_end) : -1;
	unsigned long long count = count_text ? strtoull(count_text, &count_end, 10) : 0;

	if (!rate_text || *rate_end || !(rate >= 0 && rate <= 1e6) ||
	    (count_text && (*count_end || count_text[0] == '-'))) {
		api_status_set(&request->api.status, 400, "BadRequest",
			       "say POST /sim/churn?rate=R[&count=N]: R changes a second (0 stops), N "
			       "changes in all");
		return sim_reply_status(request);
	}
	sim_churn_set(request->server->churn, rate, count);
	return stats(request);
}

static enum MHD_Result
faults(struct sim_request *request)
{
	struct sim_server *server = request->server;
	_cleanup_(api_freep) char *error = NULL;
	struct api_buf body = {0};

	if (!strcmp(request->api.method, "DELETE"))
		sim_faults_clear(server->faults);
	api_buf_puts(&request->body, "");
	if (!strcmp(request->api.method, "POST") &&
	    sim_faults_add(server->faults, request->body.data, &error) < 0) {
		api_status_set(&request->api.status, 400, "BadRequest",
			       "%s (informer-sim(1) has the words of a fault script)", error);
		return sim_reply_status(request);
	}
	sim_store_wake(server->store); /* streams check the new rules */
	sim_faults_print(server->faults, &body);
	return sim_reply(request, 200, "text/plain; charset=utf-8", &body);
}

/* Print the held requests; POST answers the oldest one. */
static enum MHD_Result
held(struct sim_request *request)
{
	struct sim_server *server = request->server;
	_cleanup_(api_freep) char *error = NULL;
	struct api_buf body = {0};
	struct sim_fault fault;

	api_buf_puts(&request->body, "");
	request->body.data[strcspn(request->body.data, "\r\n")] = '\0';
	if (!strcmp(request->api.method, "POST")) {
		if (sim_faults_action(server->faults, request->body.data, &fault, &error) < 0)
			api_status_set(&request->api.status, 400, "BadRequest",
				       "%s (informer-sim(1) has the actions of a fault script)", error);
		else if (fault.kind == SIM_FAULT_HOLD)
			api_status_set(&request->api.status, 400, "BadRequest",
				       "it is held already: say how it is answered, or nothing");
		else if (!sim_holds_answer(server->holds, &fault))
			api_status_set(
				&request->api.status, 409, "Conflict",
				"no request is held: a rule as \"when LIST pods then hold\" does that");
		if (request->api.status.code)
			return sim_reply_status(request);
	}
	sim_holds_print(server->holds, &body);
	return sim_reply(request, 200, "text/plain; charset=utf-8", &body);
}

static enum MHD_Result
journal(struct sim_request *request)
{
	struct api_buf body = {0};

	sim_journal_print(&request->server->journal, &body);
	if (!strcmp(request->api.method, "DELETE"))
		sim_journal_clear(&request->server->journal);
	return sim_reply(request, 200, "text/plain; charset=utf-8", &body);
}

static enum MHD_Result
restore(struct sim_request *request)
{
	const char *text = api_request_query(&request->api, "rv");
	char *end = NULL;
	unsigned long long rv = text ? strtoull(text, &end, 10) : 0;

	if (!text || !text[0] || *end || text[0] == '-') {
		api_status_set(&request->api.status, 400, "BadRequest",
			       "say POST /sim/restore?rv=N: the resource version to go back to");
		return sim_reply_status(request);
	}
	if (sim_store_restore(request->server->store, rv) < 0) {
		api_status_set(&request->api.status, 409, "Conflict",
			       "resource version %llu is not in the history (now %" PRIu64
			       "): see oldestResourceVersion in GET "
			       "/sim/stats, and --history",
			       rv, sim_store_rv(request->server->store));
		return sim_reply_status(request);
	}
	return stats(request);
}

static enum MHD_Result
compact(struct sim_request *request)
{
	sim_store_compact(request->server->store);
	return stats(request);
}

bool
sim_handle_control(struct sim_request *request, enum MHD_Result *ret_result)
{
	static const char *const health[] = {"/healthz", "/livez", "/readyz"};
	static const struct {
		const char *methods, *url;
		enum MHD_Result (*handler)(struct sim_request *);
	} pages[] = {
		{"GET", "/metrics", metrics},        {"GET", "/sim/stats", stats},
		{"POST", "/sim/churn", churn},       {"POST", "/sim/compact", compact},
		{"POST", "/sim/restore", restore},   {"GET POST DELETE", "/sim/faults", faults},
		{"GET DELETE", "/sim/log", journal}, {"GET POST", "/sim/held", held},
	};
	const char *url = request->api.url;
	bool get = !strcmp(request->api.method, "GET");

	for (size_t i = 0; get && i < 3; i++) {
		size_t len = strlen(health[i]);

		if (!strncmp(url, health[i], len) && (url[len] == '\0' || url[len] == '/')) {
			*ret_result = text(request, "ok");
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		if (strcmp(url, pages[i].url) != 0 || !strstr(pages[i].methods, request->api.method))
			continue;
		*ret_result = pages[i].handler(request);
		return true;
	}
	return false;
}
