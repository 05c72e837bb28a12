/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients: open connections with their peer, their deadlines, and hang-ups; see front_private.h.
 *
 * libmicrohttpd does not watch a suspended connection, so the loop watches each socket for hang-ups.
 * libmicrohttpd restarts its timeout with each byte, so each connection has its own deadline here and is cut
 * when it passes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/informer-gateway/http/exchange_private.h"

#define SWEEP_MS 1000u
#define ONCE_MS 60000u   /* a client is cut once; the sweep skips it for this time */
#define REFUSED_MS 2000u /* time for a refused client to send its request and get 429 */

#define HEAD "Content-Type: application/json\r\nConnection: close\r\n"
#define FAILURE "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

static const char too_many[] =
	"HTTP/1.1 429 Too Many Requests\r\n" HEAD "Retry-After: 1\r\n\r\n" FAILURE
	"\"message\":\"" GW_TOO_MANY "\",\"reason\":\"TooManyRequests\",\"code\":429}\n";
static const char too_slow[] =
	"HTTP/1.1 408 Request Timeout\r\n" HEAD "\r\n" FAILURE
	"\"message\":\"the request was not whole in time\",\"reason\":\"Timeout\",\"code\":408}\n";

/* ---- deadlines ---- */

/* Send without waiting. Not for TLS, where the text would have to be encrypted. */
static void
tell(int fd, const char *answer)
{
	(void)send(fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
gw_client_turn_away(int fd, bool tls)
{
	char unread[1024];

	if (!tls) {
		tell(fd, too_many);
		shutdown(fd, SHUT_WR);
		/* unread bytes would make close() discard the answer */
		while (recv(fd, unread, sizeof(unread), MSG_DONTWAIT) > 0)
			;
	}
	close(fd);
}

static void
on_sweep(uv_timer_t *timer)
{
	struct gw_front *front = timer->data;
	uint64_t now = uv_now(timer->loop);
	struct gw_client *c;

	LIST_FOREACH (c, &front->clients, link) {
		bool slow = c->phase == GW_READING && !c->refused;

		if (c->phase == GW_BUSY || c->end_ms > now)
			continue;
		front->counters.slow += slow;
		if ((slow || c->refused) && !c->tls && !c->answered)
			tell(c->fd, slow ? too_slow : too_many);
		c->end_ms = now + ONCE_MS;
		gw_client_cut(c);
	}
	if (LIST_EMPTY(&front->clients))
		uv_timer_stop(timer);
}

void
gw_client_phase(struct gw_client *client, enum gw_client_phase phase)
{
	const struct gw_listener *l = client->listener;
	uint64_t now = uv_now(l->front->loop), seconds = l->options.header_seconds;

	if (phase == GW_IDLE)
		seconds += l->options.idle_seconds;
	client->phase = phase;
	client->end_ms = client->refused ? now + REFUSED_MS : now + seconds * 1000;
}

/* ---- hang-ups and handshakes ---- */

static void
go_on(struct gw_client *client)
{
	if (!client->resting)
		return;
	client->resting = false;
	MHD_resume_connection(client->connection);
	gw_listener_resumed(client->listener);
}

static void
on_socket(uv_poll_t *poll, int status, int events)
{
	struct gw_client *client = poll->data;

	go_on(client);
	if (status == 0 && !(events & UV_DISCONNECT)) {
		uv_poll_start(poll, UV_DISCONNECT, on_socket);
		return;
	}
	uv_poll_stop(poll);
	client->hung_up = true;
	if (client->x && client->x->state->stage >= GW_HANDED)
		gw_exchange_cut(client->x);
}

void
gw_clients_rest(struct gw_listener *listener)
{
	struct gw_client *c;

	LIST_FOREACH (c, &listener->shaking, shaking_link) {
		if (c->resting)
			continue;
		c->resting = true;
		MHD_suspend_connection(c->connection);
		uv_poll_start(&c->poll,
			      UV_DISCONNECT |
				      (gnutls_record_get_direction(c->session) ? UV_WRITABLE : UV_READABLE),
			      on_socket);
	}
}

void
gw_clients_go_on(struct gw_listener *listener)
{
	struct gw_client *c;

	LIST_FOREACH (c, &listener->shaking, shaking_link)
		go_on(c);
}

static void
end_shaking(struct gw_client *client)
{
	if (client->shaking)
		LIST_REMOVE(client, shaking_link);
	client->shaking = false;
}

/*
 * The client's last handshake message has arrived, and its certificate is verified. The rest of the handshake
 * waits for nothing.
 */
static int
on_finished(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
	    const gnutls_datum_t *message)
{
	struct gw_client *client = gw_client_of(gnutls_session_get_ptr(session));

	(void)type;
	(void)when;
	(void)message;
	if (!incoming || !client)
		return 0;
	end_shaking(client);
	return gw_peer_add_certificate(&client->peer, session) < 0 ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static void
begin_shaking(struct gw_client *client)
{
	struct gw_listener *l = client->listener;

	client->session = MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)
				  ->tls_session;
	client->tls = gw_tls_install(l->tls, client->session);
	gnutls_handshake_set_hook_function(client->session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
					   on_finished);
	client->shaking = true;
	LIST_INSERT_HEAD(&l->shaking, client, shaking_link);
}

/* ---- creating and freeing ---- */

struct gw_client *
gw_client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
								       MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

struct gw_client *
gw_client_new(struct gw_listener *listener, struct MHD_Connection *connection)
{
	struct gw_front *front = listener->front;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
								       MHD_CONNECTION_INFO_CONNECTION_FD);
	struct gw_client *client = api_alloc(sizeof(*client));

	*client = (struct gw_client){.listener = listener,
				     .connection = connection,
				     .fd = info->connect_fd,
				     .peer = *listener->arriving,
				     .refused = listener->refuse};
	listener->arriving = NULL;
	client->quota_key = gw_peer_key(&client->peer);
	client->poll.data = client;
	if (uv_poll_init(front->loop, &client->poll, client->fd) < 0) {
		gw_client_cut(client);
	} else {
		uv_poll_start(&client->poll, UV_DISCONNECT, on_socket);
		if (listener->tls)
			begin_shaking(client);
	}
	LIST_INSERT_HEAD(&front->clients, client, link);
	front->refused += client->refused;
	front->counters.connections++;
	gw_client_phase(client, GW_READING);
	if (!uv_is_active((uv_handle_t *)&front->sweep))
		uv_timer_start(&front->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	return client;
}

static void
on_closed(uv_handle_t *poll)
{
	free(poll->data);
}

void
gw_client_free(struct gw_client *client)
{
	struct gw_front *front = client->listener->front;

	end_shaking(client);
	LIST_REMOVE(client, link);
	if (client->refused)
		front->refused--;
	else
		gw_quota_give_back(&front->quota, client->quota_key);
	front->counters.connections--;
	gw_tls_set_unref(client->tls);
	gw_peer_done(&client->peer);
	if (client->poll.type == UV_POLL)
		uv_close((uv_handle_t *)&client->poll, on_closed);
	else
		free(client);
}
