/* SPDX-License-Identifier: Apache-2.0 */
/* Complete bodies; see answer.h. */
#include "tools/serving/answer.h"

#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_object.h"

#define JSON_TYPE "application/json"

static bool
status_in_protobuf(const struct api_request *request)
{
	struct api_offer offer = api_request_offer(request);
	struct api_shape shape;

	offer.typed = offer.protobuf;
	return api_shape_parse(api_request_header(request, "Accept"), &offer, &shape) == 0 &&
	       shape.protobuf && shape.kind == API_PLAIN;
}

const char *
api_answer_status(const struct api_request *request, struct api_buf *body)
{
	if (status_in_protobuf(request)) {
		api_status_encode(&request->status, body);
		return API_PROTOBUF_TYPE;
	}
	api_status_print(&request->status, body);
	api_buf_puts(body, "\n");
	return JSON_TYPE;
}

const char *
api_answer_object(const struct api_request *request, struct api_object *object, uint64_t rv,
		  struct api_buf *body)
{
	const struct api_shape *shape = &request->shape;
	const struct api_resource *resource = request->resource;
	_cleanup_(api_object_unrefp) struct api_object *shown = api_shape_object(shape, object);
	_cleanup_(api_buf_done) struct api_buf message = {0};

	if (shape->protobuf) {
		api_proto_object(shape, resource, shown, rv, &message);
		api_proto_wrap(body, api_proto_version(shape, resource), api_proto_kind(shape, resource),
			       &message);
		return API_PROTOBUF_TYPE;
	}
	api_shape_print(shape, resource, shown, rv, true, body);
	api_buf_puts(body, "\n");
	return JSON_TYPE;
}

static bool
is_builtin(const struct api_registry *registry, const char *group)
{
	unsigned count = api_registry_count(registry);

	for (unsigned i = 0; i < count; i++)
		if (!registry->items[i]->custom && !strcmp(registry->items[i]->group, group))
			return true;
	return false;
}

const char *
api_answer_no_resource(struct api_request *request, const struct api_registry *registry, struct api_buf *body)
{
	const char *group = request->path->group;

	if (group && !is_builtin(registry, group)) {
		api_buf_puts(body, "404 page not found\n");
		return "text/plain; charset=utf-8";
	}
	api_status_set(&request->status, 404, "NotFound",
		       "the server could not find the requested resource%s",
		       request->path->place == API_BROKEN ? ": its path has an empty segment" : "");
	request->status.has_details = true;
	return api_answer_status(request, body);
}

int
api_status_no_method(struct api_status *status)
{
	int r = api_status_set(status, 405, "MethodNotAllowed",
			       "the server does not allow this method on the requested resource");

	status->has_details = true;
	return r;
}

const char *
api_answer_type(const struct api_request *request, bool watch)
{
	if (!request->shape.protobuf)
		return JSON_TYPE;
	return watch ? API_PROTOBUF_TYPE ";stream=watch" : API_PROTOBUF_TYPE;
}
