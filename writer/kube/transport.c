/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport: requests of libcurl's multi interface, which transport_loop.c drives by libuv.
 *
 * libcurl forbids adding and removing requests from inside those, so
 * whatever a caller asks for is only noted, and done by kick(), a timer of zero that runs
 * in the loop's next turn:
 *
 *	transport_get     NEW      ── kick ──▶ ACTIVE ──▶ on_done
 *	transport_cancel  cancelled ── kick ──▶ freed, without a word
 *	transport_resume  resume   ── kick ──▶ curl_easy_pause(CURLPAUSE_CONT)
 *
 * A NEW request waits while a credential plugin runs. One that was answered 401 is NEW again, once, where
 * other credentials may be had; nobody hears of that first answer. Neither is for TRANSPORT_AT_HAND.
 *
 * While libcurl or a callback runs, `depth` is above zero; a transport_free() then only sets
 * `closing`, which silences everything, and the outermost leave() tears down.
 */
#include "writer/kube/transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "writer/kube/credentials.h"
#include "writer/kube/transport_loop.h"
#include "writer/kube/transport_order.h"
#include "writer/kube/transport_ping.h"
#include "writer/kube/transport_setup.h"
#include "writer/base/message.h"

struct transport_request {
	struct transport *transport;
	struct transport_request *prev, *next;
	uint64_t serial;
	const struct transport_callbacks *callbacks;
	unsigned flags;			/* enum transport_flags */
	void *ctx;
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *ordered; /* headers of its order */
	size_t header_bytes;	    /* of the answer */
	bool active;	/* libcurl has it */
	bool lost;	/* it is to fail with all others */
	bool cancelled;
	bool paused;
	bool responded; /* on_response was called */
	bool resume;	/* to be told to libcurl */
	bool waiting;	/* for credentials */
	bool refused;	/* answered 401 with credentials that may be renewed: to be asked again */
	bool renewed;	/* it was */
	bool watch;	/* endless: its duration says nothing */
	unsigned long generation; /* of the credentials it was sent with */
	int abort_code;           /* what on_data returned */
	char *etag;               /* of what is known; or NULL */
	char detail[CURL_ERROR_SIZE];
};

struct transport {
	struct kube_client_config config;
	struct transport_setup setup;
	struct credentials credentials;
	struct transport_loop loop;
	struct transport_ping ping;
	uv_timer_t kick;
	struct transport_request *requests;
	uint64_t last_serial;
	uint64_t heard_ms; /* when something last came; 0: nothing did */
	unsigned depth;
	unsigned n_parts; /* loop, kick and ping, while they are being closed */
	bool closing;
	void (*on_connection)(void *ctx); /* or NULL */
	void *connection_ctx;
	uint64_t ca_doubted_until_ms; /* what was read of its file until now is out of the cache by then */
	struct transport_stats stats;
	struct request_stats requests_seen;
};

static void kick(struct transport *t);

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void
init_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- requests --------------------------------------------------------------------------- */

static void
request_free(struct transport_request *request)
{
	struct transport *t = request->transport;

	if (request->active)
		curl_multi_remove_handle(t->loop.multi, request->easy);
	curl_easy_cleanup(request->easy);
	transport_setup_headers_free(request->headers);
	transport_setup_headers_free(request->ordered);
	free(request->etag);
	if (request->prev)
		request->prev->next = request->next;
	else
		t->requests = request->next;
	if (request->next)
		request->next->prev = request->prev;
	t->stats.requests_active--;
	free(request);
}

/* The end of a request: on_done, if somebody still listens, and free. Not from inside libcurl. */
static void
request_finish(struct transport_request *request, int result, const char *message)
{
	if (!request->cancelled) {
		request->callbacks->on_done(request->ctx, result, message ? message : "no memory");
	}
	if (!request->transport->closing) /* else teardown() frees it with the others */
		request_free(request);
	else
		request->cancelled = true;
}

static bool
is_silenced(const struct transport_request *request)
{
	return request->cancelled || request->transport->closing;
}

static void
count_connections(const struct transport_request *request, long connects)
{
	struct transport *t = request->transport;

	t->stats.connections += (unsigned long)connects;
	if (connects > 0 && t->on_connection && !(request->flags & TRANSPORT_ASIDE))
		t->on_connection(t->connection_ctx);
}

static uint64_t
now_ms(const struct transport *transport)
{
	return uv_now(transport->loop.loop);
}

static size_t
on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct transport_request *request = ctx;
	struct transport_response response = {0};
	size_t len = size * n;
	long status = 0, connects = 0;
	curl_off_t retry_after = 0;
	char *content_type = NULL;
	struct curl_header *etag;

	request->transport->heard_ms = now_ms(request->transport);
	if (is_silenced(request))
		return 0;
	request->header_bytes += len;
	if (request->header_bytes > TRANSPORT_HEADER_MAX) {
		request->abort_code = -EMSGSIZE;
		return 0;
	}
	if (request->responded || request->refused || len == 0 || (line[0] != '\r' && line[0] != '\n'))
		return len; /* not the empty line that ends the header, or a trailer */
	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return len; /* 100 Continue and the like: another header follows */
	curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &content_type);
	curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &retry_after);
	curl_easy_getinfo(request->easy, CURLINFO_NUM_CONNECTS, &connects);
	count_connections(request, connects);
	request_stats_answer(&request->transport->requests_seen, status);
	if (status == 401 && credentials_refuse(&request->transport->credentials, request->generation) &&
	    !request->renewed && !(request->flags & TRANSPORT_AT_HAND)) {
		request->refused = true;
		return len;
	}
	request->responded = true;
	response.status = (int)status;
	response.content_type = content_type ? content_type : "";
	response.retry_after_s = retry_after > 0 ? (long)retry_after : 0;
	response.etag = curl_easy_header(request->easy, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK
				? etag->value
				: "";
	response.easy_ = request->easy;
	if (request->callbacks->on_response)
		request->callbacks->on_response(request->ctx, &response);
	return is_silenced(request) ? 0 : len;
}

bool
transport_header_next(const struct transport_response *response, struct transport_header *header)
{
	struct curl_header *h = curl_easy_nextheader(response->easy_, CURLH_HEADER, -1, header->at_);

	*header = (struct transport_header){h ? h->name : NULL, h ? h->value : NULL, h};
	return h;
}

static size_t
on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct transport_request *request = ctx;
	size_t len = size * n;
	int r;

	request->transport->heard_ms = now_ms(request->transport);
	if (is_silenced(request) || request->abort_code)
		return 0;
	if (request->refused)
		return len;
	if (request->paused)
		return CURL_WRITEFUNC_PAUSE; /* libcurl keeps these bytes and reads no more */
	r = request->callbacks->on_data(request->ctx, data, len);
	if (r < 0 && !is_silenced(request))
		request->abort_code = r;
	return r < 0 || is_silenced(request) ? 0 : len;
}

static void
count_transfer(struct transport_request *request, CURLcode code)
{
	curl_off_t took_us = 0;

	if (!request->responded)
		request_stats_answer(&request->transport->requests_seen, 0);
	else if (!request->watch && code == CURLE_OK &&
		 curl_easy_getinfo(request->easy, CURLINFO_TOTAL_TIME_T, &took_us) == CURLE_OK)
		request_stats_duration(&request->transport->requests_seen, (double)took_us / 1e6);
}

/* Once more, with other credentials. */
static void
renew(struct transport_request *request)
{
	curl_multi_remove_handle(request->transport->loop.multi, request->easy);
	request->active = false;
	request->refused = false;
	request->renewed = true;
	request->header_bytes = 0;
	request->detail[0] = '\0';
	kick(request->transport);
}

static const char *
why_refused(const struct transport_request *request)
{
	return request->abort_code == -EMSGSIZE ? "the answer, or its header, is too long"
						: "the answer was refused here";
}

static void
finish_transfer(struct transport_request *request, CURLcode code)
{
	_cleanup_(message_freep) char *message = NULL;
	int result = 0;

	if (request->refused && !is_silenced(request)) {
		renew(request);
		return;
	}
	count_transfer(request, code);
	if (code == CURLE_SSL_CERTPROBLEM) /* files that were being written when they were read */
		credentials_refuse(&request->transport->credentials, request->generation);
	if (request->abort_code)
		result = message_set(&message, request->abort_code, "%s: %s",
				     request->transport->config.server, why_refused(request));
	else if (code != CURLE_OK && transport_loop_was_cut(&request->transport->loop))
		result = message_set(&message, -ETIMEDOUT,
				     "%s: the connection was silent for %llu s, and the server did not "
				     "answer a question; it is taken for dead",
				     request->transport->config.server,
				     (unsigned long long)(request->transport->ping.idle_ms +
							  request->transport->ping.wait_ms) /
					     1000);
	else if (code != CURLE_OK)
		result = transport_setup_explain(&request->transport->setup, request->easy, code,
						 request->detail, &message);
	else if (!request->responded)
		result = message_set(&message, -EPROTO, "%s: an answer without a header",
				     request->transport->config.server);
	if (result == -EKEYREJECTED)
		request->transport->ca_doubted_until_ms = now_ms(request->transport) +
							  TRANSPORT_SETUP_CA_CACHE_S * 1000u;
	request_finish(request, result, result ? message : "");
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void teardown(struct transport *t);

static void
enter(void *owner)
{
	struct transport *t = owner;

	t->depth++;
}

static void
finish_transfers(struct transport *t)
{
	struct transport_request *request;
	CURLMsg *message;
	int left;

	while (!t->closing && (message = curl_multi_info_read(t->loop.multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		finish_transfer(request, message->data.result);
	}
}

/* All that is under way ends; what callers ask for meanwhile is not. */
static void
fail_transfers(struct transport *t)
{
	struct transport_request *request;

	for (request = t->requests; request; request = request->next)
		request->lost = request->active;
	do {
		for (request = t->requests; request && !request->lost; request = request->next)
			;
		if (request) {
			request->lost = false;
			finish_transfer(request, CURLE_OUT_OF_MEMORY);
		}
	} while (request && !t->closing);
}

static void
leave(void *owner)
{
	struct transport *t = owner;

	if (t->depth == 1)
		finish_transfers(t);
	if (t->depth == 1 && transport_loop_broke(&t->loop))
		fail_transfers(t);
	if (--t->depth == 0 && t->closing)
		teardown(t);
}

/* ---- what callers asked for -------------------------------------------------------------- */

static void
start_request(struct transport_request *request)
{
	_cleanup_(message_freep) char *error = NULL, *message = NULL;
	struct transport *t = request->transport;
	struct credentials_now now;
	int r;

	r = credentials_get(&t->credentials, now_ms(t), &now, &error);
	if (r < 0 && (request->flags & TRANSPORT_AT_HAND)) {
		credentials_at_hand(&t->credentials, &now);
		r = 0;
	}
	if (r == -EAGAIN) {
		request->waiting = true;
		return;
	}
	if (r < 0) {
		message_set(&message, r, "there are no credentials to show to %s: %s", t->config.server,
			    error ? error : "no memory");
		request_finish(request, r == -ENOMEM ? -ENOMEM : -EACCES, message);
		return;
	}
	request->generation = now.generation;
	if (transport_setup_identity(&t->setup, request->easy, request->flags, &now, request->etag,
				     request->ordered, &request->headers) < 0 ||
	    curl_multi_add_handle(t->loop.multi, request->easy) != CURLM_OK) {
		request_finish(request, -ENOMEM, NULL);
		return;
	}
	request->active = true;
	t->stats.requests_started++;
	transport_ping_started(&t->ping, request);
}

static void
resume_request(struct transport_request *request)
{
	struct transport *t = request->transport;
	CURLcode code;

	request->resume = false;
	code = curl_easy_pause(request->easy, CURLPAUSE_CONT); /* hands on what it kept, from in here */
	if (request->abort_code || (code != CURLE_OK && !is_silenced(request)))
		finish_transfer(request, code);
	else /* it wants to go on at once, but not every libcurl tells its timer so */
		transport_loop_turn(&t->loop);
}

static bool
serve_one(struct transport *t, uint64_t up_to)
{
	for (struct transport_request *request = t->requests; request; request = request->next) {
		if (request->cancelled)
			request_free(request);
		else if (!request->active && !request->waiting && request->serial <= up_to)
			start_request(request);
		else if (request->active && request->resume)
			resume_request(request);
		else
			continue;
		return true; /* the list may be another one now */
	}
	return false;
}

static void
on_kick(uv_timer_t *timer)
{
	struct transport *t = timer->data;
	uint64_t up_to = t->last_serial; /* one that a callback starts waits for the next turn */

	enter(t);
	while (!t->closing && serve_one(t, up_to))
		;
	leave(t);
}

static void
kick(struct transport *t)
{
	if (!t->closing)
		uv_timer_start(&t->kick, on_kick, 0, 0);
}

static int
set_callbacks(struct transport_request *request)
{
	CURL *easy = request->easy;

	return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->detail) == CURLE_OK &&
			       curl_easy_setopt(easy, CURLOPT_PRIVATE, request) == CURLE_OK &&
			       curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
			       curl_easy_setopt(easy, CURLOPT_HEADERDATA, request) == CURLE_OK &&
			       curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
			       curl_easy_setopt(easy, CURLOPT_WRITEDATA, request) == CURLE_OK
		       ? 0
		       : -ENOMEM;
}

/* What goes wrong here leaves the request's parts to the caller. */
static int
prepare(struct transport *t, struct transport_request *request, const struct transport_order *order)
{
	int r;

	t->setup.ca_doubted = now_ms(t) < t->ca_doubted_until_ms;
	request->easy = curl_easy_init();
	request->etag = order->etag ? strdup(order->etag) : NULL;
	if (!request->easy || (order->etag && !request->etag))
		return -ENOMEM;
	r = transport_setup_request(&t->setup, request->easy, order->path_and_query, order->flags);
	if (r == 0)
		r = transport_order_set(request->easy, order);
	if (r == 0 && (order->method || order->headers || order->body_length))
		r = transport_order_headers(order, &request->ordered);
	return r < 0 ? r : set_callbacks(request);
}

int
transport_send(struct transport *transport, const struct transport_order *order,
	       const struct transport_callbacks *callbacks, void *ctx, struct transport_request **ret_request)
{
	struct transport_request *request;
	int r;

	if (order->path_and_query[0] != '/' || !kube_is_printable(order->path_and_query) ||
	    transport->closing)
		return -EINVAL;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	r = prepare(transport, request, order);
	if (r < 0) {
		curl_easy_cleanup(request->easy);
		transport_setup_headers_free(request->ordered);
		free(request->etag);
		free(request);
		return r;
	}
	request->transport = transport;
	request->watch = order->flags & TRANSPORT_WATCH;
	request->serial = ++transport->last_serial;
	request->flags = order->flags;
	request->callbacks = callbacks;
	request->ctx = ctx;
	request->next = transport->requests;
	if (request->next)
		request->next->prev = request;
	transport->requests = request;
	transport->stats.requests_active++;
	kick(transport);
	if (ret_request)
		*ret_request = request;
	return 0;
}

int
transport_get(struct transport *transport, const char *path_and_query, unsigned flags,
	      const struct transport_callbacks *callbacks, void *ctx, struct transport_request **ret_request)
{
	struct transport_order order = {.path_and_query = path_and_query, .flags = flags};

	return transport_send(transport, &order, callbacks, ctx, ret_request);
}

void
transport_cancel(struct transport_request *request)
{
	if (!request)
		return;
	request->cancelled = true;
	kick(request->transport);
}

void
transport_pause(struct transport_request *request)
{
	request->paused = true;
	request->resume = false;
}

void
transport_resume(struct transport_request *request)
{
	if (!request->paused)
		return;
	request->paused = false;
	request->resume = true;
	kick(request->transport);
}

uint64_t
transport_silent_ms(const struct transport *transport)
{
	return transport->heard_ms ? now_ms(transport) - transport->heard_ms : UINT64_MAX;
}

/* ---- the transport itself ------------------------------------------------------------------ */

static void
on_credentials(void *ctx)
{
	struct transport *t = ctx;

	for (struct transport_request *request = t->requests; request; request = request->next)
		request->waiting = false;
	kick(t);
}

static void
on_gone(void *owner)
{
	struct transport *t = owner;

	if (--t->n_parts > 0)
		return;
	transport_setup_done(&t->setup);
	kube_client_config_done(&t->config);
	free(t);
}

static void
on_kick_closed(uv_handle_t *handle)
{
	on_gone(handle->data);
}

static void
on_ping_closed(uv_handle_t *handle)
{
	struct transport_ping *ping = handle->data;

	on_gone(ping->transport);
}

static void
teardown(struct transport *t)
{
	while (t->requests)
		request_free(t->requests);
	t->n_parts = 3;
	credentials_done(&t->credentials);
	transport_loop_close(&t->loop);
	uv_close((uv_handle_t *)&t->kick, on_kick_closed);
	transport_ping_stop(&t->ping);
	uv_close((uv_handle_t *)&t->ping.timer, on_ping_closed);
}

static const struct transport_ping_ways ping_ways = {transport_get, transport_cancel, transport_stats};

int
transport_new(uv_loop_t *loop, const struct kube_client_config *config, struct transport **ret_transport,
	      char **ret_error)
{
	struct transport *t;
	int r;

	pthread_once(&curl_once, init_curl);
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->loop = (struct transport_loop){.enter = enter, .leave = leave, .gone = on_gone, .owner = t};
	r = kube_client_config_copy(config, &t->config);
	if (r == 0)
		r = credentials_init(&t->credentials, loop, &t->config, on_credentials, t);
	if (r == 0)
		r = transport_setup_init(&t->setup, &t->config, ret_error);
	if (r == 0)
		r = transport_loop_init(&t->loop, loop);
	if (r < 0) {
		transport_setup_done(&t->setup);
		credentials_done(&t->credentials);
		kube_client_config_done(&t->config);
		free(t);
		return r;
	}
	uv_timer_init(loop, &t->kick);
	t->kick.data = t;
	transport_ping_init(&t->ping, t, &ping_ways, &t->loop);
	*ret_transport = t;
	return 0;
}

void
transport_free(struct transport *transport)
{
	if (!transport || transport->closing)
		return;
	transport->closing = true;
	if (transport->depth == 0)
		teardown(transport);
}

void
transport_on_connection(struct transport *transport, void (*on_connection)(void *ctx), void *ctx)
{
	transport->on_connection = on_connection;
	transport->connection_ctx = ctx;
}

bool
transport_may_authenticate(const struct transport *transport)
{
	return transport->setup.may_authenticate;
}

const char *
transport_server(const struct transport *transport)
{
	return transport->config.server;
}

void
transport_stats(const struct transport *transport, struct transport_stats *ret_stats)
{
	*ret_stats = transport->stats;
	ret_stats->dead_connections = transport->loop.cuts;
	for (const struct transport_request *request = transport->requests; request; request = request->next)
		ret_stats->requests_paused += request->paused;
}

const struct request_stats *
transport_requests(const struct transport *transport)
{
	return &transport->requests_seen;
}
