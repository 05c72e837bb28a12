/* SPDX-License-Identifier: Apache-2.0 */
/* Reading parameters and headers from the connection; see api_request.h. */
#include "tools/serving/api_request.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

struct wanted {
	const char *name, *value;
	bool found;
};

/* MHD_lookup_connection_value() ignores case: "Watch" would match "watch". */
static enum MHD_Result
compare(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct wanted *wanted = ctx;

	(void)kind;
	if (strcmp(name, wanted->name) != 0)
		return MHD_YES;
	wanted->value = value;
	wanted->found = true;
	return MHD_NO;
}

static bool
look_up_parameter(const struct api_request *request, const char *name, const char **ret_value)
{
	struct wanted wanted = {.name = name};

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, compare, &wanted);
	*ret_value = wanted.value;
	return wanted.found;
}

/* Whether the request has it. *ret_value may be NULL even then. */
static bool
look_up(const struct api_request *request, enum MHD_ValueKind kind, const char *name, const char **ret_value)
{
	*ret_value = NULL;
	if (request->value)
		return request->value(request, kind, name, ret_value);
	if (kind == MHD_GET_ARGUMENT_KIND)
		return look_up_parameter(request, name, ret_value);
	return MHD_lookup_connection_value_n(request->connection, kind, name, strlen(name), ret_value, NULL);
}

const char *
api_request_query(const struct api_request *request, const char *name)
{
	const char *value;

	return look_up(request, MHD_GET_ARGUMENT_KIND, name, &value) ? value : NULL;
}

const char *
api_request_header(const struct api_request *request, const char *name)
{
	const char *value;

	return look_up(request, MHD_HEADER_KIND, name, &value) ? value : NULL;
}

int
api_request_locate(struct api_request *request, const struct api_path *path,
		   const struct api_registry *registry)
{
	request->path = path;
	request->namespace_ = path->namespace_;
	request->name = path->name;
	request->subresource = path->subresource;
	if (path->place == API_RESOURCE)
		request->resource = api_registry_find(registry, path->group, path->version, path->plural);
	if (request->resource && path->namespace_ && !request->resource->namespaced)
		request->resource = NULL;
	return request->resource ? 0 : -ENOENT;
}

static bool
has_subresource(const struct api_resource *resource, const char *name)
{
	return (!strcmp(name, "status") && resource->has_status) ||
	       (!strcmp(name, "scale") && resource->scale);
}

bool
api_request_is_of_objects(const struct api_request *request)
{
	const struct api_resource *resource = request->resource;

	return !request->path->deeper && !(request->name && resource->namespaced && !request->namespace_) &&
	       (!request->subresource || has_subresource(resource, request->subresource));
}

struct api_offer
api_request_offer(const struct api_request *request)
{
	struct api_offer offer = request->offer;

	offer.typed = offer.protobuf && request->resource && request->resource->message;
	return offer;
}

int
api_request_choose_shape(struct api_request *request)
{
	const char *rows = api_request_query(request, "includeObject");
	bool list = !request->name && !strcmp(request->method, "GET") && !api_request_is_watch(request);
	struct api_offer offer = api_request_offer(request);

	if (api_shape_parse(api_request_header(request, "Accept"), &offer, &request->shape) < 0)
		api_status_set(&request->status, 406, "NotAcceptable",
			       "406: Not Acceptable\n\nAvailable representations: application/json, "
			       "application/json;stream=watch%s",
			       offer.protobuf ? ", " API_PROTOBUF_TYPE ", " API_PROTOBUF_TYPE ";stream=watch"
					      : "");
	else if (list && request->shape.kind == API_PARTIAL)
		api_status_set(
			&request->status, 406, "NotAcceptable",
			"you requested PartialObjectMetadata, but the requested object is a list (%sList)",
			request->resource->kind);
	else if (!list && request->name && request->shape.kind == API_PARTIAL_LIST)
		api_status_set(&request->status, 406, "NotAcceptable",
			       "you requested PartialObjectMetadataList, but the requested object is not a "
			       "list (%s)",
			       request->resource->kind);
	if (rows && !strcmp(rows, "None"))
		request->shape.rows = API_ROW_NONE;
	else if (rows && !strcmp(rows, "Object"))
		request->shape.rows = API_ROW_OBJECT;
	else if (rows && rows[0] && strcmp(rows, "Metadata") != 0 && request->shape.kind == API_TABLE &&
		 !request->status.code)
		return api_status_set(&request->status, 400, "BadRequest",
				      "Unable to convert to Table as requested: includeObject: Invalid "
				      "value: \"%.100s\": must be 'Metadata', "
				      "'Object', 'None', or empty",
				      rows);
	request->status.has_details = true;
	return request->status.code ? -EINVAL : 0;
}

bool
api_request_flag(const struct api_request *request, const char *name)
{
	const char *value;

	return look_up(request, MHD_GET_ARGUMENT_KIND, name, &value) &&
	       (!value || (strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0));
}

bool
api_request_has(const struct api_request *request, const char *name)
{
	const char *value;

	return look_up(request, MHD_GET_ARGUMENT_KIND, name, &value);
}

bool
api_request_is_read(const struct api_request *request)
{
	return !strcmp(request->method, "GET") || !strcmp(request->method, "HEAD");
}

bool
api_request_is_watch(const struct api_request *request)
{
	return api_request_flag(request, "watch");
}
