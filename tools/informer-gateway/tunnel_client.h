/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnel client: the client's side of a tunnel, once libmicrohttpd has given the connection away. Without
 * TLS that is its socket. With TLS libmicrohttpd would go on moving bytes between the session and a socket
 * pair: in 0.9.75, which has used up its memory by then, four at a time, and it never tells the client of
 * an end. So the session itself is used: it reads for us alone, and nothing for libmicrohttpd, which waits
 * for ever.
 *
 * Threads   the loop's; sessions of one thread only
 */
#ifndef TOOLS_INFORMER_GATEWAY_TUNNEL_CLIENT_H
#define TOOLS_INFORMER_GATEWAY_TUNNEL_CLIENT_H

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <sys/types.h>

struct gw_tunnel_client {
	int fd; /* to be watched: the connection's own socket */
	gnutls_session_t tls; /* NULL: none */
	bool sending;	      /* what was sent last is not through */
};

/* From within libmicrohttpd's upgrade handler. fd: what that was given. */
void gw_tunnel_client_take(struct gw_tunnel_client *client, struct MHD_Connection *connection, int fd);

/*
 * As of upstream_wire.h. A read takes all that a TLS record has, so that nothing stays behind in the
 * session: max is at least GW_PIPE_ROOM.
 */
ssize_t gw_tunnel_client_read(struct gw_tunnel_client *client, void *to, size_t max);
ssize_t gw_tunnel_client_write(struct gw_tunnel_client *client, const void *data, size_t length);
void gw_tunnel_client_end_writing(struct gw_tunnel_client *client);

#endif
