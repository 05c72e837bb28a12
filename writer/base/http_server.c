/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server: libmicrohttpd watches its sockets with an epoll of its own. The loop watches that one
 * descriptor, and a timer for the time at which libmicrohttpd must be called again.
 *
 * At the limit of connections libmicrohttpd stops listening. It listens again only in the call after the one
 * that closed some.
 */
#include "writer/base/http_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "writer/base/log.h"

#define CONNECTION_BYTES ((size_t)32 * 1024)

/* A connection; fd is -1 in a free place. */
struct held {
	int fd;
	uint64_t began_ms;
};

struct http_server {
	struct MHD_Daemon *daemon;
	struct listener listener;
	http_server_fn *answer;
	void *context;
	uv_poll_t poll;
	uv_timer_t timer; /* when to call libmicrohttpd */
	unsigned open_handles;
	bool closed; /* a connection was closed in the last MHD_run() */
	struct held held[HTTP_SERVER_CONNECTIONS];
};

/* ---- answers ---- */

static char no_memory[] = "out of memory\n";
static char not_allowed[] = "only GET and HEAD are answered here\n";
static char not_found[] = "there are /metrics, /livez and /readyz\n";

static enum MHD_Result
respond(struct MHD_Connection *connection, const struct http_answer *answer, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(answer->length, answer->text, mode);
	enum MHD_Result result = MHD_NO;

	if (!response) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free(answer->text);
		return MHD_NO;
	}
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type) ==
		    MHD_YES &&
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") == MHD_YES &&
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    (answer->status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
		result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result
respond_plain(struct MHD_Connection *connection, unsigned status, char *text)
{
	struct http_answer answer = {
		.status = status, .content_type = "text/plain", .text = text, .length = strlen(text)};

	return respond(connection, &answer, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result
handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
       const char *version, const char *upload, size_t *upload_size, void **request)
{
	struct http_server *server = context;
	struct http_answer answer = {0};
	bool verbose;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return respond_plain(connection, MHD_HTTP_METHOD_NOT_ALLOWED, not_allowed);
	verbose = MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose",
						strlen("verbose"), NULL, NULL) == MHD_YES;
	server->answer(server->context, url, verbose, &answer);
	if (answer.status == 0)
		return respond_plain(connection, MHD_HTTP_NOT_FOUND, not_found);
	if (!answer.text)
		return respond_plain(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, no_memory);
	return respond(connection, &answer, MHD_RESPMEM_MUST_FREE);
}

/* ---- the loop ---- */

static void on_timer(uv_timer_t *timer);

/*
 * Hang up on connections that are too old. libmicrohttpd ends silent ones itself; one that is not silent
 * brings us here.
 */
static void
end_old_ones(struct http_server *server)
{
	const uint64_t now = uv_now(server->timer.loop), limit_ms = HTTP_SERVER_SECONDS * 1000ull;

	for (unsigned i = 0; i < HTTP_SERVER_CONNECTIONS; i++)
		if (server->held[i].fd >= 0 && now >= server->held[i].began_ms + limit_ms)
			shutdown(server->held[i].fd, SHUT_RDWR); /* libmicrohttpd closes it */
}

static void
turn(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	server->closed = false;
	end_old_ones(server);
	MHD_run(server->daemon);
	if (server->closed)
		uv_timer_start(&server->timer, on_timer, 0, 0);
	else if (MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES)
		uv_timer_start(&server->timer, on_timer, wait_ms, 0);
	else
		uv_timer_stop(&server->timer);
}

static void
on_timer(uv_timer_t *timer)
{
	turn(timer->data);
}

static void
on_poll(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	turn(poll->data);
}

static void
on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
	      enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = context;
	const union MHD_ConnectionInfo *info;
	struct held *held = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		server->closed = true;
		if (held)
			held->fd = -1;
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (unsigned i = 0; info && !held && i < HTTP_SERVER_CONNECTIONS; i++)
		if (server->held[i].fd < 0)
			held = &server->held[i];
	if (info && held)
		*held = (struct held){.fd = info->connect_fd, .began_ms = uv_now(server->timer.loop)};
	*socket_context = held;
}

/* ---- creating and freeing ---- */

static void __attribute__((format(printf, 2, 0)))
on_complaint(void *context, const char *format, va_list arguments)
{
	char text[256];
	size_t length;

	(void)context;
	vsnprintf(text, sizeof(text), format, arguments);
	length = strcspn(text, "\n");
	log_debug("metrics: %.*s", (int)length, text);
}

static void
on_closed(uv_handle_t *handle)
{
	struct http_server *server = handle->data;

	if (--server->open_handles == 0)
		free(server);
}

/* Start libmicrohttpd. It takes the listening socket, but not the socket's file. */
static int
start(struct http_server *server, uv_loop_t *loop)
{
	const union MHD_DaemonInfo *info;

	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER,
		on_complaint, server, MHD_OPTION_LISTEN_SOCKET, server->listener.fd,
		MHD_OPTION_CONNECTION_LIMIT, HTTP_SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		HTTP_SERVER_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
	if (!server->daemon)
		return errno ? -errno : -EIO;
	server->listener.fd = -1; /* MHD_stop_daemon() closes it */
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return info ? uv_poll_init(loop, &server->poll, info->epoll_fd) : -EIO;
}

int
http_server_new(uv_loop_t *loop, struct listener *listener, http_server_fn *answer, void *context,
		struct http_server **ret_server)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server) {
		listener_close(listener);
		return -ENOMEM;
	}
	server->listener = *listener;
	*listener = (struct listener){.fd = -1};
	server->answer = answer;
	server->context = context;
	for (unsigned i = 0; i < HTTP_SERVER_CONNECTIONS; i++)
		server->held[i].fd = -1;
	r = start(server, loop);
	if (r < 0) {
		if (server->daemon)
			MHD_stop_daemon(server->daemon);
		listener_close(&server->listener);
		free(server);
		return r;
	}
	uv_timer_init(loop, &server->timer);
	server->open_handles = 2;
	server->poll.data = server->timer.data = server;
	uv_poll_start(&server->poll, UV_READABLE, on_poll);
	turn(server);
	*ret_server = server;
	return 0;
}

void
http_server_free(struct http_server *server)
{
	if (!server)
		return;
	uv_poll_stop(&server->poll); /* before its descriptor is closed */
	MHD_stop_daemon(server->daemon);
	listener_close(&server->listener);
	uv_close((uv_handle_t *)&server->poll, on_closed);
	uv_close((uv_handle_t *)&server->timer, on_closed);
}
