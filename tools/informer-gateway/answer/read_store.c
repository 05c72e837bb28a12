/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the store for a read; see routing.h. */
#include "tools/informer-gateway/answer/routing.h"

/* The value of a parameter; NULL: not given, or empty. */
static const char *
given(const struct api_request *request, const char *name)
{
	const char *text = api_request_query(request, name);

	return text && text[0] ? text : NULL;
}

int
gw_read_open(struct gw_exchange *x, struct gw_store **ret_store)
{
	struct gw_route *route = x->route;
	const struct gw_source *source = &route->router->options.source;
	struct gw_want want = {.resource = x->api.resource, .namespace_ = x->api.namespace_};

	if (route->list) {
		want.labels = given(&x->api, "labelSelector");
		want.fields = given(&x->api, "fieldSelector");
		want.narrow = x->reads.narrow;
	} else {
		api_buf_reset(&route->key);
		api_object_key(&route->key, x->api.namespace_, x->api.name);
		want.key = route->key.data;
	}
	return source->open(source->ctx, &want, ret_store);
}

void
gw_read_warn(struct gw_exchange *x)
{
	const char *why = x->route->store->warning(x->route->store);
	_cleanup_(api_buf_done) struct api_buf text = {0};

	if (!why)
		return;
	api_buf_puts(&text, "299 - ");
	api_buf_json_str(&text, why);
	gw_reply_header(x, "Warning", text.data);
}

uint64_t
gw_read_rv(const struct gw_exchange *x)
{
	const struct api_store *store = &x->route->store->api;

	return store->rv(store->ctx, x->api.resource);
}
