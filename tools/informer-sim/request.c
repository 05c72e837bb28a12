/* SPDX-License-Identifier: Apache-2.0 */
/* A request's text, and waiting for its RV; see request.h. */
#include "tools/informer-sim/request.h"

#include <string.h>

int
sim_request_socket(const struct api_request *request)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection,
								       MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

const char *
sim_request_verb(const struct api_request *request)
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

/* Append a query parameter as " name=value", if it is not empty. */
static void
parameter(const struct sim_request *request, const char *name, const char *shown, struct api_buf *buf)
{
	const char *value = api_request_query(&request->api, name);

	if (value && value[0])
		api_buf_printf(buf, " %s=%s", shown, value);
}

void
sim_request_print(const struct sim_request *request, struct api_buf *buf)
{
	const char *verb = sim_request_verb(&request->api),
		   *bookmarks = api_request_query(&request->api, "allowWatchBookmarks");

	if (!request->api.resource) {
		api_buf_printf(buf, "%s %s", request->api.method, request->api.url);
		return;
	}
	api_buf_printf(buf, "%s %s", verb, request->api.resource->group_resource);
	if (request->api.name)
		api_buf_printf(buf, " %s", request->api.name);
	if (request->api.subresource)
		api_buf_printf(buf, "/%s", request->api.subresource);
	if (request->api.namespace_)
		api_buf_printf(buf, " in %s", request->api.namespace_);
	if (strcmp(verb, "LIST") != 0 && strncmp(verb, "WATCH", 5) != 0)
		return;
	if (request->page > 1)
		api_buf_printf(buf, " page=%u", request->page);
	parameter(request, "resourceVersion", "rv", buf);
	parameter(request, "resourceVersionMatch", "match", buf);
	parameter(request, "limit", "limit", buf);
	parameter(request, "timeoutSeconds", "timeout", buf);
	parameter(request, "labelSelector", "labels", buf);
	parameter(request, "fieldSelector", "fields", buf);
	if (bookmarks && !strcmp(bookmarks, "true"))
		api_buf_puts(buf, " bookmarks");
}

int
sim_request_await(struct sim_request *request, uint64_t rv)
{
	uint64_t current;

	if (sim_store_wait_rv(request->server->store, rv, request->server->options.await_ms, &current) < 0)
		return api_status_too_large_rv(&request->api.status, rv, current);
	return 0;
}
