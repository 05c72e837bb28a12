/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport ping notices dead connections that TCP does not report. Only transport.c and
 * transport_request.c use it.
 *
 * TCP (keepalive, TCP_USER_TIMEOUT) notices within about a minute that a peer's kernel is gone. It does not
 * notice a frozen server, or a proxy that lost its other half, because the kernel still acknowledges.
 * client-go sends HTTP/2 PING frames (ReadIdleTimeout 30 s, PingTimeout 15 s). libcurl has none for a multi
 * handle, so a small request is the ping:
 *
 *	a connection in use is silent for 30 s
 *	   └─▶ GET /livez ─┬─▶ an answer, whatever it says: well, for another 30 s
 *	                   └─▶ none within 15 s: each connection that has been silent for 30 s is shut down,
 *	                       and what is under way on it fails
 *
 * Over HTTP/2 the ping uses the silent connection, which is the only one, so its answer proves that
 * connection. A dead watch is noticed after 45 s. Over HTTP/1.1 a watch has a connection of its own, and the
 * ping uses another. Its failure shows a frozen server, after the same 45 s. If only the watch's connection
 * died, missing bookmarks show it (reflector.h): they come once a minute, so after 90 s.
 *
 * Cost to the API server: nothing while bytes flow; two requests a minute in silence, however many watches
 * there are. Every user may request /livez (system:public-info-viewer), and Priority and Fairness never
 * delays it. 401 and 403 are answers too.
 *
 * The ping sends the present credentials, expired or not. It never waits for a plugin, which may hang for as
 * long as a watch lives. It does not omit them on purpose: to anonymous HTTP/2 requests an API server answers
 * "Connection: close" (UnauthenticatedHTTP2DOSMitigation, on by default). Each ping would then end the
 * connection that it is to prove.
 *
 * A request that is paused here does not show that a peer is silent. Nor does time in which this process did
 * not run: what has arrived is read before a connection is cut.
 *
 * As in client-go HTTP2_READ_IDLE_TIMEOUT_SECONDS (0: no pings) and HTTP2_PING_TIMEOUT_SECONDS replace the 30
 * and 15.
 *
 * Threads: the loop's. Source: k8s.io/apimachinery/pkg/util/net/http.go, configureHTTP2Transport()
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

/* Functions of transport.h that the ping calls. */
struct transport_ping_ways {
	int (*get)(struct transport *transport, const char *path_and_query, unsigned flags,
		   const struct transport_callbacks *callbacks, void *ctx,
		   struct transport_request **ret_request);
	void (*cancel)(struct transport_request *request);
	void (*stats)(const struct transport *transport, struct transport_stats *ret_stats);
};

struct transport_ping {
	struct transport *transport; /* borrowed, as `ways` and `loop` */
	const struct transport_ping_ways *ways;
	struct transport_loop *loop;
	uv_timer_t timer;
	uint64_t idle_ms, wait_ms;
	uint64_t asked_ms;                 /* when the last ping was sent */
	struct transport_request *request; /* the ping under way, or NULL */
	bool last_look;
};

/* The loop is initialised. After transport_ping_stop() the caller closes `timer`. */
void transport_ping_init(struct transport_ping *ping, struct transport *transport,
			 const struct transport_ping_ways *ways, struct transport_loop *loop);
void transport_ping_stop(struct transport_ping *ping);

/* This request was given to libcurl. */
void transport_ping_started(struct transport_ping *ping, const struct transport_request *request);

#endif
