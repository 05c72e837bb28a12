/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchange: one request and its answer. The handler gets it when the headers have arrived. It answers then or
 * at any later time, with exactly one gw_reply function. Until then the connection is suspended and costs no
 * CPU.
 *
 * Body      read only after gw_read_body(), once the sender is known; nothing of it is in memory before. If
 *           the request is answered without it, the body is read and discarded, so that the client sees the
 *           answer.
 * Life      from the handler's call until the answer is sent or the client is gone. Then
 *           gw_front_options.over is called and the memory is freed. After a gw_reply function only
 *           gw_stream_wake() may be called, and only until the stream's closed().
 * Waiting   a function that keeps an exchange to answer it later must call gw_on_gone() before it returns to
 *           the loop. If the client goes first, the registered function is called once, and the exchange must
 *           not be used again. The router's own data ends with x->done.
 * Threads   the loop's only
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_H
#define TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/informer-gateway/http/peer.h"
#include "tools/serving/api_request.h"

struct gw_listener;
struct gw_identity; /* the client's identity, set by access */

struct gw_exchange {
	struct api_request api; /* resource, namespace, name, subresource: set by the router */
	struct gw_listener *listener;
	const struct gw_peer *peer;
	const char *target;   /* path and query as received, not decoded */
	const char *node;     /* set by the router: this is GET /pods, of this node; NULL: another request */
	struct api_buf body;  /* after gw_read_body(); data NULL if there is none */
	uint64_t begun_ns;    /* uv_hrtime() when the handler was called */

	/* set by the access check; released in gw_front_options.over */
	struct gw_identity *identity;
	void *access;

	bool passes; /* set by the access check: the API server answers, not the arena */
	/* set by the access check: how a cached resource is read */
	struct {
		/*
		 * a read of the newest state goes to the API server: a GET or LIST without an RV, a LIST that
		 * continues another, a WATCH that begins with "most recent"
		 */
		bool newest_elsewhere;
		bool narrow; /* a LIST or WATCH beyond the cached part is answered with the part */
	} reads;

	/* the outcome, for audit lines and metrics */
	unsigned code;    /* of the answer; 0: none */
	uint64_t sent;	  /* bytes of its body */
	uint64_t rv;      /* of the answer's state; 0: none */

	struct gw_route *route;			    /* the router's own */
	void (*done)(struct gw_exchange *x);        /* frees the router's data at the end; or NULL */
	struct gw_exchange_state *state;	    /* exchange.c's own */
};

/* Continues an exchange, now or later. */
typedef void gw_next(struct gw_exchange *x);

/* r  0: x->body is complete; -ENOBUFS: no room for it now; x->api.status says so */
typedef void gw_body_done(void *ctx, int r);
/*
 * Read the body. done is called once: when the body is complete, or at once if there is none. The exchange
 * waits meanwhile.
 */
void gw_read_body(struct gw_exchange *x, gw_body_done *done, void *ctx);

/*
 * Call fn if the client goes, or the gateway ends, before the answer is given. Only the last fn set counts;
 * NULL removes it.
 */
void gw_on_gone(struct gw_exchange *x, void (*fn)(void *ctx), void *ctx);

/* Add a header to the answer; call before the gw_reply function. Texts are copied. */
void gw_reply_header(struct gw_exchange *x, const char *name, const char *value);

/* Answer with a complete body; takes it over. JSON above 128 KiB is compressed if the client accepts gzip. */
void gw_reply(struct gw_exchange *x, unsigned code, const char *type, struct api_buf *body);
/* The same, with a copy of a text. */
void gw_reply_text(struct gw_exchange *x, unsigned code, const char *type, const char *text);
/* Answer with x->api.status, in the client's syntax. */
void gw_reply_status(struct gw_exchange *x);

#define GW_STREAM_END (-1)
#define GW_STREAM_BROKEN (-2)

struct gw_stream_ops {
	/*
	 * Write up to max bytes (max is at least 1 KiB). Returns their number; 0: none now, called again
	 * after gw_stream_wake(); GW_STREAM_END; GW_STREAM_BROKEN: cut the connection, so that the client
	 * sees the failure.
	 */
	ssize_t (*read)(void *ctx, char *out, size_t max);
	/*
	 * End soon: the gateway drains, or access was revoked. Called at most once; the stream is woken
	 * afterwards. NULL: the stream is cut instead.
	 */
	void (*end)(void *ctx);
	/* The stream is over, for any reason; called once. */
	void (*closed)(void *ctx);
};

/* Answer with a stream, chunked. */
void gw_reply_stream(struct gw_exchange *x, unsigned code, const char *type, const struct gw_stream_ops *ops,
		     void *ctx);
/* The stream has bytes again. Cheap if the stream is not waiting. Not from within its own read(). */
void gw_stream_wake(struct gw_exchange *x);
/* Close the connection of a client that does not read, from the loop's next turn on. */
void gw_stream_drop(struct gw_exchange *x);
/* Since when (uv_now()) the stream has waited for the client to read; 0: it is not waiting for the client. */
uint64_t gw_stream_blocked_since(const struct gw_exchange *x);

#endif
