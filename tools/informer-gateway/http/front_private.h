/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private structs of a front, a listener and a client (an open connection), for the files behind front.h,
 * listener.h and exchange.h; and the functions of client.c.
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
	unsigned refused; /* connections open only to send them a refusal */
	LIST_HEAD(, gw_listener) listeners;
	LIST_HEAD(, gw_client) clients;
	uv_timer_t sweep; /* cuts clients at end_ms; active while there are clients */
	struct {
		void (*done)(void *ctx); /* NULL: not draining */
		void *ctx;
		uv_timer_t timer;
		uint64_t begun_ms, end_ms;
		unsigned asked; /* streams asked to end so far */
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
	bool called; /* libmicrohttpd is called in the loop's next turn */
	bool accepting;
	/* the connection being added: its peer (taken by gw_client_new()), and whether it is refused */
	struct gw_peer *arriving;
	bool refuse;
	struct gw_tls *tls;
	struct MHD_Daemon *daemon;
	uv_poll_t accept_poll, daemon_poll;
	uv_timer_t daemon_timer, accept_timer, tls_timer;
	uv_idle_t daemon_idle;
	uv_idle_cb turn;                /* of daemon_idle: calls libmicrohttpd */
	LIST_HEAD(, gw_client) shaking; /* clients in their TLS handshake */
	unsigned open_handles;
};

/* Phase of a connection. Only the first two have a deadline (end_ms). */
enum gw_client_phase {
	GW_READING, /* receiving a request, or before the first one */
	GW_IDLE,    /* between requests */
	GW_BUSY,    /* answering a request */
};

struct gw_client {
	struct gw_listener *listener;
	struct MHD_Connection *connection;
	LIST_ENTRY(gw_client) link;
	LIST_ENTRY(gw_client) shaking_link;
	int fd;
	uv_poll_t poll; /* watches the socket for hang-ups, and for handshake data */
	struct gw_peer peer;
	uint64_t quota_key;
	struct gw_tls_set *tls;
	gnutls_session_t session;
	bool shaking, resting;
	bool refused; /* over the limit: it gets a refusal and is not counted */
	bool hung_up;
	bool answered; /* some answer was sent */
	enum gw_client_phase phase;
	uint64_t end_ms; /* uv_now() */
	struct gw_exchange *x; /* the request in progress, or NULL */
};

/*
 * A connection was resumed: call libmicrohttpd in the loop's next turn. Not now: the caller may itself be
 * called by libmicrohttpd, and many connections may resume at once.
 */
static inline void
gw_listener_resumed(struct gw_listener *listener)
{
	if (listener->called)
		return;
	listener->called = true;
	uv_idle_start(&listener->daemon_idle, listener->turn);
}

/* Begin and end of a connection. */
struct gw_client *gw_client_new(struct gw_listener *listener, struct MHD_Connection *connection);
void gw_client_free(struct gw_client *client);
/* The client of this connection; NULL: none. */
struct gw_client *gw_client_of(struct MHD_Connection *connection);

/*
 * libmicrohttpd polls a waiting handshake in a busy loop. So after each of its turns these clients are
 * suspended until their sockets are ready.
 */
void gw_clients_rest(struct gw_listener *listener);
/* Resume all suspended clients, as MHD_stop_daemon() requires. */
void gw_clients_go_on(struct gw_listener *listener);

void gw_client_phase(struct gw_client *client, enum gw_client_phase phase);
/* Cut the connection: libmicrohttpd sees the peer's end and ends the request in progress. */
static inline void
gw_client_cut(const struct gw_client *client)
{
	shutdown(client->fd, SHUT_RDWR);
}

#define GW_TOO_MANY "too many connections, please try again later"
/* Close a connection that was only accepted. Without TLS, send it the GW_TOO_MANY refusal first. */
void gw_client_turn_away(int fd, bool tls);

#endif
