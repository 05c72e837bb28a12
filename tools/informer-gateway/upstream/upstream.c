/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to the API server, and small requests over them; see upstream.h. */
#include "tools/informer-gateway/upstream/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

struct gw_upstream {
	struct clock *clock;
	struct kube_client_config route;
	struct transport *own, *bare;
};

struct gw_ask {
	struct gw_upstream *upstream;
	struct transport_request *request; /* NULL: it could not be begun */
	struct clock_timer timer;
	int code; /* HTTP status, 0: none yet */
	struct api_buf body;
	gw_ask_fn *done;
	void *ctx;
};

int
gw_upstream_new(uv_loop_t *loop, struct clock *clock, const struct kube_client_config *config,
		struct gw_upstream **ret_upstream, char **ret_error)
{
	struct gw_upstream *u = api_alloc(sizeof(*u));
	int r;

	*u = (struct gw_upstream){.clock = clock};
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

struct clock *
gw_upstream_clock(const struct gw_upstream *upstream)
{
	return upstream->clock;
}

const char *
gw_upstream_server(const struct gw_upstream *upstream)
{
	return upstream->route.server;
}

/* ---- small requests ------------------------------------------------------------------------- */

static void
ask_free(struct gw_ask *ask)
{
	clock_clear(ask->upstream->clock, &ask->timer);
	api_buf_done(&ask->body);
	free(ask);
}

/* The end; nothing of libcurl's is under way. */
static void
ask_finish(struct gw_ask *ask, int code, const char *error)
{
	ask->done(ask->ctx, code, ask->body.data ? ask->body.data : "", ask->body.len, error);
	ask_free(ask);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct gw_ask *ask = ctx;

	ask->code = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct gw_ask *ask = ctx;

	if (len > GW_UPSTREAM_BODY_MAX - ask->body.len)
		return -EMSGSIZE;
	api_buf_put(&ask->body, data, len);
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct gw_ask *ask = ctx;

	ask_finish(ask, result < 0 ? result : ask->code, message);
}

static void
on_late(void *ctx)
{
	struct gw_ask *ask = ctx;

	transport_cancel(ask->request);
	ask_finish(ask, -ETIMEDOUT, "the API server did not answer in time");
}

static void
on_impossible(void *ctx)
{
	ask_finish(ctx, -EINVAL, "this cannot be asked");
}

static const struct transport_callbacks callbacks = {on_response, on_data, on_done};

struct gw_ask *
gw_upstream_post_json(struct gw_upstream *upstream, const char *path, const char *body, uint64_t timeout_ms,
		      gw_ask_fn *done, void *ctx)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	struct transport_order order = {.method = "POST",
					.path_and_query = path,
					.flags = TRANSPORT_UNTIMED,
					.headers = headers,
					.body = body,
					.body_length = strlen(body)};
	struct gw_ask *ask = api_alloc(sizeof(*ask));

	*ask = (struct gw_ask){.upstream = upstream, .done = done, .ctx = ctx};
	if (transport_send(upstream->own, &order, &callbacks, ask, &ask->request) < 0)
		clock_set(upstream->clock, &ask->timer, 0, on_impossible, ask);
	else
		clock_set(upstream->clock, &ask->timer, timeout_ms, on_late, ask);
	return ask;
}

void
gw_ask_cancel(struct gw_ask *ask)
{
	if (!ask)
		return;
	transport_cancel(ask->request);
	ask_free(ask);
}
