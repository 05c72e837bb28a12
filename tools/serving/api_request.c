/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and headers, as the connection has them; see api_request.h. */
#include "tools/serving/api_request.h"

#include <string.h>
#include <strings.h>

const char *
api_request_query(const struct api_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *
api_request_header(const struct api_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct api_offer
api_request_offer(const struct api_request *request)
{
	struct api_offer offer = request->offer;

	offer.typed = offer.protobuf && request->resource && request->resource->message;
	return offer;
}

int
api_request_socket(const struct api_request *request)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection,
								       MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

bool
api_request_flag(const struct api_request *request, const char *name)
{
	return MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
					     NULL, NULL) &&
	       (!api_request_query(request, name) ||
		(strcasecmp(api_request_query(request, name), "false") != 0 &&
		 strcmp(api_request_query(request, name), "0") != 0));
}

bool
api_request_is_watch(const struct api_request *request)
{
	return api_request_flag(request, "watch");
}

const char *
api_request_verb(const struct api_request *request)
{
	const char *method = request->method, *initial = api_request_query(request, "sendInitialEvents");

	if (!request->resource)
		return "DISCOVERY";
	if (!strcmp(method, "POST"))
		return "CREATE";
	if (!strcmp(method, "PUT"))
		return "UPDATE";
	if (!strcmp(method, "PATCH"))
		return "PATCH";
	if (!strcmp(method, "DELETE"))
		return request->name ? "DELETE" : "DELETECOLLECTION";
	if (request->name)
		return "GET";
	if (!api_request_is_watch(request))
		return "LIST";
	return initial && !strcmp(initial, "true") ? "WATCHLIST" : "WATCH";
}
