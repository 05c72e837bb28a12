/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a GET by name with one look-up. Calls hooks.missing if there is no such object. */
#include <string.h>

#include "tools/informer-gateway/answer/router.h"
#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/answer.h"

static void
not_found(struct gw_exchange *x)
{
	gw_read_warn(x);
	api_status_not_found(&x->api.status, x->api.resource, x->api.name);
	gw_reply_status(x);
}

void
gw_reply_object(struct gw_exchange *x, struct api_object *object)
{
	struct api_buf body = {0};
	const char *type = api_answer_object(&x->api, object, 0, &body);

	x->rv = object->rv;
	gw_read_warn(x);
	gw_reply(x, 200, type, &body);
}

bool
gw_answer_object(struct gw_exchange *x)
{
	const struct api_store *store = &x->route->store->api;
	_cleanup_(api_object_unrefp) struct api_object *object = store->get(store->ctx, x->api.resource,
									    x->route->key.data);

	if (!object)
		return false;
	gw_reply_object(x, object);
	return true;
}

void
gw_answer_get(struct gw_exchange *x)
{
	const struct gw_hooks *hooks = &x->route->router->options.hooks;

	x->route->router->counters.gets++;
	if (gw_answer_object(x))
		return;
	if (hooks->missing)
		hooks->missing(hooks->ctx, x, not_found);
	else
		not_found(x);
}
