/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request on its way: collected, handed on, its connection suspended until there is an answer; see
 * exchange.h.
 *
 *   begin -> handle (headers) -> handle (body)* -> handle (whole) -> handler -+-> answer queued
 *                                                                            +-> suspended ... gw_reply ->
 *                                                                            resumed
 *                                                                                -> handle again -> answer
 *                                                                                queued
 *
 * An answer is only kept by the gw_reply functions; it is queued where libmicrohttpd calls.
 */
#include "tools/informer-gateway/exchange_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/request_form.h"
#include "tools/serving/gzip.h"
#include "tools/serving/proto_document.h"

#define GZIP_MIN ((size_t)128 * 1024)
#define HTTP_1_0_BLOCK ((size_t)16 * 1024)
#define HEADERS_MAX 16u

struct gw_exchange_state {
	struct gw_client *client;
	struct MHD_Connection *connection;
	uintptr_t target_end;
	bool seen;	/* its headers are */
	bool handed;	/* to the handler */
	bool suspended;
	bool cut;	/* no answer any more */
	bool queued;	/* the answer is libmicrohttpd's */
	bool too_large;
	bool older;	/* HTTP/1.0: no chunks */
	bool close;	/* behind the answer */
	void (*gone)(void *ctx);
	void *gone_ctx;
	struct MHD_Response *response;
	struct {
		char *name, *value;
	} headers[HEADERS_MAX];
	unsigned header_count;

	const struct gw_stream_ops *ops; /* NULL: no stream */
	void *stream;
	bool waiting;
	bool end_asked;
	uint64_t read_ms; /* when it gave something last; 0: it had nothing */
};

struct whole {
	struct gw_exchange x;
	struct gw_exchange_state state;
};

static struct gw_front *
front_of(const struct gw_exchange *x)
{
	return x->listener->front;
}

static uint64_t
now_ms(const struct gw_exchange *x)
{
	return uv_now(front_of(x)->loop);
}

/* ---- answers ---- */

void
gw_on_gone(struct gw_exchange *x, void (*fn)(void *ctx), void *ctx)
{
	x->state->gone = fn;
	x->state->gone_ctx = ctx;
}

void
gw_reply_header(struct gw_exchange *x, const char *name, const char *value)
{
	struct gw_exchange_state *s = x->state;

	if (s->header_count == HEADERS_MAX)
		return;
	s->headers[s->header_count].name = api_strndup(name, strlen(name));
	s->headers[s->header_count].value = api_strndup(value, strlen(value));
	s->header_count++;
}

static void
resume(struct gw_exchange_state *s)
{
	if (!s->suspended)
		return;
	s->suspended = false;
	MHD_resume_connection(s->connection);
	s->client->listener->resumed(s->client->listener);
}

void
gw_exchange_cut(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;
	void (*gone)(void *ctx) = s->gone;

	s->cut = true;
	/* a tunnel is none of libmicrohttpd's any more: who has it closes it */
	if (s->client->upgraded && gone) {
		s->gone = NULL;
		gone(s->gone_ctx);
		return;
	}
	s->waiting = false;
	resume(s);
}

void
gw_reply_nothing(struct gw_exchange *x)
{
	gw_on_gone(x, NULL, NULL);
	gw_exchange_cut(x);
}

void
gw_reply_response(struct gw_exchange *x, unsigned code, struct MHD_Response *response)
{
	struct gw_exchange_state *s = x->state;

	if (!response) {
		gw_reply_nothing(x);
		return;
	}
	if (code != MHD_HTTP_SWITCHING_PROTOCOLS)
		gw_on_gone(x, NULL, NULL);
	for (unsigned i = 0; i < s->header_count; i++)
		(void)MHD_add_response_header(response, s->headers[i].name, s->headers[i].value);
	if (s->close || front_of(x)->draining)
		(void)MHD_add_response_header(response, "Connection", "close");
	x->code = code;
	s->response = response;
	resume(s);
}

static void
reply_typed(struct gw_exchange *x, unsigned code, const char *type, struct MHD_Response *response)
{
	if (response) {
		(void)MHD_add_response_header(response, "Cache-Control", "no-cache, private");
		(void)MHD_add_response_header(response, "Content-Type", type);
	}
	gw_reply_response(x, code, response);
}

void
gw_reply_text(struct gw_exchange *x, unsigned code, const char *type, const char *text)
{
	x->sent = strlen(text);
	reply_typed(x, code, type,
		    MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
						    MHD_RESPMEM_PERSISTENT));
}

/* In JSON alone: it is what is worth it. */
static void
compress(struct gw_exchange *x, const char *type, struct api_buf *body)
{
	struct api_buf packed = {0};

	if (body->len <= GZIP_MIN || strncmp(type, "application/json", 16) != 0 ||
	    !gw_request_takes_gzip(x->state->connection))
		return;
	api_gzip(body->data, body->len, &packed);
	api_buf_done(body);
	*body = packed;
	gw_reply_header(x, "Content-Encoding", "gzip");
	gw_reply_header(x, "Vary", "Accept-Encoding");
}

void
gw_reply(struct gw_exchange *x, unsigned code, const char *type, struct api_buf *body)
{
	size_t length;

	api_buf_put(body, "", 0);
	compress(x, type, body);
	length = x->sent = body->len;
	reply_typed(x, code, type,
		    MHD_create_response_from_buffer(length, api_buf_take(body), MHD_RESPMEM_MUST_FREE));
}

/* What goes wrong is told in the client's first choice, but never in the shape of an object. */
static bool
wants_protobuf(const struct gw_exchange *x)
{
	struct api_offer offer = x->api.offer;
	struct api_shape shape;

	offer.typed = offer.protobuf;
	return offer.protobuf &&
	       api_shape_parse(api_request_header(&x->api, "Accept"), &offer, &shape) == 0 &&
	       shape.protobuf && shape.kind == API_PLAIN;
}

void
gw_reply_status(struct gw_exchange *x)
{
	struct api_status *status = &x->api.status;
	bool protobuf = wants_protobuf(x);
	struct api_buf body = {0};
	char seconds[16];

	if (status->code == 0)
		api_status_set(status, 500, "InternalError", "no answer was found");
	if (status->retry_after) {
		snprintf(seconds, sizeof(seconds), "%u", status->retry_after);
		gw_reply_header(x, "Retry-After", seconds);
	}
	if (protobuf) {
		api_status_encode(status, &body);
	} else {
		api_status_print(status, &body);
		api_buf_puts(&body, "\n");
	}
	gw_reply(x, (unsigned)status->code, protobuf ? API_PROTOBUF_TYPE : "application/json", &body);
}

/* ---- streams ---- */

static ssize_t
read_stream(void *ctx, uint64_t position, char *out, size_t max)
{
	struct gw_exchange *x = ctx;
	struct gw_exchange_state *s = x->state;
	ssize_t n;

	(void)position;
	if (s->cut)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = s->ops->read(s->stream, out, max);
	if (n > 0) {
		x->sent += (uint64_t)n;
		s->read_ms = now_ms(x) | 1;
		return n;
	}
	s->read_ms = 0;
	if (n == GW_STREAM_END)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n < 0 || s->client->hung_up)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	s->waiting = s->suspended = true;
	MHD_suspend_connection(s->connection);
	return 0;
}

void
gw_reply_stream(struct gw_exchange *x, unsigned code, const char *type, const struct gw_stream_ops *ops,
		void *ctx)
{
	struct gw_exchange_state *s = x->state;
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, s->older ? HTTP_1_0_BLOCK : 1, read_stream, x, NULL);

	s->ops = ops;
	s->stream = ctx;
	front_of(x)->counters.streams++;
	reply_typed(x, code, type, response);
}

void
gw_stream_wake(struct gw_exchange *x)
{
	if (!x->state->waiting)
		return;
	x->state->waiting = false;
	resume(x->state);
}

uint64_t
gw_stream_blocked_since(const struct gw_exchange *x)
{
	return x->state->waiting ? 0 : x->state->read_ms;
}

bool
gw_exchange_end_soon(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->end_asked || (!s->ops && !s->client->upgraded))
		return false;
	s->end_asked = true;
	if (s->ops && s->ops->end) {
		s->ops->end(s->stream);
		gw_stream_wake(x);
	} else {
		gw_exchange_cut(x);
	}
	return true;
}

/* ---- libmicrohttpd's calls ---- */

static void
on_hangup(struct gw_client *client)
{
	if (client->x && client->x->state->handed && !client->upgraded)
		gw_exchange_cut(client->x);
}

void *
gw_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection)
{
	struct gw_listener *l = listener;
	struct gw_client *client = gw_client_of(connection);
	struct whole *whole = api_alloc(sizeof(*whole));
	const char *target = uri ? uri : "";

	*whole = (struct whole){.x = {.listener = l, .state = &whole->state, .peer = &client->peer}};
	whole->x.api.connection = connection;
	whole->x.target = api_strndup(target, strlen(target));
	whole->state.client = client;
	whole->state.connection = connection;
	whole->state.target_end = (uintptr_t)target + strlen(target) + 1;
	client->x = &whole->x;
	client->on_hangup = on_hangup;
	gw_client_phase(client, GW_READING);
	l->front->counters.exchanges++;
	l->front->counters.requests++;
	return &whole->x;
}

static enum MHD_Result
queue(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;
	enum MHD_Result result;

	s->queued = true;
	s->client->answered = true;
	s->client->upgraded = x->code == MHD_HTTP_SWITCHING_PROTOCOLS;
	result = MHD_queue_response(s->connection, x->code, s->response);
	MHD_destroy_response(s->response);
	return result;
}

/* Answered before it was read: whatever else comes on this connection is not looked at. */
static enum MHD_Result
refuse(struct gw_exchange *x)
{
	front_of(x)->counters.malformed++;
	x->state->close = true;
	gw_reply_status(x);
	return queue(x);
}

static enum MHD_Result
too_large(struct gw_exchange *x)
{
	api_status_set(&x->api.status, 413, "RequestEntityTooLarge", "Request entity too large: limit is %zu",
		       x->listener->options.body_bytes);
	return refuse(x);
}

/* The certificate that the handshake verified. */
static bool
know(struct gw_client *client)
{
	const union MHD_ConnectionInfo *info;

	if (client->known || !client->tls)
		return true;
	info = MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	client->known = info && gw_peer_add_certificate(&client->peer, info->tls_session) == 0;
	return client->known;
}

static enum MHD_Result
see(struct gw_exchange *x, const char *version)
{
	struct gw_exchange_state *s = x->state;
	struct gw_request_form form = {.method = x->api.method,
				       .target = x->target,
				       .path = x->api.url,
				       .version = version,
				       .target_end = s->target_end};
	uint64_t bytes;
	const char *fault;

	s->seen = true;
	s->older = strcmp(version, "HTTP/1.1") != 0;
	if (s->client->refused) {
		api_status_set(&x->api.status, 429, "TooManyRequests", GW_TOO_MANY);
		x->api.status.retry_after = 1;
		return refuse(x);
	}
	fault = gw_request_fault(s->connection, &form);
	if (!fault && !know(s->client))
		fault = "the client's certificate cannot be read";
	if (fault) {
		api_status_set(&x->api.status, 400, "BadRequest", "%s", fault);
		return refuse(x);
	}
	bytes = gw_request_body_bytes(s->connection);
	return bytes != UINT64_MAX && bytes > x->listener->options.body_bytes ? too_large(x) : MHD_YES;
}

/* More of it than we keep is read over for as long as a request may take. */
static enum MHD_Result
collect(struct gw_exchange *x, const char *upload, size_t *size)
{
	if (x->body.len + *size > x->listener->options.body_bytes)
		x->state->too_large = true;
	else
		api_buf_put(&x->body, upload, *size);
	*size = 0;
	return MHD_YES;
}

static enum MHD_Result
hand_on(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->too_large)
		return too_large(x);
	s->handed = true;
	x->begun_ns = uv_hrtime();
	gw_client_phase(s->client, GW_BUSY);
	x->listener->handler(x, x->listener->ctx);
	if (s->response)
		return queue(x);
	if (s->cut || s->client->hung_up)
		return MHD_NO;
	s->suspended = true;
	MHD_suspend_connection(s->connection);
	return MHD_YES;
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
	if (x->state->response)
		return queue(x);
	if (!x->state->seen)
		return see(x, version);
	if (*upload_size)
		return collect(x, upload, upload_size);
	return x->state->handed ? MHD_NO : hand_on(x);
}

static void
release(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->response && !s->queued)
		MHD_destroy_response(s->response);
	for (unsigned i = 0; i < s->header_count; i++) {
		free(s->headers[i].name);
		free(s->headers[i].value);
	}
	api_buf_done(&x->body);
	api_status_done(&x->api.status);
	free((void *)(uintptr_t)x->target);
	free((struct whole *)x);
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
	if (s->handed && why != MHD_REQUEST_TERMINATED_COMPLETED_OK)
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
