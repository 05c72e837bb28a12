/* SPDX-License-Identifier: Apache-2.0 */
/* Connections, their ends in time and their hang-ups; see client.h. */
#include "tools/informer-gateway/http/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWEEP_MS 1000u
#define ONCE_MS 60000u /* who was cut is not cut again */
#define HANGUPS 64
#define REFUSED_MS 2000u /* for a client beyond the quota to ask, and to be told */

#define HEAD "Content-Type: application/json\r\nConnection: close\r\n"
#define FAILURE "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

static const char too_many[] =
	"HTTP/1.1 429 Too Many Requests\r\n" HEAD "Retry-After: 1\r\n\r\n" FAILURE
	"\"message\":\"" GW_TOO_MANY "\",\"reason\":\"TooManyRequests\",\"code\":429}\n";
static const char too_slow[] =
	"HTTP/1.1 408 Request Timeout\r\n" HEAD "\r\n" FAILURE
	"\"message\":\"the request was not whole in time\",\"reason\":\"Timeout\",\"code\":408}\n";

const char *
gw_client_refusal(void)
{
	return too_many;
}

/* ---- ends in time ---- */

static void
tell(const struct gw_client *client, const char *answer)
{
	/* what does not fit at once, or is encrypted, is not said */
	if (!client->tls && !client->answered)
		(void)send(client->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
gw_client_cut(struct gw_client *client)
{
	shutdown(client->fd, SHUT_RDWR);
}

static void
on_sweep(uv_timer_t *timer)
{
	struct gw_front *front = timer->data;
	uint64_t now = uv_now(timer->loop);

	for (struct gw_client *c = front->clients; c; c = c->next) {
		if (c->phase == GW_BUSY || c->end_ms > now)
			continue;
		if (c->refused)
			tell(c, too_many);
		else if (c->phase == GW_READING) {
			front->counters.slow++;
			tell(c, too_slow);
		}
		c->end_ms = now + ONCE_MS;
		gw_client_cut(c);
	}
	if (!front->clients)
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

/* ---- handshakes ---- */

static void
go_on(struct gw_client *client)
{
	if (!client->resting)
		return;
	client->resting = false;
	MHD_resume_connection(client->connection);
	client->listener->resumed(client->listener);
}

void
gw_clients_rest(struct gw_listener *listener)
{
	for (struct gw_client *c = listener->shaking; c; c = c->shaking_next)
		if (!c->resting) {
			c->resting = true;
			MHD_suspend_connection(c->connection);
		}
}

void
gw_clients_go_on(struct gw_listener *listener)
{
	for (struct gw_client *c = listener->shaking; c; c = c->shaking_next)
		go_on(c);
}

static void
end_shaking(struct gw_client *client)
{
	if (!client->shaking)
		return;
	client->shaking = false;
	if (client->shaking_previous)
		client->shaking_previous->shaking_next = client->shaking_next;
	else
		client->listener->shaking = client->shaking_next;
	if (client->shaking_next)
		client->shaking_next->shaking_previous = client->shaking_previous;
}

/* The client's last word was taken: what is left of the handshake waits for nobody. */
static int
on_finished(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
	    const gnutls_datum_t *message)
{
	struct gw_client *client = gw_client_of(gnutls_session_get_ptr(session));
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = client};

	(void)type;
	(void)when;
	(void)message;
	if (!incoming || !client)
		return 0;
	end_shaking(client);
	(void)epoll_ctl(client->listener->front->hangups, EPOLL_CTL_MOD, client->fd, &event);
	return 0;
}

static void
begin_shaking(struct gw_client *client, gnutls_session_t session)
{
	client->tls = gw_tls_install(client->listener->tls, session);
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, on_finished);
	client->shaking = true;
	client->shaking_next = client->listener->shaking;
	if (client->shaking_next)
		client->shaking_next->shaking_previous = client;
	client->listener->shaking = client;
}

/* ---- hang-ups ---- */

static void
on_hangups(uv_poll_t *poll, int status, int events)
{
	const struct gw_front *front = poll->data;
	struct epoll_event found[HANGUPS];
	int n;

	(void)status;
	(void)events;
	n = epoll_wait(front->hangups, found, HANGUPS, 0);
	/* libmicrohttpd is not called in here: nobody of these goes meanwhile */
	for (int i = 0; i < n; i++) {
		struct gw_client *client = found[i].data.ptr;

		go_on(client);
		if (!(found[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
			continue;
		client->hung_up = true;
		if (client->on_hangup)
			client->on_hangup(client);
	}
}

int
gw_clients_init(struct gw_front *front)
{
	int r;

	front->hangups = epoll_create1(EPOLL_CLOEXEC);
	if (front->hangups < 0)
		return -errno;
	r = uv_poll_init(front->loop, &front->hangup_poll, front->hangups);
	if (r < 0) {
		close(front->hangups);
		return r;
	}
	uv_timer_init(front->loop, &front->sweep);
	front->hangup_poll.data = front->sweep.data = front;
	front->open_handles = 2;
	uv_poll_start(&front->hangup_poll, UV_READABLE, on_hangups);
	return 0;
}

static void
on_closed(uv_handle_t *handle)
{
	struct gw_front *front = handle->data;

	if (--front->open_handles == 0)
		free(front);
}

void
gw_clients_done(struct gw_front *front)
{
	uv_poll_stop(&front->hangup_poll);
	uv_close((uv_handle_t *)&front->hangup_poll, on_closed);
	uv_close((uv_handle_t *)&front->sweep, on_closed);
	close(front->hangups);
}

/* ---- life ---- */

struct gw_client *
gw_client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
								       MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void
install_tls(struct gw_client *client)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(client->connection,
								       MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (info && info->tls_session)
		begin_shaking(client, info->tls_session);
}

struct gw_client *
gw_client_new(struct gw_listener *listener, struct MHD_Connection *connection)
{
	struct gw_front *front = listener->front;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
								       MHD_CONNECTION_INFO_CONNECTION_FD);
	struct gw_client *client = api_alloc(sizeof(*client));
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = client};

	if (listener->tls)
		event.events |= EPOLLIN | EPOLLOUT; /* until hands are shaken */
	*client = (struct gw_client){.listener = listener,
				     .connection = connection,
				     .fd = info->connect_fd,
				     .peer = *listener->arriving,
				     .refused = listener->refuse};
	listener->arriving = NULL;
	client->quota_key = gw_peer_key(&client->peer);
	if (listener->tls)
		install_tls(client);
	client->next = front->clients;
	if (client->next)
		client->next->previous = client;
	front->clients = client;
	front->refused += client->refused;
	front->counters.connections++;
	gw_client_phase(client, GW_READING);
	(void)epoll_ctl(front->hangups, EPOLL_CTL_ADD, client->fd, &event);
	if (!uv_is_active((uv_handle_t *)&front->sweep))
		uv_timer_start(&front->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	return client;
}

void
gw_client_free(struct gw_client *client)
{
	struct gw_listener *listener = client->listener;
	struct gw_front *front = listener->front;

	end_shaking(client);
	(void)epoll_ctl(front->hangups, EPOLL_CTL_DEL, client->fd, NULL);
	if (client->previous)
		client->previous->next = client->next;
	else
		front->clients = client->next;
	if (client->next)
		client->next->previous = client->previous;
	if (client->refused)
		front->refused--;
	else
		gw_quota_give_back(&front->quota, client->quota_key);
	front->counters.connections--;
	gw_tls_set_unref(client->tls);
	gw_peer_done(&client->peer);
	free(client);
}
