/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport request: one request from its order to its result, between libcurl and its callbacks. Used by
 * transport.c alone, which keeps the list of requests and says when one may begin and end.
 *
 * Invariant: from inside libcurl a request changes only itself, the time at which the server was heard, and
 * counts. It calls its callbacks unless it is silenced; it never adds a request to libcurl or removes one.
 */
#ifndef WRITER_KUBE_TRANSPORT_REQUEST_H
#define WRITER_KUBE_TRANSPORT_REQUEST_H

#include <curl/curl.h>

#include "writer/kube/credentials.h"
#include "writer/kube/transport.h"
#include "writer/kube/transport_loop.h"
#include "writer/kube/transport_ping.h"
#include "writer/kube/transport_setup.h"

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

static inline bool
transport_request_is_silenced(const struct transport_request *request)
{
	return request->cancelled || request->transport->closing;
}

static inline uint64_t
transport_now_ms(const struct transport *transport)
{
	return uv_now(transport->loop.loop);
}

/* As transport_send(); it is in no list yet. */
int transport_request_new(struct transport *transport, const struct transport_order *order,
			  const struct transport_callbacks *callbacks, void *ctx,
			  struct transport_request **ret_request);
/* libcurl does not have it any more. */
void transport_request_free(struct transport_request *request);

/*
 * Give it to libcurl, with credentials. Outside libcurl.
 *
 * Returns  0; -EAGAIN: there are no credentials yet; other negative errno, with message
 */
int transport_request_start(struct transport_request *request, char **ret_message);

/* libcurl is done with it: count it. Returns what on_done() is to be told, with message. */
int transport_request_end(struct transport_request *request, CURLcode code, char **ret_message);

#endif
