/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport: requests to one API server, on one libuv loop (libcurl's multi_socket interface): GETs mostly,
 * others by transport_send(). Bodies are handed on as they arrive and never gathered here, so that a LIST of
 * any size and an endless WATCH are the same thing.
 *
 *	transport_get ──▶ on_response (once, unless it failed before) ──▶ on_data* ──▶ on_done (once)
 *
 * Invariants
 *   - no callback runs before transport_get() returned, and none after transport_cancel();
 *     all run on the loop's thread, from the loop
 *   - exactly one on_done for each request that was not cancelled; inside it the request's
 *     pointer is valid for the last time
 *   - a callback may start, cancel, pause and resume any request, its own too, and may call
 *     transport_free()
 *
 * What it sets by itself: HTTP/2 with multiplexing over TLS where the server offers it, else
 * HTTP/1.1 with kept connections (as kubectl always, when DISABLE_HTTP2 stands in the environment); TLS 1.2
 * at least; connect timeout 10 s; User-Agent, Accept, credentials; gzip for finite answers in JSON of servers
 * that are not on this machine. Redirects are not followed. Proxies: the kubeconfig's, else the
 * environment's, see proxy.h. A finite answer (no TRANSPORT_WATCH) that delivers nothing for 90 s fails.
 *
 * A connection that is dead though nobody says so is noticed within a minute: a peer that is gone, by TCP
 * keepalive and TCP_USER_TIMEOUT; one that is there and does not answer, after 45 s by a ping
 * (transport_ping.h, which says why so and what it costs). What was under way on it fails with -ETIMEDOUT,
 * and the next request makes another connection.
 *
 * The process must ignore SIGPIPE (OpenSSL writes to sockets without MSG_NOSIGNAL).
 *
 * Threads   everything on the loop's thread
 */
#ifndef WRITER_KUBE_TRANSPORT_H
#define WRITER_KUBE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "writer/kube/kubeconfig.h"
#include "writer/kube/request_stats.h"

/* What to say when the answer is 401 after all; with the server's URL. */
#define TRANSPORT_UNAUTHORIZED "%s does not accept the credentials (401): check the kubeconfig's user"

/* The Content-Type of protobuf, without parameters. */
#define TRANSPORT_PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

struct transport;
struct transport_request;

/* What is known when the header is complete; borrowed for the callback. */
struct transport_response {
	int status;			/* 200, 410, ... never 1xx */
	const char *content_type;	/* "" when the server sent none */
	long retry_after_s;		/* seconds; 0 when the server sent none */
	const char *etag;               /* as it was sent, in quotes; "" when there was none */
	void *easy_;			/* for transport_header_next() */
};

/* A step through a response's headers, within on_response. Zeroed before the first. */
struct transport_header {
	const char *name, *value; /* borrowed for the callback */
	void *at_;
};
/* The next one, in the order in which they came; false: there are no more. */
bool transport_header_next(const struct transport_response *response, struct transport_header *header);

struct transport_callbacks {
	/* The header is complete. May be NULL. */
	void (*on_response)(void *ctx, const struct transport_response *response);

	/*
	 * Bytes of the body, of error answers too (a Status then; see status.h).
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
	TRANSPORT_FRESH = 1 << 1, /* over a new connection, whatever stands: the old one may be dead */
	/* metadata only: PartialObjectMetadataList, with TRANSPORT_WATCH PartialObjectMetadata */
	TRANSPORT_METADATA = 1 << 2,
	/* /apis with all that is in it (APIGroupDiscoveryList), where the server can */
	TRANSPORT_DISCOVERY = 1 << 3,
	/* over a connection of its own, which ends with it and is not told of (transport_on_connection()) */
	TRANSPORT_OWN_CONNECTION = 1 << 4,
	/* the caller sees to its time: the user's request timeout is not for it */
	TRANSPORT_UNTIMED = 1 << 5,
	/* protobuf, or JSON where the server has no protobuf of it */
	TRANSPORT_PROTOBUF = 1 << 6,
	/* without metadata.managedFields, where the server can leave them out (KEP-5958) */
	TRANSPORT_DROP_MANAGED = 1 << 7,
	/*
	 * with the credentials that are at hand, if any: where others are to be had, it neither waits for
	 * them nor asks again with them
	 */
	TRANSPORT_AT_HAND = 1 << 8,
	/*
	 * as it is: no headers but those of the order, the credentials, and what HTTP needs; the answer's
	 * bytes come as they were sent, packed or not
	 */
	TRANSPORT_PLAIN = 1 << 9,
	/* with TRANSPORT_METADATA, in JSON: whole objects where the server has no metadata alone */
	TRANSPORT_ELSE_WHOLE = 1 << 10,
};

#define TRANSPORT_HEADER_MAX (256u << 10)	/* bytes of an answer's header */

/* A request that says more than a path. Borrowed for the call. */
struct transport_order {
	const char *method;		/* NULL: GET */
	const char *path_and_query;
	unsigned flags;			/* enum transport_flags */
	const char *etag;		/* 304 is enough if the document still has this one; or NULL */
	const char *const *headers;	/* "Name: value", in this order; ended by NULL; or NULL */
	const void *body;
	size_t body_length;
};

/*
 * Make a transport for `config` (copied). No connection is made yet.
 *
 * Returns   0, or a negative errno with message
 * Lifetime  the loop must outlive it and be run once more after transport_free()
 */
int transport_new(uv_loop_t *loop, const struct kube_client_config *config, struct transport **ret_transport,
		  char **ret_error);

/*
 * Cancel all requests (no callbacks) and give everything back. The loop's handles are
 * closed by the loop's next run, then the memory goes. NULL is fine.
 */
void transport_free(struct transport *transport);

/*
 * Ask for a path with its query, already percent-encoded: "/api/v1/pods?limit=500".
 *
 * callbacks    borrowed until the end; on_data and on_done must be set
 * ret_request  NULL when it will never be cancelled or paused
 * Returns      0, or -EINVAL (no leading '/', or control characters), -ENOMEM
 */
int transport_get(struct transport *transport, const char *path_and_query, unsigned flags,
		  const struct transport_callbacks *callbacks, void *ctx,
		  struct transport_request **ret_request);

/*
 * Ask for more than a path.
 *
 * Returns  as transport_get(); -EINVAL also for what is no method or header, and for a header that says how
 *          the request itself is sent (Host, Content-Length, Transfer-Encoding, Connection and its like),
 *          which is the transport's to say
 * What was sent over a connection that stood already, and ended before any answer came, is sent once more
 * over a new one. TRANSPORT_FRESH: never.
 */
int transport_send(struct transport *transport, const struct transport_order *order,
		   const struct transport_callbacks *callbacks, void *ctx,
		   struct transport_request **ret_request);

/* End a request without on_done. The pointer is invalid afterwards. NULL is fine. */
void transport_cancel(struct transport_request *request);

/*
 * Back-pressure: after pause on_data is not called until resume (on_done only with an error),
 * and the server is not read further than one buffer (TCP or HTTP/2 flow control then holds it).
 * Over HTTP/2 requests share a connection, so a long pause of one can hold up the others. Both
 * may be repeated; neither calls back by itself.
 */
void transport_pause(struct transport_request *request);
void transport_resume(struct transport_request *request);

/*
 * For how long nothing came from the server, in ms: over any connection, so that the answer to a ping counts
 * (transport_ping.h). UINT64_MAX: nothing ever came.
 */
uint64_t transport_silent_ms(const struct transport *transport);

/*
 * Call this whenever a request was answered over a new connection: another server, perhaps. From the loop; it
 * may do what any callback may. NULL: nothing any more.
 */
void transport_on_connection(struct transport *transport, void (*on_connection)(void *ctx), void *ctx);

/*
 * Whether secrets may be shown on the way to the server: it is TLS, or does not leave this machine. Where
 * not, the configuration's are not shown; who gives headers by an order must ask.
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

/* What was answered so far, and how fast. Borrowed. */
const struct request_stats *transport_requests(const struct transport *transport);

#endif
