/* SPDX-License-Identifier: Apache-2.0 */
/* One request: its parts, what it is called, how it reads; see request.h. */
#include "tools/informer-sim/request.h"

#include <string.h>
#include <strings.h>

const char *
sim_request_query(const struct sim_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *
sim_request_header(const struct sim_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct sim_offer
sim_request_offer(const struct sim_request *request)
{
	bool protobuf = !request->server->options.no_protobuf && !request->no_protobuf;

	return (struct sim_offer){.protobuf = protobuf,
				  .typed = protobuf && request->resource && request->resource->message,
				  .as_json = request->as_json,
				  .drop = request->server->options.drop_fields};
}

int
sim_request_socket(const struct sim_request *request)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection,
								       MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

bool
sim_request_flag(const struct sim_request *request, const char *name)
{
	return MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
					     NULL, NULL) &&
	       (!sim_request_query(request, name) ||
		(strcasecmp(sim_request_query(request, name), "false") != 0 &&
		 strcmp(sim_request_query(request, name), "0") != 0));
}

bool
sim_request_is_watch(const struct sim_request *request)
{
	return sim_request_flag(request, "watch");
}

const char *
sim_request_verb(const struct sim_request *request)
{
	const char *method = request->method, *initial = sim_request_query(request, "sendInitialEvents");

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
	if (!sim_request_is_watch(request))
		return "LIST";
	return initial && !strcmp(initial, "true") ? "WATCHLIST" : "WATCH";
}

/* A query parameter that is there and not empty, as " name=value"; what stands before it is a space. */
static void
parameter(const struct sim_request *request, const char *name, const char *shown, struct sim_buf *buf)
{
	const char *value = sim_request_query(request, name);

	if (value && value[0])
		sim_buf_printf(buf, " %s=%s", shown, value);
}

void
sim_request_print(const struct sim_request *request, struct sim_buf *buf)
{
	const char *verb = sim_request_verb(request),
		   *bookmarks = sim_request_query(request, "allowWatchBookmarks");

	if (!request->resource) {
		sim_buf_printf(buf, "%s %s", request->method, request->url);
		return;
	}
	sim_buf_printf(buf, "%s %s", verb, request->resource->group_resource);
	if (request->name)
		sim_buf_printf(buf, " %s", request->name);
	if (request->subresource)
		sim_buf_printf(buf, "/%s", request->subresource);
	if (request->namespace_)
		sim_buf_printf(buf, " in %s", request->namespace_);
	if (strcmp(verb, "LIST") != 0 && strncmp(verb, "WATCH", 5) != 0)
		return;
	if (request->page > 1)
		sim_buf_printf(buf, " page=%u", request->page);
	parameter(request, "resourceVersion", "rv", buf);
	parameter(request, "resourceVersionMatch", "match", buf);
	parameter(request, "limit", "limit", buf);
	parameter(request, "timeoutSeconds", "timeout", buf);
	parameter(request, "labelSelector", "labels", buf);
	parameter(request, "fieldSelector", "fields", buf);
	if (bookmarks && !strcmp(bookmarks, "true"))
		sim_buf_puts(buf, " bookmarks");
}
