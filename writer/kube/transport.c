/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport: the requests of libcurl's multi interface, which transport_loop.c drives by libuv, and when
 * each begins and ends (transport_request.h).
 *
 * libcurl forbids adding and removing requests from inside its callbacks. So a caller's call is only noted;
 * kick(), a timer of zero, carries it out in the loop's next turn:
 *
 *	transport_get     NEW      ── kick ──▶ ACTIVE ──▶ on_done
 *	transport_cancel  cancelled ── kick ──▶ freed, without a call
 *	transport_resume  resume   ── kick ──▶ curl_easy_pause(CURLPAUSE_CONT)
 *
 * A NEW request waits while a credential plugin runs. After a 401 a request becomes NEW again, once, if other
 * credentials may be had; that first answer is not reported. Neither holds for TRANSPORT_AT_HAND.
 *
 * While libcurl or a callback runs, `depth` is above zero. A transport_free() then only sets `closing`, which
 * silences everything; the outermost leave() tears down.
 */
#include "writer/kube/transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "writer/kube/transport_request.h"
#include "writer/base/message.h"

static void kick(struct transport *t);

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void
init_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- requests --------------------------------------------------------------------------- */

static void
request_remove(struct transport_request *request)
{
	struct transport *t = request->transport;

	if (request->active)
		curl_multi_remove_handle(t->loop.multi, request->easy);
	if (request->prev)
		request->prev->next = request->next;
	else
		t->requests = request->next;
	if (request->next)
		request->next->prev = request->prev;
	t->stats.requests_active--;
	transport_request_free(request);
}

/* End a request: call on_done unless it was cancelled, and free it. Not from inside libcurl. */
static void
request_finish(struct transport_request *request, int result, const char *message)
{
	if (!request->cancelled) {
		request->callbacks->on_done(request->ctx, result, message ? message : "no memory");
	}
	if (!request->transport->closing) /* else teardown() frees it with the others */
		request_remove(request);
	else
		request->cancelled = true;
}

/* Send the request once more, with other credentials. */
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

static void
finish_transfer(struct transport_request *request, CURLcode code)
{
	_cleanup_(message_freep) char *message = NULL;
	int result;

	if (request->refused && !transport_request_is_silenced(request)) {
		renew(request);
		return;
	}
	result = transport_request_end(request, code, &message);
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

/* Fail all active requests. Requests that callers make meanwhile stay. */
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

/* ---- the callers' calls ------------------------------------------------------------------ */

static void
start_request(struct transport_request *request)
{
	_cleanup_(message_freep) char *message = NULL;
	int r = transport_request_start(request, &message);

	if (r == -EAGAIN)
		request->waiting = true;
	else if (r < 0)
		request_finish(request, r, message);
}

static void
resume_request(struct transport_request *request)
{
	struct transport *t = request->transport;
	CURLcode code;

	request->resume = false;
	code = curl_easy_pause(request->easy, CURLPAUSE_CONT); /* may call on_data with what it kept */
	if (request->abort_code || (code != CURLE_OK && !transport_request_is_silenced(request)))
		finish_transfer(request, code);
	else /* go on at once: not every libcurl sets its timer for that */
		transport_loop_turn(&t->loop);
}

static bool
serve_one(struct transport *t, uint64_t up_to)
{
	for (struct transport_request *request = t->requests; request; request = request->next) {
		if (request->cancelled)
			request_remove(request);
		else if (!request->active && !request->waiting && request->serial <= up_to)
			start_request(request);
		else if (request->active && request->resume)
			resume_request(request);
		else
			continue;
		return true; /* the list may have changed */
	}
	return false;
}

static void
on_kick(uv_timer_t *timer)
{
	struct transport *t = timer->data;
	uint64_t up_to = t->last_serial; /* a request that a callback starts waits for the next turn */

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

int
transport_send(struct transport *transport, const struct transport_order *order,
	       const struct transport_callbacks *callbacks, void *ctx, struct transport_request **ret_request)
{
	struct transport_request *request;
	int r;

	if (order->path_and_query[0] != '/' || !kube_is_printable(order->path_and_query) ||
	    transport->closing)
		return -EINVAL;
	r = transport_request_new(transport, order, callbacks, ctx, &request);
	if (r < 0)
		return r;
	request->serial = ++transport->last_serial;
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
	return transport->heard_ms ? transport_now_ms(transport) - transport->heard_ms : UINT64_MAX;
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
		request_remove(t->requests);
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
