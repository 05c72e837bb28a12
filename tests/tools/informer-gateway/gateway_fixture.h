/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A front with one listener on a loop that the test turns, and clients on real sockets in the same thread. A
 * client that waits turns the loop.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_GATEWAY_FIXTURE_H
#define TESTS_TOOLS_INFORMER_GATEWAY_GATEWAY_FIXTURE_H

#include <arpa/inet.h>
#include <sys/un.h>

#include <gnutls/gnutls.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_clock.h"
#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/http/front.h"
#include "tools/informer-gateway/http/listener.h"

#define UNUSED __attribute__((unused))
#define HEARD_MAX ((size_t)64 << 20)

struct gateway {
	uv_loop_t own_loop, *loop;           /* the test's own loop if set before gateway_begin() */
	const char *dir;                     /* a temporary folder */
	char socket[100], unix_address[110]; /* in dir; "unix:SOCKET" */
	struct gw_front *front;
	struct gw_listener *listener;
	struct caller *callers;
	unsigned over; /* exchanges that have ended */
	unsigned last_code;
};

/* A client. The gateway closes those still open at the end. */
struct caller {
	struct gateway *g;
	struct caller *next;
	int fd;
	gnutls_session_t tls; /* or NULL */
	gnutls_certificate_credentials_t credentials;
	struct api_buf heard;
	bool eof;
};

static void
hang_up(struct caller *c)
{
	if (c->tls) {
		gnutls_deinit(c->tls);
		gnutls_certificate_free_credentials(c->credentials);
		c->tls = NULL;
	}
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	api_buf_done(&c->heard);
	c->heard = (struct api_buf){0};
}

static void
gateway_over(struct gw_exchange *x, void *ctx)
{
	struct gateway *g = ctx;

	g->over++;
	g->last_code = x->code;
}

static UNUSED void
gateway_begin(struct gateway *g)
{
	void *dir = NULL;

	test_clock_stop();
	assert_int_equal(temp_dir_setup(&dir), 0);
	g->dir = dir;
	snprintf(g->socket, sizeof(g->socket), "%s/gateway.sock", g->dir);
	if (!g->loop) {
		g->loop = &g->own_loop;
		assert_int_equal(uv_loop_init(g->loop), 0);
	}
	snprintf(g->unix_address, sizeof(g->unix_address), "unix:%s", g->socket);
}

static UNUSED void
gateway_front(struct gateway *g, struct gw_front_options options)
{
	if (!options.over) {
		options.over = gateway_over;
		options.ctx = g;
	}
	g->front = gw_front_new(g->loop, &options);
}

/* Open a listener with this handler, and a default front if none exists. */
static UNUSED void
gateway_listen(struct gateway *g, struct gw_listener_options options, gw_handler *handler, void *ctx)
{
	char *error = NULL;
	int r;

	if (!g->front)
		gateway_front(g, (struct gw_front_options){0});
	options.name = options.name ? options.name : "test";
	if (!options.address && !options.fd)
		options.address = "127.0.0.1:0";
	r = gw_listener_open(g->front, &options, handler, ctx, &g->listener, &error);
	if (r < 0)
		fail_msg("%s", error);
}

static UNUSED void
gateway_close_listener(struct gateway *g)
{
	gw_listener_close(g->listener);
	g->listener = NULL;
}

/* Close all clients, the listener and the front. The loop stays. */
static UNUSED void
gateway_shut(struct gateway *g)
{
	for (struct caller *c = g->callers, *next; c; c = next) {
		next = c->next;
		hang_up(c);
		free(c);
	}
	g->callers = NULL;
	gateway_close_listener(g);
	gw_front_free(g->front);
	g->front = NULL;
	while (uv_run(g->loop, g->loop == &g->own_loop ? UV_RUN_DEFAULT : UV_RUN_NOWAIT) &&
	       g->loop == &g->own_loop)
		;
}

static UNUSED void
gateway_close(struct gateway *g)
{
	void *dir = (void *)(uintptr_t)g->dir;

	gateway_shut(g);
	if (g->loop == &g->own_loop)
		assert_int_equal(uv_loop_close(g->loop), 0);
	temp_dir_teardown(&dir);
}

/* cmocka's: *state is a gateway that is not open yet. */
static UNUSED int
gateway_set_up(void **state)
{
	static struct gateway g;

	gateway_begin(&g);
	*state = &g;
	return 0;
}

TEAR_DOWN(gateway_tear_down, gateway_close)

#define GATEWAY_TEST(name) TEST_CASE_OF(struct gateway *g, gateway_set_up, gateway_tear_down, name)

#define gateway_until(g, condition) test_loop_until((g)->loop, condition)

static UNUSED void
gateway_pass(struct gateway *g, uint64_t ms)
{
	test_clock_pass(g->loop, ms);
}

/* ---- callers ---- */

static UNUSED struct caller *
call(struct gateway *g, const void *address, socklen_t length)
{
	struct caller *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	*c = (struct caller){.g = g, .next = g->callers};
	g->callers = c;
	c->fd = socket(((const struct sockaddr *)address)->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(c->fd, address, length), 0);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	return c;
}

static UNUSED struct caller *
call_tcp(struct gateway *g)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};

	address.sin_port = htons((uint16_t)atoi(strrchr(gw_listener_url(g->listener), ':') + 1));
	return call(g, &address, sizeof(address));
}

static UNUSED struct caller *
call_unix(struct gateway *g)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", g->socket);
	return call(g, &address, sizeof(address));
}

/* Connect by TLS, with a certificate and key in PEM or NULL. Returns gnutls's result of the handshake. */
static UNUSED int
call_tls(struct gateway *g, const char *certificate, const char *key, struct caller **ret_caller)
{
	struct caller *c = *ret_caller = call_tcp(g);
	int r;

	gnutls_certificate_allocate_credentials(&c->credentials);
	if (certificate) {
		gnutls_datum_t cert = {(unsigned char *)(uintptr_t)certificate,
				       (unsigned)strlen(certificate)},
			       own_key = {(unsigned char *)(uintptr_t)key, (unsigned)strlen(key)};

		assert_int_equal(gnutls_certificate_set_x509_key_mem(c->credentials, &cert, &own_key,
								     GNUTLS_X509_FMT_PEM),
				 0);
	}
	gnutls_init(&c->tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_FORCE_CLIENT_CERT);
	gnutls_set_default_priority(c->tls);
	gnutls_credentials_set(c->tls, GNUTLS_CRD_CERTIFICATE, c->credentials);
	gnutls_transport_set_int(c->tls, c->fd);
	while ((r = gnutls_handshake(c->tls)) == GNUTLS_E_AGAIN)
		test_loop_turn(g->loop);
	return r;
}

static ssize_t
caller_result(const struct caller *c, ssize_t n)
{
	if (!c->tls || n >= 0)
		return n;
	errno = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED ? EAGAIN : ECONNRESET;
	return -1;
}

/* Take what has arrived. Returns true while the connection is open. */
static UNUSED bool
listen_to(struct caller *c)
{
	char block[16384];
	ssize_t n;

	while (!c->eof && c->heard.len < HEARD_MAX) {
		n = c->tls ? gnutls_record_recv(c->tls, block, sizeof(block))
			   : recv(c->fd, block, sizeof(block), 0);
		n = caller_result(c, n);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			c->eof = true;
		if (n <= 0)
			break;
		api_buf_put(&c->heard, block, (size_t)n);
	}
	api_buf_put(&c->heard, "", 0);
	return !c->eof;
}

/* Send all bytes. While the socket is full, turn the loop and hear. A closed peer is no error. */
static UNUSED void
say_bytes(struct caller *c, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = c->tls ? gnutls_record_send(c->tls, text, length)
				   : send(c->fd, text, length, MSG_NOSIGNAL);

		n = caller_result(c, n);
		if (n < 0 && errno != EAGAIN)
			return;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		} else {
			listen_to(c);
			test_loop_turn(c->g->loop);
		}
	}
}

static UNUSED void
say(struct caller *c, const char *text)
{
	say_bytes(c, text, strlen(text));
}

/* A new client that sends this. */
static UNUSED struct caller *
asks(struct gateway *g, const char *text)
{
	struct caller *c = call_tcp(g);

	say(c, text);
	return c;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: gateway\r\n\r\n"

static UNUSED bool
has_heard(struct caller *c, const char *text)
{
	listen_to(c);
	return c->heard.data && memmem(c->heard.data, c->heard.len, text, strlen(text)) != NULL;
}

static UNUSED void
assert_heard(struct caller *c, const char *text)
{
	if (!has_heard(c, text))
		fail_msg("not said: \"%s\", but: \"%.2000s\"", text, c->heard.data ? c->heard.data : "");
}

/* Turn the loop until the text has arrived. */
static UNUSED void
hear(struct caller *c, const char *text)
{
	gateway_until(c->g, has_heard(c, text) || c->eof);
	assert_heard(c, text);
}

static UNUSED bool
has_ended(struct caller *c)
{
	return !listen_to(c);
}

static UNUSED void
forget_heard(struct caller *c)
{
	api_buf_reset(&c->heard);
}

/* Forget what was heard, send, and hear. */
static UNUSED void
ask(struct caller *c, const char *text, const char *answer)
{
	forget_heard(c);
	say(c, text);
	hear(c, answer);
}

/* A new client that sends the first text and hears the second. */
static UNUSED struct caller *
hears(struct gateway *g, const char *text, const char *answer)
{
	struct caller *c = asks(g, text);

	hear(c, answer);
	return c;
}

#endif
