/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From path and method to a handler.
 *
 *   /api/v1/RESOURCE[/NAME[/status]]
 *   /api/v1/namespaces/NS/RESOURCE[/NAME[/status]]
 *   /apis/GROUP/VERSION/...  the same
 *   everything else: serve_discovery.c, openapi.c, control.c
 */
#include "tools/informer-sim/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/informer-sim/reply.h"

#define SEGMENTS_MAX 10

static enum MHD_Result
no_method(struct sim_request *request)
{
	api_status_set(&request->api.status, 405, "MethodNotAllowed",
		       "the server does not allow this method on the requested resource");
	request->api.status.has_details = true;
	return sim_reply_status(request);
}

/*
 * Of a group that is built in? What else is there is defined by CustomResourceDefinitions, whose server has
 * other words.
 */
static bool
is_builtin(const struct sim_request *request, const char *group)
{
	unsigned count = api_registry_count(request->server->registry);

	for (unsigned i = 0; i < count; i++) {
		const struct api_resource *r = request->server->registry->items[i];

		if (!r->custom && !strcmp(r->group, group))
			return true;
	}
	return false;
}

/* group: NULL where none was named */
static enum MHD_Result
no_resource(struct sim_request *request, const char *group)
{
	struct api_buf body = {0};

	if (group && !is_builtin(request, group)) {
		api_buf_puts(&body, "404 page not found\n");
		return sim_reply(request, 404, "text/plain; charset=utf-8", &body);
	}
	api_status_set(&request->api.status, 404, "NotFound",
		       "the server could not find the requested resource");
	request->api.status.has_details = true;
	return sim_reply_status(request);
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

/* Which shape is asked for; -EINVAL with the status where none of those is served. */
static int
choose_shape(struct sim_request *request)
{
	const char *rows = api_request_query(&request->api, "includeObject");
	bool list = !request->api.name && !strcmp(request->api.method, "GET") &&
		    !api_request_is_watch(&request->api);
	struct api_offer offer = api_request_offer(&request->api);

	if (api_shape_parse(api_request_header(&request->api, "Accept"), &offer, &request->api.shape) < 0)
		api_status_set(&request->api.status, 406, "NotAcceptable",
			       "406: Not Acceptable\n\nAvailable representations: application/json, "
			       "application/json;stream=watch%s",
			       offer.protobuf ? ", " API_PROTOBUF_TYPE ", " API_PROTOBUF_TYPE ";stream=watch"
					      : "");
	else if (list && request->api.shape.kind == API_PARTIAL)
		api_status_set(
			&request->api.status, 406, "NotAcceptable",
			"you requested PartialObjectMetadata, but the requested object is a list (%sList)",
			request->api.resource->kind);
	else if (!list && request->api.name && request->api.shape.kind == API_PARTIAL_LIST)
		api_status_set(&request->api.status, 406, "NotAcceptable",
			       "you requested PartialObjectMetadataList, but the requested object is not a "
			       "list (%s)",
			       request->api.resource->kind);
	if (rows && !strcmp(rows, "None"))
		request->api.shape.rows = API_ROW_NONE;
	else if (rows && !strcmp(rows, "Object"))
		request->api.shape.rows = API_ROW_OBJECT;
	else if (rows && rows[0] && strcmp(rows, "Metadata") != 0 && request->api.shape.kind == API_TABLE &&
		 !request->api.status.code)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "Unable to convert to Table as requested: includeObject: Invalid "
				      "value: \"%.100s\": must be 'Metadata', "
				      "'Object', 'None', or empty",
				      rows);
	request->api.status.has_details = true;
	return request->api.status.code ? -EINVAL : 0;
}

/* As upstream says it of types that were made without protobuf. */
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

static bool
is_subresource_of_namespace(const char *segment)
{
	return !strcmp(segment, "status") || !strcmp(segment, "finalize");
}

static bool
has_subresource(const struct api_resource *resource, const char *name)
{
	return (!strcmp(name, "status") && resource->has_status) ||
	       (!strcmp(name, "scale") && resource->scale);
}

/* What only a node's kubelet can answer: `kubectl logs`, exec and their like are told so. */
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

/* segments: what follows /api/v1 or /apis/GROUP/VERSION */
static enum MHD_Result
resource(struct sim_request *request, const char *group, const char *version, char **segments, unsigned count)
{
	enum MHD_Result result;
	unsigned at = 0;

	if (count >= 3 && !strcmp(segments[0], "namespaces") &&
	    !(count == 3 && !group[0] && is_subresource_of_namespace(segments[2]))) {
		request->api.namespace_ = segments[1];
		at = 2;
	}
	request->api.resource = api_registry_find(request->server->registry, group, version, segments[at]);
	at++;
	if (!request->api.resource || (request->api.namespace_ && !request->api.resource->namespaced))
		return no_resource(request, group);
	if (at < count)
		request->api.name = segments[at++];
	if (at < count)
		request->api.subresource = segments[at++];
	if (needs_kubelet(request))
		return no_kubelet(request);
	if (at < count ||
	    (request->api.name && request->api.resource->namespaced && !request->api.namespace_) ||
	    (request->api.subresource && !has_subresource(request->api.resource, request->api.subresource)))
		return no_resource(request, group);
	if (choose_shape(request) < 0)
		return sim_reply_status(request);
	if (sim_fault_request(request, &result))
		return result;
	if (choose_shape(request) < 0)
		return sim_reply_status(request);
	if (request->unencodable && request->api.shape.protobuf && !api_request_is_watch(&request->api))
		return not_encoded(request);
	return request->api.name ? item(request) : collection(request);
}

enum MHD_Result
sim_route(struct sim_request *request)
{
	_cleanup_(api_freep) char *path = api_strndup(request->api.url, strlen(request->api.url));
	char *segments[SEGMENTS_MAX], *rest = path, *segment;
	enum MHD_Result result;
	unsigned count = 0;

	if (sim_handle_control(request, &result))
		return result;
	request->logged = true;
	if (sim_is_discovery(request) && sim_fault_request(request, &result))
		return result;
	if (sim_handle_discovery(request, &result) || sim_handle_openapi(request, &result))
		return result;
	while ((segment = strsep(&rest, "/"))) {
		if (!segment[0])
			continue;
		if (count == SEGMENTS_MAX)
			return no_page(request);
		segments[count++] = segment;
	}
	/* Handlers keep no pointer into path beyond their answer: a stream copies what it needs. */
	if (count >= 3 && !strcmp(segments[0], "api"))
		result = resource(request, "", segments[1], segments + 2, count - 2);
	else if (count >= 4 && !strcmp(segments[0], "apis"))
		result = resource(request, segments[1], segments[2], segments + 3, count - 3);
	else if (count && !strncmp(segments[0], "api", 3))
		result = no_resource(request, count > 1 && !strcmp(segments[0], "apis") ? segments[1] : NULL);
	else
		result = no_page(request);
	request->api.namespace_ = request->api.name = request->api.subresource = NULL;
	return result;
}
