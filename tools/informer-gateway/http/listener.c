/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listening socket, a libmicrohttpd daemon without one, and the loop between them; see listener.h.
 *
 * libmicrohttpd watches its connections with its own epoll descriptor. The loop watches that descriptor, and
 * a timer for libmicrohttpd's timeouts and resumed connections.
 */
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/informer-gateway/http/exchange_private.h"
#include "tools/informer-gateway/http/front_private.h"
#include "tools/informer-gateway/http/inherited.h"
#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-gateway/http/loopback.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

/* One thread runs everything. MHD_add_connection() reports a connection before it returns. */
#if MHD_VERSION >= 0x01000000
#define NO_LOCKS MHD_USE_NO_THREAD_SAFETY
#define STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define NO_LOCKS 0u
#define STRICT MHD_OPTION_STRICT_FOR_CLIENT
#endif
/* For each connection: the request's headers, then the answer's buffer. */
#define CONNECTION_BYTES ((size_t)24 * 1024)
#define HEADER_SECONDS 10u
#define IDLE_SECONDS 120u
#define BODY_BYTES ((size_t)3 << 20)
#define REFUSED_MAX 64u /* refused connections that get a whole answer */
#define ACCEPTS 64      /* connections accepted before other events get their turn */
#define ACCEPT_RETRY_MS 100u
#define TLS_LOOK_MS 10000u
#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* ---- libmicrohttpd on the loop ---- */

static void on_daemon_timer(uv_timer_t *timer);

static void
turn(struct gw_listener *l)
{
	MHD_UNSIGNED_LONG_LONG wait_ms = 0;

	l->called = false;
	MHD_run(l->daemon);
	gw_clients_rest(l);
	if (l->called || (MHD_get_timeout(l->daemon, &wait_ms) == MHD_YES && wait_ms == 0)) {
		/* an idle handle: libuv runs timers with timeout 0 again before other events */
		uv_idle_start(&l->daemon_idle, l->turn);
		return;
	}
	uv_idle_stop(&l->daemon_idle);
	if (wait_ms > 0)
		uv_timer_start(&l->daemon_timer, on_daemon_timer, wait_ms, 0);
	else
		uv_timer_stop(&l->daemon_timer);
}

static void
on_daemon_timer(uv_timer_t *timer)
{
	turn(timer->data);
}

static void
on_daemon_idle(uv_idle_t *idle)
{
	turn(idle->data);
}

static void
on_daemon(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	turn(poll->data);
}

static void
on_connection(void *ctx, struct MHD_Connection *connection, void **client,
	      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*client = gw_client_new(ctx, connection);
		return;
	}
	if (*client)
		gw_client_free(*client);
	*client = NULL;
}

static void __attribute__((format(printf, 2, 0)))
on_complaint(void *ctx, const char *format, va_list arguments)
{
	const struct gw_listener *l = ctx;
	char text[256];

	vsnprintf(text, sizeof(text), format, arguments);
	log_debug("%s: %.*s", l->name, (int)strcspn(text, "\n"), text);
}

/* ---- connections ---- */

/* Notice within 60 s that a client has vanished while its watch is quiet. No effect on Unix sockets. */
static void
notice_who_vanishes(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},          {IPPROTO_TCP, TCP_KEEPIDLE, 30},
		{IPPROTO_TCP, TCP_KEEPINTVL, 10},       {IPPROTO_TCP, TCP_KEEPCNT, 3},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, 60000},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static void
add(struct gw_listener *l, int fd, const struct sockaddr *address, socklen_t length)
{
	struct gw_front *front = l->front;
	enum gw_quota_verdict verdict;
	struct gw_peer peer;
	uint64_t key;

	notice_who_vanishes(fd);
	gw_peer_of_socket(&peer, fd, address, length, l->tls != NULL);
	key = gw_peer_key(&peer);
	verdict = gw_quota_take(&front->quota, key);
	front->counters.accepted++;
	front->counters.refused_in_all += verdict == GW_QUOTA_ALL;
	front->counters.refused_of_one += verdict == GW_QUOTA_OF_ONE;
	if (verdict != GW_QUOTA_TAKEN && front->refused >= REFUSED_MAX) {
		gw_client_turn_away(fd, l->tls != NULL);
		gw_peer_done(&peer);
		return;
	}
	l->refuse = verdict != GW_QUOTA_TAKEN;
	/* cppcheck-suppress autoVariables ; it is taken, or taken back, below */
	l->arriving = &peer;
	(void)MHD_add_connection(l->daemon, fd, address, length); /* closes fd on failure */
	if (!l->arriving)
		return;
	/* libmicrohttpd failed before on_connection() */
	l->arriving = NULL;
	gw_peer_done(&peer);
	if (verdict == GW_QUOTA_TAKEN)
		gw_quota_give_back(&front->quota, key);
}

static void on_accept(uv_poll_t *poll, int status, int events);

static void
on_accept_again(uv_timer_t *timer)
{
	struct gw_listener *l = timer->data;

	if (l->accepting)
		uv_poll_start(&l->accept_poll, UV_READABLE, on_accept);
}

static void
on_accept(uv_poll_t *poll, int status, int events)
{
	struct gw_listener *l = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
		socklen_t length = sizeof(address);
		int fd = accept4(l->socket.fd, (struct sockaddr *)&address, &length,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			add(l, fd, (struct sockaddr *)&address, length);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			log_warning("%s: cannot accept: %s", l->name, strerror(errno));
			uv_poll_stop(poll);
			uv_timer_start(&l->accept_timer, on_accept_again, ACCEPT_RETRY_MS, 0);
			break;
		} else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	turn(l);
}

/* ---- certificates ---- */

int
gw_listener_reload(struct gw_listener *listener, char **ret_error)
{
	return listener->tls ? gw_tls_reload(listener->tls, ret_error) : 0;
}

static void
on_tls_timer(uv_timer_t *timer)
{
	struct gw_listener *l = timer->data;
	_cleanup_(api_freep) char *error = NULL;

	if (!gw_tls_changed(l->tls))
		return;
	if (gw_listener_reload(l, &error) < 0)
		log_warning("%s: the certificate stays as it is: %s", l->name, error);
	else
		log_info("%s: the certificate was read again", l->name);
}

/* ---- opening and closing ---- */

/* Open the address, or take the inherited socket. */
static int
open_socket(struct gw_listener *l, const struct gw_listener_options *options, char **ret_error)
{
	struct listen_address address;
	int r;

	if (!options->address) {
		l->socket = listener_inherited(options->fd);
		return 0;
	}
	r = listen_address_parse(options->address, &address, ret_error);
	if (r == 0)
		r = listener_open(&address, &l->socket, ret_error);
	if (r == 0 && l->socket.path && options->mode && chmod(l->socket.path, options->mode) < 0)
		r = message_set(ret_error, -errno, "%s: %s", options->address, strerror(errno));
	return r;
}

/* libmicrohttpd requires a source of certificates. gw_tls_install() gives each session its own. */
static int
no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
	       const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
	       unsigned *certificate_count, gnutls_privkey_t *key)
{
	(void)session, (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
	(void)certificates, (void)certificate_count, (void)key;
	return -1;
}

static int
start_daemon(struct gw_listener *l)
{
	struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES},
				       {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate},
				       {MHD_OPTION_END, 0, NULL}};
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
			 MHD_USE_ERROR_LOG | NO_LOCKS;

	if (l->tls)
		flags |= MHD_USE_TLS;
	else
		tls[0] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	errno = 0;
	l->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, gw_exchange_handle, l, MHD_OPTION_EXTERNAL_LOGGER, on_complaint, l,
		MHD_OPTION_CONNECTION_LIMIT, l->front->options.connections + REFUSED_MAX + 1,
		MHD_OPTION_CONNECTION_TIMEOUT, l->options.idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_NOTIFY_COMPLETED,
		gw_exchange_over, l, MHD_OPTION_URI_LOG_CALLBACK, gw_exchange_begin, l, STRICT, 1,
		MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	return l->daemon ? 0 : errno ? -errno : -EIO;
}

static void
start_handles(struct gw_listener *l)
{
	uv_loop_t *loop = l->front->loop;

	uv_timer_init(loop, &l->daemon_timer);
	uv_idle_init(loop, &l->daemon_idle);
	l->daemon_idle.data = l;
	uv_timer_init(loop, &l->accept_timer);
	uv_timer_init(loop, &l->tls_timer);
	l->daemon_timer.data = l->accept_timer.data = l->tls_timer.data = l;
	l->daemon_poll.data = l->accept_poll.data = l;
	l->open_handles = 6;
	l->accepting = true;
	uv_poll_start(&l->daemon_poll, UV_READABLE, on_daemon);
	uv_poll_start(&l->accept_poll, UV_READABLE, on_accept);
	if (l->tls)
		uv_timer_start(&l->tls_timer, on_tls_timer, TLS_LOOK_MS, TLS_LOOK_MS);
	turn(l);
}

static int
open_daemon(struct gw_listener *l, char **ret_error)
{
	const union MHD_DaemonInfo *info;
	int r = start_daemon(l);

	if (r < 0)
		return message_set(ret_error, r, "the HTTP server does not start: %s", strerror(-r));
	info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	r = info ? uv_poll_init(l->front->loop, &l->daemon_poll, info->epoll_fd) : -EIO;
	/* last step that can fail: the handles in the loop are not removed on failure */
	if (r == 0)
		r = uv_poll_init(l->front->loop, &l->accept_poll, l->socket.fd);
	return r < 0 ? message_set(ret_error, r, "the HTTP server has no place in the loop: %s", strerror(-r))
		     : 0;
}

static void
release(struct gw_listener *l)
{
	if (l->daemon)
		MHD_stop_daemon(l->daemon);
	listener_close(&l->socket);
	gw_tls_free(l->tls);
	free(l->name);
	free(l);
}

int
gw_listener_open(struct gw_front *front, const struct gw_listener_options *options, gw_handler *handler,
		 void *ctx, struct gw_listener **ret_listener, char **ret_error)
{
	struct gw_listener *l = api_alloc(sizeof(*l));
	struct gw_listener_options *o = &l->options;
	int r;

	*l = (struct gw_listener){
		.front = front, .handler = handler, .ctx = ctx, .options = *options, .turn = on_daemon_idle};
	l->socket.fd = -1;
	l->name = api_strndup(options->name, strlen(options->name));
	o->header_seconds = o->header_seconds ? o->header_seconds : HEADER_SECONDS;
	o->idle_seconds = o->idle_seconds ? o->idle_seconds : IDLE_SECONDS;
	o->body_bytes = o->body_bytes ? o->body_bytes : BODY_BYTES;
	r = options->tls_cert ? gw_tls_open(options->tls_cert, options->tls_key, options->client_ca,
					    options->client_required, &l->tls, ret_error)
			      : 0;
	if (r == 0)
		r = open_socket(l, options, ret_error);
	if (r == 0 && options->loopback && !gw_loopback_socket(l->socket.fd))
		r = message_set(ret_error, -EADDRNOTAVAIL,
				"plain HTTP without identity is for 127.0.0.1 and [::1] alone");
	/* when another gateway ends, thousands of clients may connect at once */
	if (r == 0 && listen(l->socket.fd, SOMAXCONN) < 0)
		r = message_set(ret_error, -errno, "listen: %s", strerror(errno));
	if (r == 0)
		r = open_daemon(l, ret_error);
	if (r < 0) {
		release(l);
		return r;
	}
	/* a TLS listener's URL begins with https */
	snprintf(l->url, sizeof(l->url), "%.4s%s%s", l->socket.name,
		 l->tls && !strncmp(l->socket.name, "http", 4) ? "s" : "", l->socket.name + 4);
	LIST_INSERT_HEAD(&front->listeners, l, link);
	start_handles(l);
	*ret_listener = l;
	return 0;
}

static void
on_closed(uv_handle_t *handle)
{
	struct gw_listener *l = handle->data;

	if (--l->open_handles == 0)
		release(l);
}

void
gw_listener_stop_accepting(struct gw_listener *listener)
{
	if (!listener->accepting)
		return;
	listener->accepting = false;
	uv_timer_stop(&listener->accept_timer);
	uv_poll_stop(&listener->accept_poll);
	uv_close((uv_handle_t *)&listener->accept_poll, on_closed);
	listener_close(&listener->socket);
	listener->socket = (struct listener){.fd = -1};
}

void
gw_listener_close(struct gw_listener *listener)
{
	struct gw_client *c;

	if (!listener)
		return;
	gw_listener_stop_accepting(listener);
	LIST_FOREACH (c, &listener->front->clients, link)
		if (c->listener == listener && c->x)
			gw_exchange_cut(c->x);
	uv_poll_stop(&listener->daemon_poll); /* before MHD_stop_daemon() closes the descriptor */
	gw_clients_go_on(listener);
	MHD_run(listener->daemon);
	MHD_stop_daemon(listener->daemon);
	listener->daemon = NULL;
	LIST_REMOVE(listener, link);
	uv_close((uv_handle_t *)&listener->daemon_poll, on_closed);
	uv_close((uv_handle_t *)&listener->daemon_timer, on_closed);
	uv_close((uv_handle_t *)&listener->daemon_idle, on_closed);
	uv_close((uv_handle_t *)&listener->accept_timer, on_closed);
	uv_close((uv_handle_t *)&listener->tls_timer, on_closed);
}

const char *
gw_listener_name(const struct gw_listener *listener)
{
	return listener->name;
}

const char *
gw_listener_url(const struct gw_listener *listener)
{
	return listener->url;
}

void *
gw_listener_profile(const struct gw_listener *listener)
{
	return listener->options.profile;
}
