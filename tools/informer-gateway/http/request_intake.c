/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request from its first byte to the handler; see exchange.h. Each arrow is a call by libmicrohttpd.
 *
 *   begin -> headers -> whole -> handler                                  no body
 *   begin -> headers -> handler -> (body)* -> whole -> body_done           gw_read_body()
 *                               -> (body)* -> whole                        answered without it: discarded
 *
 * Until there is an answer the connection is suspended, in the call for the headers or in the last one. A
 * gw_reply function only stores the answer. The last call queues it: libmicrohttpd closes connections that
 * are answered earlier.
 */
#include "tools/informer-gateway/http/exchange_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-gateway/http/loopback.h"
#include "tools/informer-gateway/http/request_form.h"

void *
gw_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection)
{
	struct gw_listener *l = listener;
	struct gw_client *client = gw_client_of(connection);
	struct gw_exchange_state *s = api_alloc(sizeof(*s));
	const char *target = uri ? uri : "";

	*s = (struct gw_exchange_state){
		.x = {.api = {.connection = connection},
		      .listener = l,
		      .peer = &client->peer,
		      .target = api_strndup(target, strlen(target)),
		      .state = s},
		.client = client,
		.target_end = (uintptr_t)target + strlen(target) + 1,
	};
	client->x = &s->x;
	gw_client_phase(client, GW_READING);
	l->front->counters.exchanges++;
	l->front->counters.requests++;
	return &s->x;
}

static enum MHD_Result
queue(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;
	enum MHD_Result result;

	s->queued = true;
	s->client->answered = true;
	result = MHD_queue_response(x->api.connection, x->code, s->response);
	MHD_destroy_response(s->response);
	return result;
}

/* Answer before the request is read. The connection closes after the answer. */
static enum MHD_Result
refuse(struct gw_exchange *x)
{
	x->listener->front->counters.malformed++;
	x->state->close = true;
	gw_reply_status(x);
	return queue(x);
}

static enum MHD_Result
see(struct gw_exchange *x, const char *version)
{
	struct gw_exchange_state *s = x->state;
	const char *fault, *length;

	s->stage = GW_SEEN;
	s->older = strcmp(version, "HTTP/1.1") != 0;
	if (s->client->refused) {
		api_status_set(&x->api.status, 429, "TooManyRequests", GW_TOO_MANY);
		x->api.status.retry_after = 1;
		return refuse(x);
	}
	fault = gw_request_fault(&x->api, x->target, s->target_end, version);
	if (fault) {
		api_status_set(&x->api.status, 400, "BadRequest", "%s", fault);
		return refuse(x);
	}
	if (x->listener->options.loopback && !gw_loopback_host(api_request_header(&x->api, "Host"))) {
		api_status_set(&x->api.status, 403, "Forbidden",
			       "this listener is for clients on this machine, which name it by 127.0.0.1, "
			       "[::1] or localhost");
		return refuse(x);
	}
	length = api_request_header(&x->api, "Content-Length");
	s->body_bytes = length ? strtoull(length, NULL, 10) : 0;
	if (s->body_bytes > x->listener->options.body_bytes) {
		api_status_set(&x->api.status, 413, "RequestEntityTooLarge",
			       "Request entity too large: limit is %zu", x->listener->options.body_bytes);
		return refuse(x);
	}
	return MHD_YES;
}

/* ---- the body ---- */

void
gw_read_body(struct gw_exchange *x, gw_body_done *done, void *ctx)
{
	struct gw_exchange_state *s = x->state;

	if (!api_share_take(x->listener->front->bodies, s->body_bytes)) {
		api_status_set(&x->api.status, 429, "TooManyRequests",
			       "too many requests with a body are being read, please try again later");
		x->api.status.retry_after = 1;
		done(ctx, -ENOBUFS);
		return;
	}
	s->reserved = s->body_bytes;
	if (s->body_bytes == 0) {
		done(ctx, 0);
		return;
	}
	s->body_done = done;
	s->body_ctx = ctx;
	gw_exchange_go_on(x);
}

/* Keep the body if the handler asked for it, else discard it. */
static enum MHD_Result
collect(struct gw_exchange *x, const char *upload, size_t *size)
{
	if (x->state->body_done)
		api_buf_put(&x->body, upload, *size);
	*size = 0;
	return MHD_YES;
}

/* ---- the handler ---- */

/* Whether the client waits for "100 Continue" before it sends the body. */
static bool
waits_to_send(const struct gw_exchange *x)
{
	const char *expect = api_request_header(&x->api, "Expect");

	return expect && strcasecmp(expect, "100-continue") == 0;
}

/*
 * After the headers of a request with a body: receive the body. If the client waits with it and an answer
 * exists, answer at once.
 */
static enum MHD_Result
past_headers(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->response && waits_to_send(x))
		return queue(x);
	s->stage = GW_BODY;
	gw_client_phase(s->client, GW_READING);
	return MHD_YES;
}

/* After a call of the handler: queue the answer, receive the body, or suspend the connection. */
static enum MHD_Result
go_on(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;
	bool whole = s->body_bytes == 0 || s->stage == GW_BODY;

	if (!whole && (s->response || s->body_done))
		return past_headers(x);
	gw_client_phase(s->client, GW_BUSY);
	if (s->response)
		return queue(x);
	if (s->cut || s->client->hung_up)
		return MHD_NO;
	s->suspended = true;
	MHD_suspend_connection(x->api.connection);
	return MHD_YES;
}

static enum MHD_Result
hand_on(struct gw_exchange *x)
{
	x->state->stage = GW_HANDED;
	x->begun_ns = uv_hrtime();
	x->listener->handler(x, x->listener->ctx);
	return go_on(x);
}

/* The body is complete, and body_done waits for it. */
static enum MHD_Result
hand_body_on(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;
	gw_body_done *done = s->body_done;

	s->body_done = NULL;
	done(s->body_ctx, 0);
	return go_on(x);
}

static enum MHD_Result
at_headers(struct gw_exchange *x, const char *version)
{
	enum MHD_Result r = see(x, version);

	return r == MHD_NO || x->state->queued || x->state->body_bytes == 0 ? r : hand_on(x);
}

enum MHD_Result
gw_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url, const char *method,
		   const char *version, const char *upload, size_t *upload_size, void **request)
{
	struct gw_exchange *x = *request;

	(void)listener;
	(void)connection;
	if (!x || x->state->cut)
		return MHD_NO;
	x->api.url = url;
	x->api.method = method;
	if (x->state->stage == GW_BEGUN)
		return at_headers(x, version);
	if (*upload_size)
		return collect(x, upload, upload_size);
	if (x->state->stage == GW_SEEN)
		return hand_on(x);
	return x->state->body_done && x->state->stage == GW_BODY ? hand_body_on(x) : go_on(x);
}

static void
release(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->response && !s->queued)
		MHD_destroy_response(s->response);
	api_buf_done(&s->headers);
	api_buf_done(&x->body);
	api_share_give_back(x->listener->front->bodies, s->reserved);
	api_status_done(&x->api.status);
	free((void *)(uintptr_t)x->target);
	free(s);
}

void
gw_exchange_over(void *listener, struct MHD_Connection *connection, void **request,
		 enum MHD_RequestTerminationCode why)
{
	struct gw_listener *l = listener;
	struct gw_exchange *x = *request;
	struct gw_exchange_state *s;

	(void)connection;
	if (!x)
		return;
	*request = NULL;
	s = x->state;
	s->client->x = NULL;
	gw_client_phase(s->client, GW_IDLE);
	if (s->gone)
		s->gone(s->gone_ctx);
	if (s->ops) {
		s->ops->closed(s->stream);
		l->front->counters.streams--;
	}
	if (s->stage >= GW_HANDED && why != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		l->front->counters.gone++;
	l->front->counters.exchanges--;
	if (!s->queued)
		x->code = 0;
	if (l->front->options.over)
		l->front->options.over(x, l->front->options.ctx);
	if (x->done)
		x->done(x);
	release(x);
}
