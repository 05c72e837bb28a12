/* SPDX-License-Identifier: Apache-2.0 */
/* Routes path and method to a handler. Other paths go to serve_discovery.c, openapi.c or control.c. */
#include "tools/informer-sim/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/informer-sim/reply.h"
#include "tools/serving/answer.h"

static enum MHD_Result
no_method(struct sim_request *request)
{
	api_status_no_method(&request->api.status);
	return sim_reply_status(request);
}

static enum MHD_Result
no_resource(struct sim_request *request)
{
	struct api_buf body = {0};
	const char *type = api_answer_no_resource(&request->api, request->server->registry, &body);

	return sim_reply(request, 404, type, &body);
}

static enum MHD_Result
no_page(struct sim_request *request)
{
	struct api_buf body = {0};

	api_buf_puts(&body, "{\"paths\":[\"/api\",\"/api/v1\",\"/apis\",\"/healthz\",\"/livez\",\"/"
			    "metrics\",\"/openapi/v2\",\"/openapi/v3\",\"/readyz\","
			    "\"/sim/churn\",\"/sim/compact\",\"/sim/faults\",\"/sim/held\",\"/sim/log\",\"/"
			    "sim/restore\",\"/sim/stats\",\"/version\"]}\n");
	return sim_reply(request, 404, "application/json", &body);
}

/* Upstream's answer for types without protobuf. */
static enum MHD_Result
not_encoded(struct sim_request *request)
{
	api_status_set(&request->api.status, 406, "NotAcceptable",
		       "object *%s.%s%s does not implement the protobuf marshalling interface and cannot be "
		       "encoded to a protobuf message",
		       request->api.resource->version, request->api.resource->kind,
		       request->api.name ? "" : "List");
	return sim_reply_status(request);
}

static enum MHD_Result
collection(struct sim_request *request)
{
	const char *method = request->api.method;
	bool writable = !request->api.resource->namespaced || request->api.namespace_;

	if (!strcmp(method, "GET"))
		return api_request_is_watch(&request->api) ? sim_handle_watch(request)
							   : sim_handle_list(request);
	if (!strcmp(method, "POST") && writable)
		return sim_handle_create(request);
	if (!strcmp(method, "DELETE") && writable)
		return sim_handle_delete_collection(request);
	return no_method(request);
}

static enum MHD_Result
item(struct sim_request *request)
{
	const char *method = request->api.method;

	if (!strcmp(method, "GET"))
		return sim_handle_get(request);
	if (!strcmp(method, "PUT"))
		return sim_handle_update(request);
	if (!strcmp(method, "PATCH"))
		return sim_handle_patch(request);
	if (!strcmp(method, "DELETE") && !request->api.subresource)
		return sim_handle_delete(request);
	return no_method(request);
}

/* Whether only a node's kubelet could answer: `kubectl logs`, exec and the like. */
static bool
needs_kubelet(const struct sim_request *request)
{
	static const char *const names[] = {"log",         "exec",  "attach",
					    "portforward", "proxy", "ephemeralcontainers"};

	if (!request->api.resource || !request->api.subresource ||
	    strcmp(request->api.resource->plural, "pods") != 0 || request->api.resource->group[0])
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(request->api.subresource, names[i]))
			return true;
	return false;
}

static enum MHD_Result
no_kubelet(struct sim_request *request)
{
	api_status_set(&request->api.status, 501, "NotImplemented",
		       "informer-sim keeps objects and runs no containers: there is nothing to read from, "
		       "run in or attach to");
	request->api.status.has_details = true;
	return sim_reply_status(request);
}

static enum MHD_Result
resource(struct sim_request *request)
{
	enum MHD_Result result;

	if (needs_kubelet(request))
		return no_kubelet(request);
	if (!api_request_is_of_objects(&request->api))
		return no_resource(request);
	if (api_request_choose_shape(&request->api) < 0)
		return sim_reply_status(request);
	if (sim_fault_request(request, &result))
		return result;
	/* again: a fault may have withdrawn protobuf */
	if (api_request_choose_shape(&request->api) < 0)
		return sim_reply_status(request);
	request->api.shape.protobuf &= !request->as_json;
	if (request->unencodable && request->api.shape.protobuf && !api_request_is_watch(&request->api))
		return not_encoded(request);
	return request->api.name ? item(request) : collection(request);
}

enum MHD_Result
sim_route(struct sim_request *request)
{
	_cleanup_(api_path_done) struct api_path path = {0};
	enum MHD_Result result;
	bool found;

	if (sim_handle_control(request, &result))
		return result;
	request->logged = true;
	/* Handlers keep no pointer into path after their answer: a stream copies what it needs. */
	api_path_parse(request->api.url, &path);
	found = api_request_locate(&request->api, &path, request->server->registry) == 0;
	if (sim_is_discovery(request) && sim_fault_request(request, &result))
		return result;
	if (found)
		result = resource(request);
	else if (!sim_handle_discovery(request, &result) && !sim_handle_openapi(request, &result))
		result = strncmp(request->api.url, "/api", 4) ? no_page(request) : no_resource(request);
	request->api.path = NULL;
	request->api.namespace_ = request->api.name = request->api.subresource = NULL;
	return result;
}
