/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A front with one listener on a loop that the test turns, and clients on real sockets in the same thread:
 * whoever waits for a fact turns the loop until it is there.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_GATEWAY_FIXTURE_H
#define TESTS_TOOLS_INFORMER_GATEWAY_GATEWAY_FIXTURE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/test_clock.h"
#include "tools/informer-gateway/exchange.h"
#include "tools/informer-gateway/front.h"
#include "tools/informer-gateway/listener.h"

#define UNUSED __attribute__((unused))
#define HEARD_MAX ((size_t)64 << 20)

struct gateway {
	uv_loop_t loop;
	struct gw_front *front;
	struct gw_listener *listener;
	unsigned over; /* exchanges that are */
	unsigned last_code;
};

struct caller {
	int fd;
	struct api_buf heard;
	bool eof;
};

static void
gateway_over(struct gw_exchange *x, void *ctx)
{
	struct gateway *g = ctx;

	g->over++;
	g->last_code = x->code;
}

static UNUSED void
gateway_front(struct gateway *g, struct gw_front_options options)
{
	memset(g, 0, sizeof(*g));
	options.over = gateway_over;
	options.ctx = g;
	test_clock_stop();
	assert_int_equal(uv_loop_init(&g->loop), 0);
	assert_int_equal(gw_front_new(&g->loop, &options, &g->front), 0);
}

static UNUSED void
gateway_listen(struct gateway *g, struct gw_listener_options options, gw_handler *handler, void *ctx)
{
	char *error = NULL;
	int r;

	options.name = options.name ? options.name : "test";
	if (!options.address && !options.fd)
		options.address = "127.0.0.1:0";
	r = gw_listener_open(g->front, &options, handler, ctx, &g->listener, &error);
	if (r < 0)
		fail_msg("%s", error);
}

static UNUSED void
gateway_close(struct gateway *g)
{
	gw_listener_close(g->listener);
	g->listener = NULL;
	gw_front_free(g->front);
	while (uv_run(&g->loop, UV_RUN_DEFAULT))
		;
	assert_int_equal(uv_loop_close(&g->loop), 0);
}

#define gateway_until(g, condition) test_loop_until(&(g)->loop, condition)

static UNUSED void
gateway_pass(struct gateway *g, uint64_t ms)
{
	test_clock_pass(&g->loop, ms);
}

/* ---- callers ---- */

static UNUSED void
call_tcp(struct gateway *g, struct caller *c)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const char *url = gw_listener_url(g->listener);

	*c = (struct caller){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	address.sin_port = htons((uint16_t)atoi(strrchr(url, ':') + 1));
	assert_int_equal(connect(c->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

static UNUSED void
call_unix(struct caller *c, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*c = (struct caller){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(c->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

static UNUSED void
hang_up(struct caller *c)
{
	close(c->fd);
	api_buf_done(&c->heard);
	*c = (struct caller){.fd = -1};
}

/* Send all of it; the loop is turned while it does not fit. A peer that has gone is fine. */
static UNUSED void
say_bytes(struct gateway *g, const struct caller *c, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = send(c->fd, text, length, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
		if (n < 0)
			test_loop_turn(&g->loop);
	}
}

static UNUSED void
say(struct gateway *g, const struct caller *c, const char *text)
{
	say_bytes(g, c, text, strlen(text));
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: gateway\r\n\r\n"

/* Take what has come; whether there is more to come. */
static UNUSED bool
listen_to(struct caller *c)
{
	char block[16384];
	ssize_t n;

	while (!c->eof && c->heard.len < HEARD_MAX) {
		n = recv(c->fd, block, sizeof(block), 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			c->eof = true;
		if (n <= 0)
			break;
		api_buf_put(&c->heard, block, (size_t)n);
	}
	api_buf_put(&c->heard, "", 0);
	return !c->eof;
}

static UNUSED bool
has_heard(struct caller *c, const char *text)
{
	listen_to(c);
	return c->heard.data && memmem(c->heard.data, c->heard.len, text, strlen(text)) != NULL;
}

#define hear(g, c, text) gateway_until(g, has_heard(c, text) || (c)->eof); assert_heard(c, text)

static UNUSED void
assert_heard(struct caller *c, const char *text)
{
	if (!has_heard(c, text))
		fail_msg("not said: \"%s\", but: \"%.2000s\"", text, c->heard.data ? c->heard.data : "");
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

#endif
