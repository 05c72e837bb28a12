/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting and refusing the kubelet's paths; see kubelet_paths.h. */
#include "tools/informer-gateway/answer/kubelet_paths.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/answer.h"

static bool
is_path(const char *url, const char *path)
{
	size_t length = strlen(path);

	return !strncmp(url, path, length) && (!url[length] || !strcmp(url + length, "/"));
}

/* As api_value_fn: the parameter and the headers of the list. */
static bool
value_of_list(const struct api_request *request, enum MHD_ValueKind kind, const char *name,
	      const char **ret_value)
{
	/* the request is the first member of its exchange */
	const struct gw_exchange *x = (const struct gw_exchange *)request;

	if (kind == MHD_GET_ARGUMENT_KIND && !strcmp(name, "fieldSelector"))
		*ret_value = x->route->pods_of_node.data;
	else if (kind == MHD_HEADER_KIND && strcasecmp(name, "Accept") != 0)
		MHD_lookup_connection_value_n(request->connection, kind, name, strlen(name), ret_value, NULL);
	return *ret_value;
}
_Static_assert(offsetof(struct gw_exchange, api) == 0, "value_of_list() needs it");

bool
gw_kubelet_path(struct gw_exchange *x)
{
	bool pods = is_path(x->api.url, "/pods");

	if (!pods && !is_path(x->api.url, "/runningpods"))
		return false;
	if (strcmp(x->api.method, "GET") != 0) {
		api_status_no_method(&x->api.status);
		gw_reply_header(x, "Allow", "GET");
	} else if (!pods) {
		api_status_set(
			&x->api.status, 501, "NotImplemented",
			"the container runtime is not asked here: GET /pods has the node's pods as the "
			"API server knows them");
	} else {
		x->node = x->route->router->options.node;
		api_buf_printf(&x->route->pods_of_node, "spec.nodeName=%s", x->node);
		x->api.url = "/api/v1/pods";
		x->api.value = value_of_list;
		return false;
	}
	gw_reply_status(x);
	return true;
}
