/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: serves the documents of tools/serving/discovery_documents.h. */
#include <stdio.h>
#include <string.h>

#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/reply.h"
#include "tools/serving/discovery_documents.h"

static enum MHD_Result
version(struct sim_request *request)
{
	struct api_buf body = {0};

	if (request->server->options.hide_version) {
		api_status_set(&request->api.status, 403, "Forbidden",
			       "forbidden: cannot get path \"/version\"");
		return sim_reply_status(request);
	}
	api_version_document("informer-sim", &body);
	return sim_reply(request, 200, "application/json", &body);
}

bool
sim_is_discovery(const struct sim_request *request)
{
	return !strcmp(request->api.method, "GET") && api_place_is_discovery(request->api.path->place);
}

bool
sim_handle_discovery(struct sim_request *request, enum MHD_Result *ret_result)
{
	struct api_buf body = {0};
	struct api_discovery answer;

	if (strcmp(request->api.method, "GET") != 0)
		return false;
	if (!strcmp(request->api.url, "/version") || !strcmp(request->api.url, "/version/")) {
		*ret_result = version(request);
		return true;
	}
	answer = api_discovery_answer(&request->api, request->server->registry,
				      !request->server->options.no_aggregated_discovery, &body);
	if (answer.code == 0)
		return false;
	snprintf(request->etag, sizeof(request->etag), "%s", answer.etag);
	*ret_result = sim_reply(request, answer.code, answer.type, &body);
	return true;
}
