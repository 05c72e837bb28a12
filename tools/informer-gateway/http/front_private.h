/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a front, a listener and a connection are made of; for the files behind front.h, listener.h and
 * exchange.h.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_FRONT_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_HTTP_FRONT_PRIVATE_H

#include <microhttpd.h>

#include "tools/informer-gateway/http/front.h"
#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-gateway/http/peer.h"
#include "tools/informer-gateway/http/quota.h"
#include "tools/informer-gateway/http/tls_files.h"
#include "writer/base/listen_address.h"

struct gw_client;

struct gw_front {
	struct gw_front_options options;
	uv_loop_t *loop;
	struct gw_quota quota;
	struct api_share *bodies, own_bodies;
	struct gw_front_counters counters;
	unsigned refused; /* connections that are only there to be told so */
	bool draining;
	struct gw_listener *listeners;

	int hangups; /* an epoll descriptor: which clients have gone, see client.c */
	uv_poll_t hangup_poll;
	uv_timer_t sweep;
	struct gw_client *clients;
	unsigned open_handles;
};

struct gw_listener {
	struct gw_front *front;
	struct gw_listener *previous, *next;
	gw_handler *handler;
	void *ctx;
	struct gw_listener_options options; /* its texts: NULL, but for name */
	char *name;
	struct listener socket; /* of writer/base: fd, file, URL */
	char url[160];
	/* a connection was resumed: libmicrohttpd is to be called in the loop's next turn; listener.c */
	void (*resumed)(struct gw_listener *l);
	bool called; /* that is settled already */
	bool accepting;
	/*
	 * the connection that is being added: who it is (taken by gw_client_new()); whether beyond the quota
	 */
	struct gw_peer *arriving;
	bool refuse;
	struct gw_tls *tls;
	struct MHD_Daemon *daemon;
	uv_poll_t accept_poll, daemon_poll;
	uv_timer_t daemon_timer, accept_timer, tls_timer;
	uv_idle_t daemon_idle;
	struct gw_client *shaking; /* hands: whose handshake is not over */
	unsigned open_handles;
};

/* Where a connection is. Only the first two have an end in time (end_ms). */
enum gw_client_phase {
	GW_READING, /* a request, or before the first one */
	GW_IDLE,    /* between requests */
	GW_BUSY,    /* a request is being answered */
};

struct gw_client {
	struct gw_listener *listener;
	struct MHD_Connection *connection;
	struct gw_client *previous, *next; /* in front->clients */
	int fd;
	struct gw_peer peer;
	uint64_t quota_key;
	struct gw_tls_set *tls;
	struct gw_client *shaking_previous, *shaking_next; /* in listener->shaking */
	bool shaking, resting;
	bool refused;	/* it is told so, and not counted */
	bool known;	/* its certificate was read */
	bool hung_up;
	bool answered;	/* something was sent to it */
	enum gw_client_phase phase;
	uint64_t end_ms; /* uv_now() */
	struct gw_exchange *x; /* the request under way, or NULL */
	void (*on_hangup)(struct gw_client *client); /* exchange.c */
};

#endif
