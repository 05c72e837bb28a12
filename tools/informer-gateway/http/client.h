/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: a connection while it is open: who it is, when it must have asked, whether it has gone.
 *
 * libmicrohttpd does not look at a connection that rests (suspended), so a second epoll descriptor tells of
 * clients that hang up: each socket is in it once, edge-triggered, for its whole life, which costs nothing
 * an event. Its timeout begins anew with each byte, so each connection has an end here, and is cut when it
 * is reached.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_CLIENT_H
#define TOOLS_INFORMER_GATEWAY_HTTP_CLIENT_H

#include "tools/informer-gateway/http/front_private.h"

int gw_clients_init(struct gw_front *front);
/* Closes the handles; front itself is freed behind them. */
void gw_clients_done(struct gw_front *front);

/* A connection that begins at the listener, and its end. */
struct gw_client *gw_client_new(struct gw_listener *listener, struct MHD_Connection *connection);
void gw_client_free(struct gw_client *client);

/* Of this connection; NULL while there is none. */
struct gw_client *gw_client_of(struct MHD_Connection *connection);

/*
 * libmicrohttpd asks a handshake that waits for its client again and again, without a pause. So those rest,
 * after each of its turns, until there is something to read.
 */
void gw_clients_rest(struct gw_listener *listener);
/* All that rest go on, as libmicrohttpd's end wants it. */
void gw_clients_go_on(struct gw_listener *listener);

void gw_client_phase(struct gw_client *client, enum gw_client_phase phase);
/* Cut it: libmicrohttpd sees the end of the peer, and ends what is under way. */
void gw_client_cut(struct gw_client *client);

/* The sentence for one connection too many. */
#define GW_TOO_MANY "too many connections, please try again later"
/* What a connection beyond the quota is told: a whole answer, as a text that stays. */
const char *gw_client_refusal(void);

#endif
