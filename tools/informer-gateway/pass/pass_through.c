/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding requests to the API server; see pass_through.h. */
#include "tools/informer-gateway/pass/pass_through.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/pass/forward_headers.h"
#include "writer/base/message.h"

#define REQUESTS_MAX 1024u
#define BUFFER_HIGH                                                                                          \
	(256u << 10) /* unread bytes of an answer that pause upstream; below BUFFER_LOW upstream resumes */
#define BUFFER_LOW (64u << 10)

struct gw_pass_through {
	struct gw_upstream *upstream;
	struct gw_pass_through_options options;
	struct gw_pass_through_counters counters;
};

/* A request under way. The exchange owns it until the answer begins, then the stream does. */
struct passing {
	struct gw_pass_through *pass_through;
	struct gw_exchange *x;
	struct gw_header_lines headers;
	struct transport_request *request; /* NULL: not sent yet, or over */
	struct api_buf answer;
	size_t taken; /* bytes of the answer that the stream has sent */
	int code, result;
	char *type;
	bool write;    /* sending it twice may do harm */
	bool lines;    /* the answer is not protobuf: it ends between lines */
	char last;     /* last byte sent; '\n' at first */
	bool endless;  /* a watch, or a log with follow */
	bool bodyless; /* the answer has no body */
	bool paused, over, ending;
	void (*instead)(struct gw_exchange *x); /* NULL: 503 */
};

static void
passing_free(struct passing *p)
{
	p->pass_through->counters.active--;
	transport_cancel(p->request);
	gw_header_lines_done(&p->headers);
	api_buf_done(&p->answer);
	free(p->type);
	free(p);
}

static void
passing_gone(void *ctx)
{
	passing_free(ctx);
}

/* ---- towards the client --------------------------------------------------------------------- */

static ssize_t
end_of(struct passing *p)
{
	if (p->over && p->result < 0)
		p->pass_through->counters.broken++;
	if (p->over)
		return p->result < 0 ? GW_STREAM_BROKEN : GW_STREAM_END;
	/* end between two lines; protobuf, without lines, arrives event by event */
	return p->ending && p->endless && (p->last == '\n' || !p->lines) ? GW_STREAM_END : 0;
}

static ssize_t
read_answer(void *ctx, char *out, size_t max)
{
	struct passing *p = ctx;
	size_t left = p->answer.len - p->taken, n = left < max ? left : max;

	if (n == 0)
		return end_of(p);
	memcpy(out, p->answer.data + p->taken, n);
	p->taken += n;
	p->last = out[n - 1];
	if (n == left) {
		api_buf_reset(&p->answer);
		p->taken = 0;
	}
	if (p->paused && left - n < BUFFER_LOW && p->request) {
		p->paused = false;
		transport_resume(p->request);
	}
	return (ssize_t)n;
}

static void
end_soon(void *ctx)
{
	struct passing *p = ctx;

	p->ending = true;
}

static const struct gw_stream_ops stream_ops = {read_answer, end_soon, passing_gone};

static void
reply_absent(struct gw_exchange *x, const char *message, void (*instead)(struct gw_exchange *x))
{
	if (!instead) {
		api_status_set(&x->api.status, 503, "ServiceUnavailable",
			       "this is not served from the cache, and the API server cannot be asked: %s",
			       message);
		x->api.status.retry_after = 1;
		gw_reply_status(x);
		return;
	}
	gw_on_gone(x, NULL, NULL);
	gw_reply_header(x, "Warning",
			"299 - \"the API server cannot be asked: this is what the cache knows\"");
	instead(x);
}

/* No answer came. The API server may have received a write, so the client is not told to retry it. */
static void
reply_failure(struct gw_exchange *x, bool write, int result, const char *message,
	      void (*instead)(struct gw_exchange *x))
{
	bool never_sent = result == -ECONNREFUSED || result == -EHOSTUNREACH || result == -EKEYREJECTED;

	if (result == -EINVAL || result == -ENOMEM) {
		api_status_set(&x->api.status, 400, "BadRequest", "this request cannot be handed on");
	} else if (result == -EMSGSIZE || result == -EPROTO || (write && !never_sent)) {
		api_status_set(&x->api.status, 502, "InternalError", "the API server gave no answer: %s",
			       message);
	} else {
		reply_absent(x, message, instead);
		return;
	}
	gw_reply_status(x);
}

/* ---- from upstream -------------------------------------------------------------------------- */

static void
copy_headers(struct gw_exchange *x, const struct transport_response *response)
{
	struct transport_header h = {0};
	const char *connection = NULL;

	while (transport_header_next(response, &h))
		if (strcasecmp(h.name, "Connection") == 0)
			connection = h.value;
	h = (struct transport_header){0};
	while (transport_header_next(response, &h))
		if (gw_forward_answer(h.name, connection))
			gw_reply_header(x, h.name, h.value);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct passing *p = ctx;

	p->code = response->status;
	p->lines = !strstr(response->content_type, "protobuf");
	p->bodyless = p->bodyless || p->code == 204 || p->code == 304;
	copy_headers(p->x, response);
	if (p->bodyless)
		p->type = api_strndup(response->content_type, strlen(response->content_type));
	else
		gw_reply_stream(p->x, (unsigned)p->code, response->content_type, &stream_ops, p);
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct passing *p = ctx;

	if (p->bodyless)
		return 0;
	if (p->taken == p->answer.len) {
		api_buf_reset(&p->answer);
		p->taken = 0;
	}
	api_buf_put(&p->answer, data, len);
	if (p->answer.len - p->taken > BUFFER_HIGH) {
		p->paused = true;
		transport_pause(p->request);
	}
	gw_stream_wake(p->x);
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct passing *p = ctx;
	struct api_buf nothing = {0};

	p->request = NULL;
	p->over = true;
	p->result = result;
	if (p->code && !p->bodyless) {
		gw_stream_wake(p->x);
		return;
	}
	if (p->code) {
		gw_reply(p->x, (unsigned)p->code, p->type, &nothing);
	} else {
		p->pass_through->counters.absent++;
		reply_failure(p->x, p->write, result, message, p->instead);
	}
	passing_free(p);
}

/* ---- requests ------------------------------------------------------------------------------- */

/*
 * Whether a write would erase fields that the cache drops: the client read the object here, without them. A
 * Scale is not read here.
 */
static bool
would_erase(struct gw_pass_through *pt, struct gw_exchange *x)
{
	const struct api_request *api = &x->api;
	_cleanup_(api_buf_done) struct api_buf fields = {0};

	if ((strcmp(api->method, "PUT") != 0 && strcmp(api->method, "PATCH") != 0) || !api->resource ||
	    !pt->options.lacks || (api->subresource && strcmp(api->subresource, "scale") == 0) ||
	    !pt->options.lacks(pt->options.ctx, api->resource, &fields))
		return false;
	api_status_set(
		&x->api.status, 405, "MethodNotAllowed",
		"%s are cached, and read here, without %s: to write one back would erase what was left "
		"out; write to the API server itself",
		api->resource->group_resource, fields.data ? fields.data : "some of their fields");
	return true;
}

/* Send the request, with its body if it has one. */
static void
send_on(struct passing *p)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	struct gw_exchange *x = p->x;
	struct transport_order order = {
		.method = x->api.method,
		.path_and_query = x->target,
		.flags = TRANSPORT_PLAIN | TRANSPORT_WATCH | (p->write ? TRANSPORT_FRESH : 0),
		.headers = (const char *const *)p->headers.lines,
		.body = x->body.data,
		.body_length = x->body.len,
	};
	int r = transport_send(gw_upstream_bare(p->pass_through->upstream), &order, &callbacks, p,
			       &p->request);

	if (r < 0) {
		reply_failure(x, p->write, r, "", p->instead);
		passing_free(p);
	}
}

static void
body_read(void *ctx, int r)
{
	struct passing *p = ctx;

	if (r == 0) {
		send_on(p);
		return;
	}
	p->pass_through->counters.refused++;
	gw_reply_status(p->x);
	passing_free(p);
}

static bool
are_too_many(const struct gw_pass_through *pt, struct gw_exchange *x)
{
	if (pt->counters.active < pt->options.requests)
		return false;
	api_status_set(&x->api.status, 429, "TooManyRequests",
		       "too many requests are being handed on to the API server");
	x->api.status.retry_after = 1;
	return true;
}

void
gw_pass_through(struct gw_pass_through *pass_through, struct gw_exchange *x,
		void (*instead)(struct gw_exchange *x))
{
	struct gw_header_lines headers = {0};
	struct passing *p;

	pass_through->counters.requests++;
	if (gw_forward_request_of(x->api.connection, &headers, &x->api.status) < 0 ||
	    would_erase(pass_through, x) || are_too_many(pass_through, x)) {
		gw_header_lines_done(&headers);
		pass_through->counters.refused++;
		gw_reply_status(x);
		return;
	}
	p = api_alloc(sizeof(*p));
	*p = (struct passing){.pass_through = pass_through,
			      .x = x,
			      .instead = instead,
			      .headers = headers,
			      .write = !api_request_is_read(&x->api),
			      .last = '\n',
			      .bodyless = strcmp(x->api.method, "HEAD") == 0,
			      .endless = api_request_flag(&x->api, "watch") ||
					 api_request_flag(&x->api, "follow")};
	pass_through->counters.active++;
	gw_on_gone(x, passing_gone, p);
	gw_read_body(x, body_read, p);
}

/* ---- creating and freeing ------------------------------------------------------------------- */

struct gw_pass_through *
gw_pass_through_new(struct gw_upstream *upstream, const struct gw_pass_through_options *options,
		    char **ret_error)
{
	struct gw_pass_through *pt;

	if (!transport_may_authenticate(gw_upstream_bare(upstream))) {
		message_format(ret_error, "%s: callers' tokens are not handed on over a network without TLS",
			       gw_upstream_server(upstream));
		return NULL;
	}
	pt = api_alloc(sizeof(*pt));
	*pt = (struct gw_pass_through){.upstream = upstream, .options = *options};
	if (!pt->options.requests)
		pt->options.requests = REQUESTS_MAX;
	return pt;
}

void
gw_pass_through_free(struct gw_pass_through *pass_through)
{
	free(pass_through);
}

const struct gw_pass_through_counters *
gw_pass_through_counters(const struct gw_pass_through *pass_through)
{
	return &pass_through->counters;
}

void
gw_reply_upgrade(struct gw_exchange *x, const char *server)
{
	api_status_set(&x->api.status, 501, "NotImplemented",
		       "this gateway does not carry upgraded connections (exec, attach, port-forward, "
		       "proxy): ask the API server itself%s%s",
		       server ? " at " : "; this listener has none to name", server ? server : "");
	gw_reply_status(x);
}
