/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/kube/transport_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"
#include "writer/kube/transport_order.h"

/* ---- callbacks of libcurl ---- */

static void
count_connections(const struct transport_request *request, long connects)
{
	struct transport *t = request->transport;

	t->stats.connections += (unsigned long)connects;
	if (connects > 0 && t->on_connection && !(request->flags & TRANSPORT_OWN_CONNECTION))
		t->on_connection(t->connection_ctx);
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

	request->transport->heard_ms = transport_now_ms(request->transport);
	if (transport_request_is_silenced(request))
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
	return transport_request_is_silenced(request) ? 0 : len;
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

	request->transport->heard_ms = transport_now_ms(request->transport);
	if (transport_request_is_silenced(request) || request->abort_code)
		return 0;
	if (request->refused)
		return len;
	if (request->paused)
		return CURL_WRITEFUNC_PAUSE; /* libcurl keeps these bytes and reads no more */
	r = request->callbacks->on_data(request->ctx, data, len);
	if (r < 0 && !transport_request_is_silenced(request))
		request->abort_code = r;
	return r < 0 || transport_request_is_silenced(request) ? 0 : len;
}

/* ---- public functions ---- */

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

static int
prepare(struct transport *t, struct transport_request *request, const struct transport_order *order)
{
	int r;

	t->setup.ca_reread = transport_now_ms(t) < t->ca_reread_until_ms;
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
transport_request_new(struct transport *transport, const struct transport_order *order,
		      const struct transport_callbacks *callbacks, void *ctx,
		      struct transport_request **ret_request)
{
	struct transport_request *request = calloc(1, sizeof(*request));
	int r;

	if (!request)
		return -ENOMEM;
	request->transport = transport;
	request->flags = order->flags;
	request->callbacks = callbacks;
	request->ctx = ctx;
	r = prepare(transport, request, order);
	if (r < 0)
		transport_request_free(request);
	else
		*ret_request = request;
	return r;
}

void
transport_request_free(struct transport_request *request)
{
	curl_easy_cleanup(request->easy);
	transport_setup_headers_free(request->headers);
	transport_setup_headers_free(request->ordered);
	free(request->etag);
	free(request);
}

int
transport_request_start(struct transport_request *request, char **ret_message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct transport *t = request->transport;
	struct credentials_now now;
	int r = credentials_get(&t->credentials, transport_now_ms(t), &now, &error);

	if (r < 0 && (request->flags & TRANSPORT_AT_HAND)) {
		credentials_at_hand(&t->credentials, &now);
		r = 0;
	}
	if (r == -EAGAIN)
		return r;
	if (r < 0) {
		message_set(ret_message, r, "there are no credentials to show to %s: %s", t->config.server,
			    error ? error : "no memory");
		return r == -ENOMEM ? -ENOMEM : -EACCES;
	}
	request->generation = now.generation;
	if (transport_setup_identity(&t->setup, request->easy, request->flags, &now, request->etag,
				     request->ordered, &request->headers) < 0 ||
	    curl_multi_add_handle(t->loop.multi, request->easy) != CURLM_OK)
		return -ENOMEM;
	request->active = true;
	t->stats.requests_started++;
	transport_ping_started(&t->ping, request);
	return 0;
}

static void
count_transfer(struct transport_request *request, CURLcode code)
{
	curl_off_t took_us = 0;

	if (!request->responded)
		request_stats_answer(&request->transport->requests_seen, 0);
	else if (!(request->flags & TRANSPORT_WATCH) && code == CURLE_OK &&
		 curl_easy_getinfo(request->easy, CURLINFO_TOTAL_TIME_T, &took_us) == CURLE_OK)
		request_stats_duration(&request->transport->requests_seen, (double)took_us / 1e6);
}

static const char *
why_refused(const struct transport_request *request)
{
	return request->abort_code == -EMSGSIZE ? "the answer, or its header, is too long"
						: "the answer was refused here";
}

int
transport_request_end(struct transport_request *request, CURLcode code, char **ret_message)
{
	struct transport *t = request->transport;
	int result = 0;

	count_transfer(request, code);
	if (code == CURLE_SSL_CERTPROBLEM) /* the files may have been read while they were written */
		credentials_refuse(&t->credentials, request->generation);
	if (request->abort_code)
		result = message_set(ret_message, request->abort_code, "%s: %s", t->config.server,
				     why_refused(request));
	else if (code != CURLE_OK && transport_loop_was_cut(&t->loop))
		result = message_set(ret_message, -ETIMEDOUT,
				     "%s: the connection was silent for %llu s, and the server did not "
				     "answer a question; it is taken for dead",
				     t->config.server,
				     (unsigned long long)(t->ping.idle_ms + t->ping.wait_ms) / 1000);
	else if (code != CURLE_OK)
		result = transport_setup_explain(&t->setup, request->easy, code, request->detail,
						 ret_message);
	else if (!request->responded)
		result = message_set(ret_message, -EPROTO, "%s: an answer without a header",
				     t->config.server);
	if (result == -EKEYREJECTED)
		t->ca_reread_until_ms = transport_now_ms(t) + TRANSPORT_SETUP_CA_CACHE_S * 1000u;
	return result;
}
