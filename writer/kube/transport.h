/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport sends requests to one API server, on one libuv loop (libcurl's multi_socket interface). Most
 * are GETs; transport_send() sends others. Bodies are passed on as they arrive and never collected, so a LIST
 * of any size and an endless WATCH are handled alike.
 *
 *	transport_get ──▶ on_response (once, unless it failed before) ──▶ on_data* ──▶ on_done (once)
 *
 * Invariants
 * - Callbacks run on the loop's thread, from the loop. None runs before transport_get() returned, or after
 *   transport_cancel().
 * - on_done is called exactly once for each request that was not cancelled. In it the request's pointer is
 *   valid for the last time.
 * - A callback may start, cancel, pause and resume any request, its own too, and may call transport_free().
 *
 * Settings: HTTP/2 with multiplexing over TLS if the server offers it, else HTTP/1.1 with kept connections
 * (always if DISABLE_HTTP2 is in the environment, as with kubectl); at least TLS 1.2; connect timeout 10 s;
 * User-Agent, Accept, credentials; gzip for finite JSON answers of servers on other machines. Redirects are
 * not followed. The proxy is the kubeconfig's, else the environment's (proxy.h). A finite answer (no
 * TRANSPORT_WATCH) without data for 90 s fails.
 *
 * A dead connection is noticed within a minute: a peer that is gone by TCP keepalive and TCP_USER_TIMEOUT; a
 * peer that is there but does not answer by a ping after 45 s (transport_ping.h). Requests on it fail with
 * -ETIMEDOUT, and the next request makes another connection.
 *
 * The process must ignore SIGPIPE (OpenSSL writes to sockets without MSG_NOSIGNAL).
 *
 * Threads: everything on the loop's thread.
 */
#ifndef WRITER_KUBE_TRANSPORT_H
#define WRITER_KUBE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "writer/kube/kubeconfig.h"
#include "writer/kube/request_stats.h"

/* Message for a final 401; takes the server's URL. */
#define TRANSPORT_UNAUTHORIZED "%s does not accept the credentials (401): check the kubeconfig's user"

/* The Content-Type of protobuf, without parameters. */
#define TRANSPORT_PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

struct transport;
struct transport_request;

/* What is known when the header is complete. Borrowed for the callback. */
struct transport_response {
	int status;			/* 200, 410, ... never 1xx */
	const char *content_type;	/* "" when the server sent none */
	long retry_after_s;		/* seconds; 0 when the server sent none */
	const char *etag;               /* as sent, in quotes; "" when there was none */
	void *easy_;			/* for transport_header_next() */
};

/* Iterates over a response's headers, within on_response. Zeroed before the first step. */
struct transport_header {
	const char *name, *value; /* borrowed for the callback */
	void *at_;
};
/* Step to the next header, in the order of arrival. False: there are no more. */
bool transport_header_next(const struct transport_response *response, struct transport_header *header);

struct transport_callbacks {
	/* The header is complete. May be NULL. */
	void (*on_response)(void *ctx, const struct transport_response *response);

	/*
	 * Bytes of the body, also of error answers (then a Status; see status.h).
	 * Returns 0, or a negative number to abort: on_done then gets that number.
	 */
	int (*on_data)(void *ctx, const void *data, size_t len);

	/*
	 * The end. result is 0 when a whole answer came, whatever its status; else
	 *   -ECONNREFUSED  nobody listens there
	 *   -ETIMEDOUT     connecting took 10 s, keepalive or a ping found the peer dead, or 90 s of silence
	 *   -EHOSTUNREACH  no such host, or no route
	 *   -EPROTO        TLS failed, or what came is not HTTP
	 *   -EKEYREJECTED  the server's certificate is not trusted or not for this name
	 *   -ECONNRESET    the connection ended before the answer did
	 *   -EACCES        credentials cannot be read (token file, client certificate or key)
	 *   -EMSGSIZE      the answer's header is longer than TRANSPORT_HEADER_MAX
	 *   -EIO           anything else of libcurl's
	 *   or what on_data returned
	 * message        one sentence with the server's URL (never a secret); "" when result is 0
	 */
	void (*on_done)(void *ctx, int result, const char *message);
};

enum transport_flags {
	TRANSPORT_WATCH = 1 << 0, /* an endless answer: no compression, silence is normal */
	TRANSPORT_FRESH = 1 << 1, /* over a new connection: an existing one may be dead */
	/* metadata only: PartialObjectMetadataList, with TRANSPORT_WATCH PartialObjectMetadata */
	TRANSPORT_METADATA = 1 << 2,
	/* /apis with all resources (APIGroupDiscoveryList), if the server can */
	TRANSPORT_DISCOVERY = 1 << 3,
	/*
	 * over a connection of its own, which ends with the request and is not reported
	 * (transport_on_connection())
	 */
	TRANSPORT_OWN_CONNECTION = 1 << 4,
	/* the user's request timeout does not apply: the caller limits the time */
	TRANSPORT_UNTIMED = 1 << 5,
	/* protobuf, or JSON if the server has no protobuf of it */
	TRANSPORT_PROTOBUF = 1 << 6,
	/* without metadata.managedFields, if the server can leave them out (KEP-5958) */
	TRANSPORT_DROP_MANAGED = 1 << 7,
	/*
	 * with the present credentials, if any: the request neither waits for new ones nor is repeated with
	 * them
	 */
	TRANSPORT_AT_HAND = 1 << 8,
	/*
	 * as it is: no headers but those of the order, the credentials, and what HTTP needs. The answer's
	 * bytes come as sent, packed or not.
	 */
	TRANSPORT_PLAIN = 1 << 9,
	/* with TRANSPORT_METADATA, in JSON: whole objects if the server has no metadata alone */
	TRANSPORT_ELSE_WHOLE = 1 << 10,
};

#define TRANSPORT_HEADER_MAX (256u << 10)	/* bytes of an answer's header */

/* A request with more than a path. Borrowed for the call. */
struct transport_order {
	const char *method;		/* NULL: GET */
	const char *path_and_query;
	unsigned flags;			/* enum transport_flags */
	const char *etag;               /* of the known document: 304 suffices if it is still this; or NULL */
	const char *const *headers;	/* "Name: value", in this order; ended by NULL; or NULL */
	const void *body;
	size_t body_length;
};

/*
 * Make a transport for `config` (copied). No connection is made yet.
 *
 * Returns   0, or a negative errno with message
 * Lifetime  the loop must outlive the transport, and run once more after transport_free()
 */
int transport_new(uv_loop_t *loop, const struct kube_client_config *config, struct transport **ret_transport,
		  char **ret_error);

/*
 * Cancel all requests (no callbacks) and free everything. The next run of the loop closes the handles and
 * frees the memory. NULL is fine.
 */
void transport_free(struct transport *transport);

/*
 * Request a path with its query, already percent-encoded: "/api/v1/pods?limit=500".
 *
 * callbacks    borrowed until the end; on_data and on_done must be set
 * ret_request  NULL if the request will never be cancelled or paused
 * Returns      0; -EINVAL: no leading '/', or control characters; -ENOMEM
 */
int transport_get(struct transport *transport, const char *path_and_query, unsigned flags,
		  const struct transport_callbacks *callbacks, void *ctx,
		  struct transport_request **ret_request);

/*
 * Send a request with more than a path. If a kept connection ends before any answer, the request is sent once
 * more over a new one; not with TRANSPORT_FRESH.
 *
 * Returns  as transport_get(). -EINVAL also: no method or header, or a header that only the transport sets
 *          (Host, Content-Length, Transfer-Encoding, Connection and the like)
 */
int transport_send(struct transport *transport, const struct transport_order *order,
		   const struct transport_callbacks *callbacks, void *ctx,
		   struct transport_request **ret_request);

/* End a request without on_done. The pointer is invalid afterwards. NULL is fine. */
void transport_cancel(struct transport_request *request);

/*
 * Back-pressure. After pause on_data is not called until resume (on_done only with an error), and at most one
 * buffer is read from the server; TCP or HTTP/2 flow control then stops it. Over HTTP/2 requests share a
 * connection, so a long pause of one may hold up others. Both calls may be repeated; neither calls back.
 */
void transport_pause(struct transport_request *request);
void transport_resume(struct transport_request *request);

/*
 * Milliseconds since anything came from the server, over any connection; the answer to a ping counts
 * (transport_ping.h). UINT64_MAX: nothing ever came.
 */
uint64_t transport_silent_ms(const struct transport *transport);

/*
 * Call on_connection from the loop when a request was answered over a new connection, perhaps by another
 * server. It may do what any callback may. NULL: stop.
 */
void transport_on_connection(struct transport *transport, void (*on_connection)(void *ctx), void *ctx);

/*
 * Whether secrets may be sent to the server: the way there is TLS, or stays on this machine. If not, the
 * configuration's secrets are not sent; a caller that adds headers by an order must check this.
 */
bool transport_may_authenticate(const struct transport *transport);

/* The server's URL, for messages. Borrowed. */
const char *transport_server(const struct transport *transport);

/* Connections made since transport_new(), and given up as dead; requests under way. */
struct transport_stats {
	unsigned long connections, dead_connections, requests_started;
	size_t requests_active, requests_paused;
};
void transport_stats(const struct transport *transport, struct transport_stats *ret_stats);

/* Statistics of the answers so far. Borrowed. */
const struct request_stats *transport_requests(const struct transport *transport);

#endif
