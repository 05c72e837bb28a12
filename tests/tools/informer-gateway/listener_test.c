/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: who is admitted, how many, how slowly, and as whom. */
#include "gateway_fixture.h"

#include <netinet/tcp.h>

#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/http/listener.h"

/* The handler: answers each request with its peer and its target. */
static void
echo(struct gw_exchange *x, void *ctx)
{
	struct api_buf body = {0};

	(void)ctx;
	api_buf_printf(&body, "%s %s from %s uid %d\n", x->api.method, x->target, x->peer->address,
		       x->peer->has_credentials ? (int)x->peer->uid : -1);
	gw_reply(x, 200, "text/plain", &body);
}

/* Two requests on one connection are answered in order, and the connection stays open. */
GATEWAY_TEST(answers_one_request_after_the_other)
{
	struct caller *c;

	gateway_listen(g, (struct gw_listener_options){0}, echo, NULL);
	c = hears(g, GET("/a?x=%20y") GET("/b"), "GET /a?x=%20y from 127.0.0.1:");
	hear(c, "GET /b from 127.0.0.1:");
	assert_false(has_ended(c));
	gateway_until(g, g->over == 2);
	hang_up(c);
	gateway_until(g, gw_front_counters(g->front)->connections == 0);
}

/* On a Unix socket the kernel names the peer. Its file has the configured mode and goes with the listener. */
GATEWAY_TEST(a_unix_socket_names_its_peer)
{
	char expected[64];
	struct stat st;

	gateway_listen(g, (struct gw_listener_options){.address = g->unix_address, .mode = 0600}, echo, NULL);
	assert_int_equal(stat(g->socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(expected, sizeof(expected), "from unix uid %d\n", (int)getuid());
	ask(call_unix(g), GET("/"), expected);
	gateway_close_listener(g);
	assert_int_equal(stat(g->socket, &st), -1);
}

/* A connection beyond the total limit is refused with a message. Those within it are still served. */
GATEWAY_TEST(a_connection_beyond_the_limit_is_refused)
{
	struct caller *in[4], *out[80];

	gateway_front(g, (struct gw_front_options){.connections = 4});
	gateway_listen(g, (struct gw_listener_options){0}, echo, NULL);
	for (int i = 0; i < 4; i++)
		in[i] = call_tcp(g);
	gateway_until(g, gw_front_counters(g->front)->connections == 4);
	for (int i = 0; i < 80; i++)
		out[i] = call_tcp(g);
	gateway_until(g, gw_front_counters(g->front)->refused_in_all == 80);
	/* some are refused when they ask, the rest at once */
	ask(out[0], GET("/"), "HTTP/1.1 429 ");
	hear(out[0], "too many connections");
	hear(out[79], "HTTP/1.1 429 ");
	hear(out[79], "too many connections");
	gateway_until(g, has_ended(out[0]) && has_ended(out[79]));
	/* those that do not ask are refused at last */
	gateway_pass(g, 3000);
	hear(out[1], "HTTP/1.1 429 ");
	gateway_until(g, gw_front_counters(g->front)->connections == 4);
	ask(in[3], GET("/still"), "GET /still");
	/* a freed place goes to the next client */
	hang_up(in[0]);
	for (int i = 0; i < 80; i++)
		hang_up(out[i]);
	gateway_until(g, gw_front_counters(g->front)->connections == 3);
	hears(g, GET("/next"), "GET /next");
}

/* One client cannot take all places: beyond its own limit it is refused, and another client is served. */
GATEWAY_TEST(one_client_takes_no_more_than_its_share)
{
	struct gw_listener *tcp;
	struct caller *c[3];

	gateway_front(g, (struct gw_front_options){.connections = 10, .connections_of_one = 2});
	gateway_listen(g, (struct gw_listener_options){0}, echo, NULL);
	for (int i = 0; i < 3; i++)
		c[i] = call_tcp(g);
	ask(c[2], GET("/"), "HTTP/1.1 429 ");
	assert_int_equal(gw_front_counters(g->front)->refused_of_one, 1);
	tcp = g->listener;
	gateway_listen(g, (struct gw_listener_options){.address = g->unix_address}, echo, NULL);
	ask(call_unix(g), GET("/other"), "GET /other");
	gw_listener_close(tcp);
}

/* A request that is incomplete at its deadline gets 408 and its connection is closed. */
GATEWAY_TEST(a_slow_request_is_cut)
{
	struct caller *c;
	unsigned ms = 0;

	gateway_listen(g, (struct gw_listener_options){.header_seconds = 1}, echo, NULL);
	c = asks(g, "GET /slow HTTP/1.1\r\n");
	for (; !has_ended(c); ms += 100) {
		say(c, "a");
		gateway_pass(g, 100);
	}
	assert_in_range(ms, 1000, 2000);
	assert_heard(c, "HTTP/1.1 408 ");
	assert_int_equal(gw_front_counters(g->front)->slow, 1);
	gateway_until(g, gw_front_counters(g->front)->connections == 0);
	assert_int_equal(gw_front_counters(g->front)->exchanges, 0);
}

/* A body that is incomplete at its deadline is cut as well. */
GATEWAY_TEST(a_slow_body_is_cut)
{
	struct caller *c;

	gateway_listen(g, (struct gw_listener_options){.header_seconds = 1}, echo, NULL);
	c = asks(g, "POST /slow HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc");
	gateway_pass(g, 2000);
	gateway_until(g, has_ended(c));
	assert_heard(c, "HTTP/1.1 408 ");
}

/* An idle connection is closed without a message: a 408 would be taken for the next request's answer. */
GATEWAY_TEST(an_idle_connection_is_closed_silently)
{
	struct caller *c;

	gateway_listen(g, (struct gw_listener_options){.header_seconds = 1, .idle_seconds = 3}, echo, NULL);
	c = hears(g, GET("/once"), "GET /once");
	forget_heard(c);
	gateway_pass(g, 2999); /* longer than a request may take */
	assert_false(has_ended(c));
	gateway_pass(g, 2000);
	gateway_until(g, has_ended(c));
	assert_int_equal(c->heard.len, 0);
	assert_int_equal(gw_front_counters(g->front)->slow, 0);
}

/* Headers of ten megabytes get 431, and the request reaches no handler. */
GATEWAY_TEST(large_headers_are_refused)
{
	const size_t size = (size_t)10 << 20;
	char *large = malloc(size + 1);
	struct caller *c;

	memset(large, 'x', size);
	large[size] = '\0';
	gateway_listen(g, (struct gw_listener_options){0}, echo, NULL);
	c = asks(g, "GET / HTTP/1.1\r\nHost: g\r\nA: ");
	say(c, large);
	hear(c, "HTTP/1.1 431 ");
	gateway_until(g, has_ended(c));
	free(large);
}

/* An inherited listener serves connections that already wait in its queue. */
GATEWAY_TEST(an_inherited_socket_is_served)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct caller *c;

	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(fd, 8), 0);
	getsockname(fd, (struct sockaddr *)&address, &length);
	c = call(g, &address, length);
	say(c, GET("/waiting"));
	gateway_listen(g, (struct gw_listener_options){.fd = fd}, echo, NULL);
	hear(c, "GET /waiting");
}

/* An inherited listener without authentication must be bound to loopback. */
GATEWAY_TEST(an_inherited_socket_of_all_addresses_is_refused)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
	struct gw_listener_options options = {.name = "test", .loopback = true};
	struct gw_listener *listener;
	char *error = NULL;

	gateway_front(g, (struct gw_front_options){0});
	options.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(options.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(options.fd, 8), 0);
	assert_true(gw_listener_open(g->front, &options, echo, NULL, &listener, &error) < 0);
	assert_non_null(strstr(error, "127.0.0.1 and [::1] alone"));
	free(error);
	close(options.fd);
}

/* On loopback a request for another host name is refused, as from a browser led here by a page. */
GATEWAY_TEST(another_machines_name_is_refused_on_loopback)
{
	gateway_listen(g, (struct gw_listener_options){.loopback = true}, echo, NULL);
	hears(g, "GET / HTTP/1.1\r\nHost: localhost:8001\r\n\r\n", "HTTP/1.1 200 ");
	hears(g, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403 ");
}

/* The gateway's end of a client's connection. Both ends are in this process. */
static int
other_end_of(const struct caller *c)
{
	struct sockaddr_in mine = {0}, peer = {0};

	for (int fd = 0; fd < 256; fd++) {
		socklen_t mine_length = sizeof(mine), peer_length = sizeof(peer);

		if (getsockname(c->fd, (struct sockaddr *)&mine, &mine_length) == 0 &&
		    getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0 &&
		    mine.sin_port == peer.sin_port)
			return fd;
	}
	return -1;
}

/* A client that vanishes silently is noticed by the kernel's keep-alive. */
GATEWAY_TEST(a_connection_is_kept_alive)
{
	socklen_t size = sizeof(int);
	int on = 0, timeout = 0, fd;

	gateway_listen(g, (struct gw_listener_options){0}, echo, NULL);
	fd = other_end_of(hears(g, GET("/"), "HTTP/1.1 200 "));
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &size), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size), 0);
	assert_int_equal(on, 1);
	assert_int_equal(timeout, 60000);
}
