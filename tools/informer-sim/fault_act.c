/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out faults; see fault_act.h. */
#include "tools/informer-sim/fault_act.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/client_wait.h"
#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/listen.h"
#include "tools/serving/page.h"
#include "tools/informer-sim/reply.h"

/* ---- answers ----------------------------------------------------------------- */

uint64_t
sim_fault_stale_rv(const struct sim_request *request)
{
	uint64_t now = sim_store_rv(request->server->store),
		 floor = sim_store_floor(request->server->store, request->api.resource);
	uint64_t rv = now > request->stale ? now - request->stale : 1;

	return rv > floor ? rv : floor;
}

void
sim_fault_restore(struct sim_server *server, uint64_t back)
{
	uint64_t now = sim_store_rv(server->store), rv = now > back ? now - back : 0;

	for (unsigned i = 0; i < server->registry->count; i++) {
		uint64_t floor = sim_store_floor(server->store, server->registry->items[i]);

		rv = rv > floor ? rv : floor;
	}
	(void)sim_store_restore(server->store, rv); /* a concurrent change only adds history */
}

static void
expired(struct sim_server *server, const struct sim_fault *fault, const char *verb, const char *rv,
	struct api_status *status)
{
	const char *reason = fault->kind == SIM_FAULT_GONE ? "Gone" : "Expired";

	if (!strncmp(verb, "WATCH", 5))
		api_status_set(status, 410, reason, "too old resource version: %s (%" PRIu64 ")",
			       rv && rv[0] ? rv : "0", sim_store_rv(server->store));
	else
		api_status_set(status, 410, reason, "The resourceVersion for the provided list is too old.");
}

/* A client may recognize the error by its message or by its cause; a fault may send only one. */
static void
too_large(struct sim_server *server, const struct sim_fault *fault, uint64_t asked, struct api_status *status)
{
	if (fault->code == SIM_TOO_LARGE_CAUSE) {
		api_status_set(status, 504, "Timeout", "Timeout: the cache lags behind");
		api_status_cause(status, "ResourceVersionTooLarge", NULL, "the cache lags behind");
		return;
	}
	api_status_too_large_rv(status, asked, sim_store_rv(server->store));
	if (fault->code == SIM_TOO_LARGE_MESSAGE) {
		for (unsigned i = 0; i < status->cause_count; i++)
			free(status->causes[i].message);
		status->cause_count = 0;
	}
}

void
sim_fault_status(struct sim_server *server, const struct sim_fault *fault,
		 const struct api_resource *resource, const char *verb, const char *rv,
		 struct api_status *status)
{
	static const struct {
		int code;
		const char *reason, *message;
	} words[] = {
		{400, "BadRequest", "the request is bad: injected"},
		{401, "Unauthorized", "Unauthorized"},
		{403, "Forbidden", "forbidden: injected"},
		{404, "NotFound", "the server could not find the requested resource"},
		{409, "Conflict", "conflict: injected"},
		{422, "Invalid",
		 "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents "
		 "is forbidden for "
		 "watch unless the WatchList feature gate is enabled"},
		{429, "TooManyRequests", "storage is (re)initializing"},
		{500, "InternalError", "Internal error occurred: injected"},
		{503, "ServiceUnavailable", "the server is currently unable to handle the request"},
		{504, "Timeout", "Timeout: request did not complete within the allotted timeout"},
	};
	uint64_t asked = rv ? strtoull(rv, NULL, 10) : 0;

	if (fault->kind == SIM_FAULT_TOO_LARGE) {
		too_large(server, fault, asked ? asked : sim_store_rv(server->store) + 1, status);
	} else if (fault->kind == SIM_FAULT_GONE || fault->code == 410) {
		expired(server, fault, verb, rv, status);
	} else {
		api_status_set(status, fault->code, "",
			       "an error on the server has prevented the request from succeeding");
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (words[i].code == fault->code)
				api_status_set(status, fault->code, words[i].reason, "%s", words[i].message);
		if (fault->code == 404 && resource)
			status->has_details = true;
	}
	if (fault->retry_after) {
		status->retry_after = fault->retry_after;
		status->has_details = true;
	}
}

static enum MHD_Result
reply_status(struct sim_request *request, const struct sim_fault *fault, const char *verb)
{
	_cleanup_(api_page_done) struct api_page page = {0};
	const char *token = api_request_query(&request->api, "continue");

	request->verb = !strcmp(verb, "WATCHLIST") ? "WATCH" : verb;
	/* the answer for an expired page has a token for an inconsistent continuation */
	if (fault->kind == SIM_FAULT_STATUS && fault->code == 410 && request->page > 1 && token &&
	    api_page_decode(&request->api, token, &page) == 0)
		api_page_expired(&request->api, &page);
	else
		sim_fault_status(request->server, fault, request->api.resource, verb,
				 api_request_query(&request->api, "resourceVersion"), &request->api.status);
	return sim_reply_status(request);
}

static void
note(const struct sim_request *request, const char *what)
{
	_cleanup_(api_buf_done) struct api_buf line = {0};

	sim_request_print(request, &line);
	sim_journal_add(&request->server->journal, "%s -> %s", line.data, what);
}

/* Send the fault's text as the answer. */
static enum MHD_Result
say(struct sim_request *request, const struct sim_fault *fault)
{
	struct api_buf body = {0};

	api_buf_puts(&body, fault->text);
	api_buf_puts(&request->note, " said");
	return sim_reply(request, 200, fault->text[0] == '<' ? "text/html" : "application/json", &body);
}

bool
sim_fault_request(struct sim_request *request, enum MHD_Result *ret_result)
{
	struct sim_server *server = request->server;
	const char *verb = sim_request_verb(&request->api),
		   *token = api_request_query(&request->api, "continue");
	struct sim_fault_moment moment = {.verb = verb,
					  .resource = request->api.resource,
					  .namespace_ = request->api.namespace_,
					  .rv = api_request_query(&request->api, "resourceVersion")};
	struct sim_fault fault;

	if (!strcmp(verb, "LIST") && token && token[0])
		request->page = sim_faults_page(server->faults, token);
	moment.page = request->page;
	if (!sim_faults_ask(server->faults, &moment, &fault))
		return false;
	*ret_result = MHD_NO; /* closes the connection */
	if (fault.kind == SIM_FAULT_HOLD && !sim_hold(request, &fault)) {
		note(request, "the client went");
		return true;
	}
	switch (fault.kind) {
	case SIM_FAULT_REFUSE:
		sim_listen_refuse(server->listen, fault.ms);
		note(request, "refused");
		return true;
	case SIM_FAULT_CLOSE:
		if (fault.after_bytes)
			break;
		note(request, "closed");
		return true;
	case SIM_FAULT_FREEZE:
		if (fault.after_bytes)
			break;
		note(request, "frozen");
		if (sim_fault_sleep(server, sim_request_socket(&request->api), fault.ms))
			return false;
		note(request, "the client went");
		return true;
	case SIM_FAULT_STATUS:
	case SIM_FAULT_GONE:
	case SIM_FAULT_TOO_LARGE:
		*ret_result = reply_status(request, &fault, verb);
		return true;
	case SIM_FAULT_SLOW:
		if (fault.amount)
			break;
		return !sim_fault_sleep(server, sim_request_socket(&request->api), fault.ms);
	case SIM_FAULT_STALE:
		if (!strncmp(verb, "WATCH", 5))
			break;
		request->stale = fault.amount;
		return false;
	case SIM_FAULT_RESTORE:
		sim_fault_restore(server, fault.amount);
		return false;
	case SIM_FAULT_SAY:
		*ret_result = say(request, &fault);
		return true;
	case SIM_FAULT_PAGINATE:
		request->paginate = fault.amount;
		return false;
	case SIM_FAULT_PLAIN:
		request->plain = true;
		return false;
	case SIM_FAULT_NO_PROTOBUF:
		request->api.offer.protobuf = false;
		return false;
	case SIM_FAULT_AS_JSON:
		request->as_json = true;
		return false;
	case SIM_FAULT_UNENCODABLE:
		request->unencodable = true;
		return false;
	case SIM_FAULT_NEWER:
		request->newer = true;
		return false;
	default:
		break;
	}
	request->fault = fault;
	return false;
}
