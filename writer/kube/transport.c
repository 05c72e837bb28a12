/*
 * Transport: libcurl's multi interface driven by libuv.
 *
 * libcurl tells which sockets (on_socket) and which timeout (on_timeout) it wants watched;
 * libuv calls back when one is ready, and curl_multi_socket_action() goes on, calling the
 * header and body callbacks. libcurl forbids adding and removing requests from inside those, so
 * whatever a caller asks for is only noted, and done by kick(), a timer of zero that runs
 * in the loop's next turn:
 *
 *	transport_get     NEW      ── kick ──▶ ACTIVE ──▶ on_done
 *	transport_cancel  cancelled ── kick ──▶ freed, without a word
 *	transport_resume  resume   ── kick ──▶ curl_easy_pause(CURLPAUSE_CONT)
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

#include "writer/kube/token.h"
#include "writer/kube/transport_setup.h"
#include "writer/message.h"

struct transport_request {
	struct transport *transport;
	struct transport_request *prev, *next;
	uint64_t serial;
	const struct transport_callbacks *callbacks;
	void *ctx;
	CURL *easy;
	struct curl_slist *headers;
	bool active;	/* libcurl has it */
	bool cancelled;
	bool responded; /* on_response was called */
	bool paused;
	bool resume;	/* to be told to libcurl */
	int abort_code; /* what on_data returned */
	char detail[CURL_ERROR_SIZE];
};

/* One socket of libcurl's that libuv watches. */
struct watched {
	uv_poll_t poll;
	struct transport *transport;
	struct watched *prev, *next;
	curl_socket_t fd;
};

struct transport {
	struct kube_client_config config;
	struct transport_setup setup;
	struct token token;
	CURLM *multi;
	uv_loop_t *loop;
	uv_timer_t timeout, kick;
	struct watched *watched;
	struct transport_request *requests;
	uint64_t last_serial;
	unsigned depth;
	size_t n_handles; /* of libuv, not closed yet */
	bool closing;
	struct transport_stats stats;
};

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
		curl_multi_remove_handle(t->multi, request->easy);
	curl_easy_cleanup(request->easy);
	transport_setup_headers_free(request->headers);
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

static size_t
on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct transport_request *request = ctx;
	struct transport_response response = {0};
	size_t len = size * n;
	long status = 0, connects = 0;
	curl_off_t retry_after = 0;
	char *content_type = NULL;

	if (is_silenced(request))
		return 0;
	if (request->responded || len == 0 || (line[0] != '\r' && line[0] != '\n'))
		return len; /* not the empty line that ends the header, or a trailer */
	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return len; /* 100 Continue and the like: another header follows */
	curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &content_type);
	curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &retry_after);
	curl_easy_getinfo(request->easy, CURLINFO_NUM_CONNECTS, &connects);
	request->transport->stats.connections += (unsigned long)connects;
	if (status == 401)
		token_reject(&request->transport->token);
	request->responded = true;
	response.status = (int)status;
	response.content_type = content_type ? content_type : "";
	response.retry_after_s = retry_after > 0 ? (long)retry_after : 0;
	if (request->callbacks->on_response)
		request->callbacks->on_response(request->ctx, &response);
	return is_silenced(request) ? 0 : len;
}

static size_t
on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct transport_request *request = ctx;
	size_t len = size * n;
	int r;

	if (is_silenced(request) || request->abort_code)
		return 0;
	if (request->paused)
		return CURL_WRITEFUNC_PAUSE; /* libcurl keeps these bytes and reads no more */
	if (len == 0)
		return 0;
	r = request->callbacks->on_data(request->ctx, data, len);
	if (r < 0)
		request->abort_code = r;
	return r < 0 || is_silenced(request) ? 0 : len;
}

static void
finish_transfer(struct transport_request *request, CURLcode code)
{
	_cleanup_(message_freep) char *message = NULL;
	int result = 0;

	if (request->abort_code)
		result = message_set(&message, request->abort_code, "%s: the answer was refused here", request->transport->config.server);
	else if (code != CURLE_OK)
		result = transport_setup_explain(&request->transport->setup, request->easy, code, request->detail,
						 &message);
	else if (!request->responded)
		result = message_set(&message, -EPROTO, "%s: an answer without a header",
				     request->transport->config.server);
	request_finish(request, result, result ? message : "");
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void teardown(struct transport *t);

static void
enter(struct transport *t)
{
	t->depth++;
}

static void
finish_transfers(struct transport *t)
{
	struct transport_request *request;
	CURLMsg *message;
	int left;

	while (!t->closing && (message = curl_multi_info_read(t->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		finish_transfer(request, message->data.result);
	}
}

static void
leave(struct transport *t)
{
	if (t->depth == 1)
		finish_transfers(t);
	if (--t->depth == 0 && t->closing)
		teardown(t);
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct watched *w = (struct watched *)(void *)poll;
	struct transport *t = w->transport;
	int action = 0, running;

	if (status < 0)
		action = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		action |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		action |= CURL_CSELECT_OUT;
	enter(t);
	curl_multi_socket_action(t->multi, w->fd, action, &running);
	leave(t);
}

static void
on_timeout_passed(uv_timer_t *timer)
{
	struct transport *t = timer->data;
	int running;

	enter(t);
	curl_multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	leave(t);
}

static int
on_timeout(CURLM *multi, long timeout_ms, void *ctx)
{
	struct transport *t = ctx;

	(void)multi;
	if (t->closing || timeout_ms < 0)
		uv_timer_stop(&t->timeout);
	else
		uv_timer_start(&t->timeout, on_timeout_passed, (uint64_t)timeout_ms, 0);
	return 0;
}

static void
handle_gone(struct transport *t)
{
	if (--t->n_handles > 0)
		return;
	transport_setup_done(&t->setup);
	token_done(&t->token);
	kube_client_config_done(&t->config);
	free(t);
}

static void
on_watched_closed(uv_handle_t *handle)
{
	struct watched *w = (struct watched *)(void *)handle;
	struct transport *t = w->transport;

	free(w);
	handle_gone(t);
}

static void
on_timer_closed(uv_handle_t *handle)
{
	handle_gone(handle->data);
}

static void
unwatch(struct watched *w)
{
	struct transport *t = w->transport;

	if (w->prev)
		w->prev->next = w->next;
	else
		t->watched = w->next;
	if (w->next)
		w->next->prev = w->prev;
	uv_poll_stop(&w->poll);
	uv_close((uv_handle_t *)&w->poll, on_watched_closed);
}

static struct watched *
watch(struct transport *t, curl_socket_t fd)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (uv_poll_init_socket(t->loop, &w->poll, fd) < 0) {
		free(w);
		return NULL;
	}
	t->n_handles++;
	w->transport = t;
	w->fd = fd;
	w->next = t->watched;
	if (w->next)
		w->next->prev = w;
	t->watched = w;
	curl_multi_assign(t->multi, fd, w);
	return w;
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
	struct transport *t = ctx;
	struct watched *w = socket_ctx;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w) {
			curl_multi_assign(t->multi, fd, NULL);
			unwatch(w);
		}
		return 0;
	}
	if (!w)
		w = watch(t, fd);
	if (!w)
		return -1;
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	return uv_poll_start(&w->poll, events, on_ready) < 0 ? -1 : 0;
}

/* ---- what callers asked for -------------------------------------------------------------- */

static void
start_request(struct transport_request *request)
{
	_cleanup_(message_freep) char *error = NULL, *message = NULL;
	struct transport *t = request->transport;
	const char *bearer = NULL;
	int r;

	r = token_get(&t->token, uv_now(t->loop), &bearer, &error);
	if (r < 0) {
		message_set(&message, r, "the token to show to %s cannot be read: %s", t->config.server,
			    error ? error : "no memory");
		request_finish(request, r == -ENOMEM ? -ENOMEM : -EACCES, message);
		return;
	}
	request->headers = transport_setup_headers(&t->setup, bearer);
	if (!request->headers ||
	    curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers) != CURLE_OK ||
	    curl_multi_add_handle(t->multi, request->easy) != CURLM_OK) {
		request_finish(request, -ENOMEM, NULL);
		return;
	}
	request->active = true;
	t->stats.requests_started++;
}

static void
resume_request(struct transport_request *request)
{
	struct transport *t = request->transport;
	CURLcode code;
	int running;

	request->resume = false;
	code = curl_easy_pause(request->easy, CURLPAUSE_CONT); /* hands on what it kept, from in here */
	if (request->abort_code || (code != CURLE_OK && !is_silenced(request)))
		finish_transfer(request, code);
	else /* it wants to go on at once, but not every libcurl tells its timer so */
		curl_multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static bool
serve_one(struct transport *t, uint64_t up_to)
{
	for (struct transport_request *request = t->requests; request; request = request->next) {
		if (request->cancelled)
			request_free(request);
		else if (!request->active && request->serial <= up_to)
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

int
transport_get(struct transport *transport, const char *path_and_query, unsigned flags,
	      const struct transport_callbacks *callbacks, void *ctx, struct transport_request **ret_request)
{
	struct transport_request *request;
	int r;

	if (path_and_query[0] != '/' || transport->closing)
		return -EINVAL;
	for (const char *p = path_and_query; *p; p++)
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
			return -EINVAL;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	request->easy = curl_easy_init();
	r = request->easy ? transport_setup_request(&transport->setup, request->easy, path_and_query,
						    flags & TRANSPORT_WATCH)
			  : -ENOMEM;
	if (r == 0 && (curl_easy_setopt(request->easy, CURLOPT_ERRORBUFFER, request->detail) != CURLE_OK ||
		       curl_easy_setopt(request->easy, CURLOPT_PRIVATE, request) != CURLE_OK ||
		       curl_easy_setopt(request->easy, CURLOPT_HEADERFUNCTION, on_header) != CURLE_OK ||
		       curl_easy_setopt(request->easy, CURLOPT_HEADERDATA, request) != CURLE_OK ||
		       curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, on_body) != CURLE_OK ||
		       curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request) != CURLE_OK))
		r = -ENOMEM;
	if (r < 0) {
		curl_easy_cleanup(request->easy);
		free(request);
		return r;
	}
	request->transport = transport;
	request->serial = ++transport->last_serial;
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

/* ---- the transport itself ------------------------------------------------------------------ */

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
	t->loop = loop;
	r = kube_client_config_copy(config, &t->config);
	if (r == 0)
		r = token_init(&t->token, &t->config);
	if (r == 0)
		r = transport_setup_init(&t->setup, &t->config, ret_error);
	if (r == 0 && !(t->multi = curl_multi_init()))
		r = -ENOMEM;
	if (r < 0) {
		transport_setup_done(&t->setup);
		token_done(&t->token);
		kube_client_config_done(&t->config);
		free(t);
		return r;
	}
	curl_multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
	curl_multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
	curl_multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
	curl_multi_setopt(t->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	uv_timer_init(loop, &t->timeout);
	uv_timer_init(loop, &t->kick);
	t->timeout.data = t->kick.data = t;
	t->n_handles = 2;
	*ret_transport = t;
	return 0;
}

static void
teardown(struct transport *t)
{
	while (t->requests)
		request_free(t->requests);
	curl_multi_cleanup(t->multi); /* closes connections, which unwatches their sockets */
	while (t->watched)
		unwatch(t->watched);
	uv_close((uv_handle_t *)&t->timeout, on_timer_closed);
	uv_close((uv_handle_t *)&t->kick, on_timer_closed);
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

const char *
transport_server(const struct transport *transport)
{
	return transport->config.server;
}

void
transport_stats(const struct transport *transport, struct transport_stats *ret_stats)
{
	*ret_stats = transport->stats;
}
