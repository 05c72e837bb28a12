/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchange: one request and its answer. A handler gets it when its headers are there, and answers it then or
 * any time later by exactly one of the gw_reply functions; until then the connection rests and costs nothing.
 *
 * Body      is read when gw_read_body() asks for it, once it is clear who sends it. Until then nothing of it
 *           is held here. What is answered without it is read over, so that its client sees the answer.
 * Life      from the handler's call until its answer is through or the client is gone; then
 *           gw_front_options.over is called, and its memory goes. After a gw_reply function only
 *           gw_stream_wake() may be called, and only until the stream's closed().
 * Waiting   who keeps an exchange to answer it later says so with gw_on_gone() before returning to the loop.
 *           When the client goes first, that function is called once and the exchange must not be touched
 *           again. What the router keeps ends with x->done.
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
struct gw_identity; /* who asks, as access found out */

struct gw_exchange {
	struct api_request api; /* resource, namespace, name, subresource: set by the router */
	struct gw_listener *listener;
	const struct gw_peer *peer;
	const char *target;   /* path and query as they came, nothing decoded */
	struct api_buf body;  /* behind gw_read_body(); data NULL if there is none */
	uint64_t begun_ns;    /* uv_hrtime() when the handler was called */

	/* of whoever checks access: set there, and let go in gw_front_options.over */
	struct gw_identity *identity;
	void *access;

	bool passes; /* who checks access: it is the API server's to answer, not the arena's */
	/* the same: how a cached resource is read there */
	struct {
		/*
		 * a read that wants the newest state is the API server's: a GET or LIST without an RV, a LIST
		 * that continues another, a WATCH that begins with "most recent"
		 */
		bool newest_elsewhere;
		bool narrow; /* a LIST or WATCH of more than the part that is cached is one of that part */
	} reads;

	/* what became of it, for audit lines and metrics */
	unsigned code;	  /* of the answer; 0: none was given */
	uint64_t sent;	  /* bytes of its body */
	uint64_t rv;	  /* that it shows; 0: none */

	struct gw_route *route;			    /* the router's own */
	void (*done)(struct gw_exchange *x);	    /* what it lets go at the end; or NULL */
	struct gw_exchange_state *state;	    /* exchange.c's own */
};

/* What goes on with an exchange, now or later. */
typedef void gw_next(struct gw_exchange *x);

/* r  0: x->body is whole; -ENOBUFS: there is no room for it now, and x->api.status says so */
typedef void gw_body_done(void *ctx, int r);
/* Read the body; then done is called once, or at once if there is none. The exchange waits meanwhile. */
void gw_read_body(struct gw_exchange *x, gw_body_done *done, void *ctx);

/*
 * Call fn when the client goes, or the gateway ends, before the answer was given. One function at a time: the
 * newest counts. NULL takes it back.
 */
void gw_on_gone(struct gw_exchange *x, void (*fn)(void *ctx), void *ctx);

/* Another header of the answer; before the answer. Texts are copied. */
void gw_reply_header(struct gw_exchange *x, const char *name, const char *value);

/*
 * Answer with a whole body, which is taken. A JSON body beyond 128 KiB is compressed where the client takes
 * gzip.
 */
void gw_reply(struct gw_exchange *x, unsigned code, const char *type, struct api_buf *body);
/* The same with a copy of a text. */
void gw_reply_text(struct gw_exchange *x, unsigned code, const char *type, const char *text);
/* Answer with x->api.status, in the client's syntax. */
void gw_reply_status(struct gw_exchange *x);

#define GW_STREAM_END (-1)
#define GW_STREAM_BROKEN (-2)

struct gw_stream_ops {
	/*
	 * Up to max bytes (at least 1 KiB is asked for): their count; 0 nothing now: called again after
	 * gw_stream_wake(); GW_STREAM_END; GW_STREAM_BROKEN: the connection is cut, so that the client sees
	 * it.
	 */
	ssize_t (*read)(void *ctx, char *out, size_t max);
	/*
	 * Come to an end soon: the gateway drains, or access has turned. Called at most once; wakes the
	 * stream by itself. Or NULL: cut.
	 */
	void (*end)(void *ctx);
	/* It is over, whichever way; called once. */
	void (*closed)(void *ctx);
};

/* Answer with a stream, chunked. */
void gw_reply_stream(struct gw_exchange *x, unsigned code, const char *type, const struct gw_stream_ops *ops,
		     void *ctx);
/* There is something to read again. Cheap if the stream is not waiting. Not within its own read(). */
void gw_stream_wake(struct gw_exchange *x);
/* Its client does not take what it is given: close the connection, from the loop's next turn on. */
void gw_stream_drop(struct gw_exchange *x);
/*
 * Bytes that the client has not taken yet are waited for: the stream is held up by it, since when
 * (uv_now()); 0: it is not.
 */
uint64_t gw_stream_blocked_since(const struct gw_exchange *x);

#endif
