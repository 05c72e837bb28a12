/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request from its order to its result, between libcurl and its callbacks. Only transport.c uses it,
 * which keeps the list of requests and decides when each begins and ends.
 *
 * Invariant: from inside libcurl a request changes only itself, counters, and the time at which the server
 * was heard. It calls its callbacks unless it is silenced. It never adds a request to libcurl or removes one.
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
	struct curl_slist *ordered; /* headers of the order */
	size_t header_bytes;	    /* of the answer */
	bool active;                /* libcurl has the request */
	bool lost;                  /* fails together with all others */
	bool cancelled;
	bool paused;
	bool responded; /* on_response was called */
	bool resume;    /* libcurl must be told to resume */
	bool waiting;   /* waits for credentials */
	bool refused;   /* answered 401, but credentials may be renewed: send again */
	bool renewed;   /* it was sent again */
	unsigned long generation; /* of the credentials that were sent */
	int abort_code;           /* what on_data returned */
	char *etag;               /* of the known document; or NULL */
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
	uint64_t heard_ms; /* when something last came; 0: never */
	unsigned depth;
	unsigned n_parts; /* loop, kick and ping that are still being closed */
	bool closing;
	void (*on_connection)(void *ctx); /* or NULL */
	void *connection_ctx;
	uint64_t ca_reread_until_ms; /* the CA file's old content is out of libcurl's cache by then */
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

/* As transport_send(). The request is in no list yet. */
int transport_request_new(struct transport *transport, const struct transport_order *order,
			  const struct transport_callbacks *callbacks, void *ctx,
			  struct transport_request **ret_request);
/* The caller has removed the request from libcurl. */
void transport_request_free(struct transport_request *request);

/*
 * Give the request to libcurl, with credentials. Called outside libcurl.
 *
 * Returns  0; -EAGAIN: there are no credentials yet; other negative errno, with message
 */
int transport_request_start(struct transport_request *request, char **ret_message);

/* libcurl is done with the request: count it. Returns the result for on_done(), with message. */
int transport_request_end(struct transport_request *request, CURLcode code, char **ret_message);

#endif
