/* SPDX-License-Identifier: Apache-2.0 */
/* Two transports to the API server, and reviews over the gateway's own one; see upstream.h. */
#include "tools/informer-gateway/upstream/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

struct gw_upstream {
	struct kube_client_config route;
	struct transport *own, *bare;
};

/* A review under way. */
struct call {
	struct transport_request *request;
	int code; /* HTTP status, 0: none yet */
	struct api_buf body;
	gw_review_answer *answer;
	void *ctx;
};

int
gw_upstream_new(uv_loop_t *loop, const struct kube_client_config *config, struct gw_upstream **ret_upstream,
		char **ret_error)
{
	struct gw_upstream *u = api_alloc(sizeof(*u));
	int r;

	*u = (struct gw_upstream){0};
	r = kube_client_config_copy_route(config, &u->route);
	if (r == 0) {
		u->route.http1_only = true;
		u->route.compression = KUBE_COMPRESSION_NONE;
		r = transport_new(loop, &u->route, &u->bare, ret_error);
	}
	if (r == 0)
		r = transport_new(loop, config, &u->own, ret_error);
	if (r < 0)
		gw_upstream_free(u);
	else
		*ret_upstream = u;
	return r;
}

void
gw_upstream_free(struct gw_upstream *upstream)
{
	if (!upstream)
		return;
	transport_free(upstream->own);
	transport_free(upstream->bare);
	kube_client_config_done(&upstream->route);
	free(upstream);
}

struct transport *
gw_upstream_bare(const struct gw_upstream *upstream)
{
	return upstream->bare;
}

const char *
gw_upstream_server(const struct gw_upstream *upstream)
{
	return upstream->route.server;
}

/* ---- reviews -------------------------------------------------------------------------------- */

static void
call_free(struct call *call)
{
	api_buf_done(&call->body);
	free(call);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct call *call = ctx;

	call->code = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct call *call = ctx;

	if (len > GW_UPSTREAM_BODY_MAX - call->body.len)
		return -EMSGSIZE;
	api_buf_put(&call->body, data, len);
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct call *call = ctx;

	call->answer(call->ctx, result < 0 ? result : call->code, call->body.data ? call->body.data : "",
		     call->body.len, message);
	call_free(call);
}

static void *
post(void *ctx, const char *path, const char *document, gw_review_answer *answer, void *answer_ctx)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	struct transport_order order = {.method = "POST",
					.path_and_query = path,
					.flags = TRANSPORT_UNTIMED,
					.headers = headers,
					.body = document,
					.body_length = strlen(document)};
	struct gw_upstream *upstream = ctx;
	struct call *call = api_alloc(sizeof(*call));

	*call = (struct call){.answer = answer, .ctx = answer_ctx};
	if (transport_send(upstream->own, &order, &callbacks, call, &call->request) == 0)
		return call;
	call_free(call);
	return NULL;
}

static void
cancel(void *ctx)
{
	struct call *call = ctx;

	transport_cancel(call->request);
	call_free(call);
}

struct gw_review_way
gw_upstream_reviews(struct gw_upstream *upstream)
{
	return (struct gw_review_way){upstream, post, cancel};
}
