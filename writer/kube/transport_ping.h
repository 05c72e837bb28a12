/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport ping: notices a connection that is dead though nobody says so. Used by transport.c and
 * transport_request.c alone.
 *
 * A peer whose kernel is gone is noticed by TCP (keepalive, TCP_USER_TIMEOUT: about a minute). One whose
 * kernel lives, and acknowledges, while the server is frozen or a proxy has lost the other half, is not.
 * client-go sends HTTP/2 PING frames for it (ReadIdleTimeout 30 s, PingTimeout 15 s); libcurl has none for a
 * multi handle, so a small request is the ping:
 *
 *	a connection in use is silent for 30 s
 *	   └─▶ GET /livez ─┬─▶ an answer, whatever it says: well, for another 30 s
 *	                   └─▶ none within 15 s: each connection that has been silent for 30 s is shut down,
 *	                       and what is under way on it fails
 *
 * Over HTTP/2 the question goes over the connection that is silent, which is the only one, so its answer
 * proves that one: a watch is noticed to be dead after 45 s. Over HTTP/1.1 a watch has a connection of its
 * own, and none to ask over: the question goes over another, and its failure tells of a server that is
 * frozen, after the same 45 s. There a connection that died alone, beside a server that answers, is noticed
 * by the bookmarks that stay away (reflector.h): they come once a minute, so after 90 s.
 *
 * What that costs the API server: nothing while bytes flow, and two requests a minute where all is quiet,
 * however many watches there are. /livez, because every user may ask it (system:public-info-viewer), and
 * Priority and Fairness never lets it wait. It needs no right: 401 and 403 are answers.
 *
 * It needs no credentials either: it shows those at hand, expired or not, and waits for no plugin, which may
 * hang or fail for as long as a watch lives. Without any it is not asked on purpose, for to a request of
 * nobody over HTTP/2 an API server says "Connection: close" (UnauthenticatedHTTP2DOSMitigation, on by
 * default): each ping would then cost the connection that it is to prove.
 *
 * A request that is paused here says nothing about a peer. Nor does time that this process did not run: what
 * has arrived meanwhile is read before a connection is cut.
 *
 * As in client-go HTTP2_READ_IDLE_TIMEOUT_SECONDS (0: never ask) and HTTP2_PING_TIMEOUT_SECONDS replace the
 * 30 and 15.
 *
 * Threads   the loop's
 * Source    k8s.io/apimachinery/pkg/util/net/http.go, configureHTTP2Transport()
 */
#ifndef WRITER_KUBE_TRANSPORT_PING_H
#define WRITER_KUBE_TRANSPORT_PING_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "writer/kube/transport.h"
#include "writer/kube/transport_loop.h"

#define TRANSPORT_PING_IDLE_S 30u
#define TRANSPORT_PING_WAIT_S 15u
#define TRANSPORT_PING_PATH   "/livez"

/* What the ping asks of the transport whose connections it watches over: transport.h's functions. */
struct transport_ping_ways {
	int (*get)(struct transport *transport, const char *path_and_query, unsigned flags,
		   const struct transport_callbacks *callbacks, void *ctx,
		   struct transport_request **ret_request);
	void (*cancel)(struct transport_request *request);
	void (*stats)(const struct transport *transport, struct transport_stats *ret_stats);
};

struct transport_ping {
	struct transport *transport;	/* borrowed, as its ways and the loop */
	const struct transport_ping_ways *ways;
	struct transport_loop *loop;
	uv_timer_t timer;
	uint64_t idle_ms, wait_ms;
	uint64_t asked_ms;		/* when the last question was sent */
	struct transport_request *request; /* the question under way, or NULL */
	bool last_look;
};

/* The loop is initialised. `timer` is closed by the caller, after transport_ping_stop(). */
void transport_ping_init(struct transport_ping *ping, struct transport *transport,
			 const struct transport_ping_ways *ways, struct transport_loop *loop);
void transport_ping_stop(struct transport_ping *ping);

/* libcurl was given this request. */
void transport_ping_started(struct transport_ping *ping, const struct transport_request *request);

#endif
