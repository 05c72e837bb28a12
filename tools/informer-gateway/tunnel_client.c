/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of a tunnel; see tunnel_client.h. */
#include "tools/informer-gateway/tunnel_client.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

static bool ours; /* the session is asked by us */

/* For libmicrohttpd nothing ever comes. */
static ssize_t
pull(gnutls_transport_ptr_t ptr, void *to, size_t max)
{
	if (!ours) {
		errno = EAGAIN;
		return -1;
	}
	return recv((int)(intptr_t)ptr, to, max, MSG_DONTWAIT);
}

void
gw_tunnel_client_take(struct gw_tunnel_client *client, struct MHD_Connection *connection, int fd)
{
	const union MHD_ConnectionInfo *tls = MHD_get_connection_info(connection,
								      MHD_CONNECTION_INFO_GNUTLS_SESSION);
	const union MHD_ConnectionInfo *socket = MHD_get_connection_info(connection,
									 MHD_CONNECTION_INFO_CONNECTION_FD);

	*client = (struct gw_tunnel_client){.fd = fd};
	if (!tls || !tls->tls_session || !socket)
		return;
	client->tls = tls->tls_session;
	client->fd = socket->connect_fd;
	gnutls_transport_set_int(client->tls, client->fd);
	gnutls_transport_set_pull_function(client->tls, pull);
}

static ssize_t
error_of(ssize_t n)
{
	if (n == GNUTLS_E_PREMATURE_TERMINATION)
		return 0;
	return gnutls_error_is_fatal((int)n) ? -ECONNRESET : -EAGAIN;
}

ssize_t
gw_tunnel_client_read(struct gw_tunnel_client *client, void *to, size_t max)
{
	ssize_t n;

	if (!client->tls) {
		n = recv(client->fd, to, max, MSG_DONTWAIT);
		return n < 0 ? -errno : n;
	}
	ours = true;
	n = gnutls_record_recv(client->tls, to, max);
	ours = false;
	return n < 0 ? error_of(n) : n;
}

ssize_t
gw_tunnel_client_write(struct gw_tunnel_client *client, const void *data, size_t length)
{
	ssize_t n;

	if (!client->tls) {
		n = send(client->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
		return n < 0 ? -errno : n;
	}
	/* what it kept it sends on, and says how much of ours it was */
	n = client->sending ? gnutls_record_send(client->tls, NULL, 0)
			    : gnutls_record_send(client->tls, data, length);
	client->sending = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	return n < 0 ? (client->sending ? -EAGAIN : -ECONNRESET) : n;
}

void
gw_tunnel_client_end_writing(struct gw_tunnel_client *client)
{
	if (client->tls)
		(void)gnutls_bye(client->tls, GNUTLS_SHUT_WR);
	else
		shutdown(client->fd, SHUT_WR);
}
