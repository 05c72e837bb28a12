/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a front, a listener and a client (a connection while it is open) are made of, for the files behind
 * front.h, listener.h and exchange.h; and what client.c does with clients.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_FRONT_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_HTTP_FRONT_PRIVATE_H

#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/queue.h>

#include "tools/informer-gateway/http/front.h"
#include "tools/informer-gateway/http/peer.h"
#include "tools/informer-gateway/http/quota.h"
#include "tools/informer-gateway/http/tls_files.h"
#include "writer/base/listen_address.h"

struct gw_front {
	struct gw_front_options options;
	uv_loop_t *loop;
	struct gw_quota quota;
	struct api_share *bodies, own_bodies;
	struct gw_front_counters counters;
	unsigned refused; /* connections that are only there to be told so */
	LIST_HEAD(, gw_listener) listeners;
	LIST_HEAD(, gw_client) clients;
	uv_timer_t sweep; /* cuts clients whose time is over; active while there are clients */
	struct {
		void (*done)(void *ctx); /* NULL: it goes on */
		void *ctx;
		uv_timer_t timer;
		uint64_t begun_ms, end_ms;
		unsigned asked; /* streams to end, so far */
		unsigned all;   /* streams at the beginning */
	} drain; /* see drain.c */
	unsigned open_handles;
};

struct gw_listener {
	struct gw_front *front;
	LIST_ENTRY(gw_listener) link;
	gw_handler *handler;
	void *ctx;
	struct gw_listener_options options; /* its texts are the caller's */
	char *name;
	struct listener socket; /* of writer/base: fd, file, URL */
	char url[160];
	bool called; /* libmicrohttpd will be, in the loop's next turn */
	bool accepting;
	/* the connection that is being added: who it is (taken by gw_client_new()); whether it is refused */
	struct gw_peer *arriving;
	bool refuse;
	struct gw_tls *tls;
	struct MHD_Daemon *daemon;
	uv_poll_t accept_poll, daemon_poll;
	uv_timer_t daemon_timer, accept_timer, tls_timer;
	uv_idle_t daemon_idle;
	uv_idle_cb turn;                /* of daemon_idle: calls libmicrohttpd */
	LIST_HEAD(, gw_client) shaking; /* hands: whose handshake is not over */
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
	LIST_ENTRY(gw_client) link;
	LIST_ENTRY(gw_client) shaking_link;
	int fd;
	uv_poll_t poll; /* of its socket: hang-ups, and what a handshake waits for */
	struct gw_peer peer;
	uint64_t quota_key;
	struct gw_tls_set *tls;
	gnutls_session_t session;
	bool shaking, resting;
	bool refused; /* it is told so, and not counted */
	bool hung_up;
	bool answered;	/* something was sent to it */
	enum gw_client_phase phase;
	uint64_t end_ms; /* uv_now() */
	struct gw_exchange *x; /* the request under way, or NULL */
};

/*
 * A connection was resumed: libmicrohttpd is called in the loop's next turn. Not now: whoever resumes may
 * stand within its own call, and many are resumed at once.
 */
static inline void
gw_listener_resumed(struct gw_listener *listener)
{
	if (listener->called)
		return;
	listener->called = true;
	uv_idle_start(&listener->daemon_idle, listener->turn);
}

/* A connection that begins at the listener, and its end. */
struct gw_client *gw_client_new(struct gw_listener *listener, struct MHD_Connection *connection);
void gw_client_free(struct gw_client *client);
/* Of this connection; NULL while there is none. */
struct gw_client *gw_client_of(struct MHD_Connection *connection);

/*
 * libmicrohttpd asks a handshake that waits for its client again and again, without a pause. So those rest,
 * after each of its turns, until their sockets are ready.
 */
void gw_clients_rest(struct gw_listener *listener);
/* All that rest go on, as libmicrohttpd's end wants it. */
void gw_clients_go_on(struct gw_listener *listener);

void gw_client_phase(struct gw_client *client, enum gw_client_phase phase);
/* Cut it: libmicrohttpd sees the end of the peer, and ends what is under way. */
static inline void
gw_client_cut(const struct gw_client *client)
{
	shutdown(client->fd, SHUT_RDWR);
}

#define GW_TOO_MANY "too many connections, please try again later"
/* Close a connection that was only accepted; where it is not encrypted, tell it that there are too many. */
void gw_client_turn_away(int fd, bool tls);

#endif
