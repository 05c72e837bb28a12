/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: a gw_reply function stores one, and libmicrohttpd's next call queues it (request_intake.c); see
 * exchange.h.
 */
#include "tools/informer-gateway/http/exchange_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/http/request_form.h"
#include "tools/serving/answer.h"
#include "tools/serving/gzip.h"

#define GZIP_MIN ((size_t)128 * 1024)
#define HTTP_1_0_BLOCK ((size_t)16 * 1024)

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
	api_buf_put(&x->state->headers, name, strlen(name) + 1);
	api_buf_put(&x->state->headers, value, strlen(value) + 1);
}

void
gw_exchange_go_on(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (!s->suspended)
		return;
	s->suspended = false;
	MHD_resume_connection(x->api.connection);
	gw_listener_resumed(x->listener);
}

void
gw_exchange_cut(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	s->cut = true;
	s->waiting = false;
	gw_exchange_go_on(x);
}

/* Whether the client must reconnect. Drawn once, when the answer begins. */
static bool
sends_away(const struct gw_front *front)
{
	const struct gw_front_options *o = &front->options;

	return o->goaway_chance > 0 && o->draw(o->ctx) < o->goaway_chance;
}

/* Keep the answer until libmicrohttpd's next call. */
static void
reply(struct gw_exchange *x, unsigned code, const char *type, struct MHD_Response *response)
{
	struct gw_exchange_state *s = x->state;

	gw_on_gone(x, NULL, NULL);
	if (!response) {
		gw_exchange_cut(x);
		return;
	}
	(void)MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	(void)MHD_add_response_header(response, "Content-Type", type);
	for (size_t at = 0; at < s->headers.len;) {
		const char *name = s->headers.data + at, *value = name + strlen(name) + 1;

		(void)MHD_add_response_header(response, name, value);
		at += (size_t)(value - name) + strlen(value) + 1;
	}
	if (s->close || gw_front_draining(front_of(x)) || sends_away(front_of(x)))
		(void)MHD_add_response_header(response, "Connection", "close");
	x->code = code;
	s->response = response;
	gw_exchange_go_on(x);
}

/* Compress large JSON answers for clients that accept gzip. */
static void
compress(struct gw_exchange *x, const char *type, struct api_buf *body)
{
	struct api_buf packed = {0};

	if (body->len <= GZIP_MIN || strncmp(type, "application/json", 16) != 0 ||
	    !gw_request_takes_gzip(x->api.connection))
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
	reply(x, code, type,
	      MHD_create_response_from_buffer(length, api_buf_take(body), MHD_RESPMEM_MUST_FREE));
}

void
gw_reply_text(struct gw_exchange *x, unsigned code, const char *type, const char *text)
{
	struct api_buf body = {0};

	api_buf_puts(&body, text);
	gw_reply(x, code, type, &body);
}

void
gw_reply_status(struct gw_exchange *x)
{
	struct api_status *status = &x->api.status;
	struct api_buf body = {0};
	const char *type;
	char seconds[16];

	if (status->code == 0)
		api_status_set(status, 500, "InternalError", "no answer was found");
	if (status->retry_after) {
		snprintf(seconds, sizeof(seconds), "%u", status->retry_after);
		gw_reply_header(x, "Retry-After", seconds);
	}
	type = api_answer_status(&x->api, &body);
	gw_reply(x, (unsigned)status->code, type, &body);
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
	MHD_suspend_connection(x->api.connection);
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
	reply(x, code, type, response);
}

void
gw_stream_wake(struct gw_exchange *x)
{
	if (!x->state->waiting)
		return;
	x->state->waiting = false;
	gw_exchange_go_on(x);
}

uint64_t
gw_stream_blocked_since(const struct gw_exchange *x)
{
	return x->state->waiting ? 0 : x->state->read_ms;
}

/* libmicrohttpd waits until the socket is writable, and notices the cut there. */
void
gw_stream_drop(struct gw_exchange *x)
{
	gw_exchange_cut(x);
	gw_client_cut(x->state->client);
}

bool
gw_exchange_end_soon(struct gw_exchange *x)
{
	struct gw_exchange_state *s = x->state;

	if (s->end_asked || !s->ops)
		return false;
	s->end_asked = true;
	if (s->ops->end) {
		s->ops->end(s->stream);
		gw_stream_wake(x);
	} else {
		gw_exchange_cut(x);
	}
	return true;
}
