/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: who gets in, how many, how slowly, and who they turn out to be. */
#include "gateway_fixture.h"

#include <sys/stat.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"

/* Answers each request with its peer and its target. */
static void
echo(struct gw_exchange *x, void *ctx)
{
	struct api_buf body = {0};

	(void)ctx;
	api_buf_printf(&body, "%s %s from %s uid %d\n", x->api.method, x->target, x->peer->address,
		       x->peer->has_credentials ? (int)x->peer->uid : -1);
	gw_reply(x, 200, "text/plain", &body);
}

/* Two requests on one connection are answered in order, and the connection stays. */
static void
answers_one_request_after_the_other(void **state)
{
	struct gateway g;
	struct caller c;

	(void)state;
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){0}, echo, NULL);
	call_tcp(&g, &c);
	say(&g, &c, GET("/a?x=%20y") GET("/b"));
	hear(&g, &c, "GET /a?x=%20y from 127.0.0.1:");
	hear(&g, &c, "GET /b from 127.0.0.1:");
	assert_false(has_ended(&c));
	gateway_until(&g, g.over == 2);
	hang_up(&c);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	gateway_close(&g);
}

/*
 * On a Unix socket the kernel says who asks; its file has the mode that was wanted, and goes with the
 * listener.
 */
static void
a_unix_socket_tells_who_asks(void **state)
{
	const char *path = temp_path(*state, "gateway.sock");
	char address[256], expected[64];
	struct gateway g;
	struct caller c;
	struct stat st;

	snprintf(address, sizeof(address), "unix:%s", path);
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){.address = address, .mode = 0600}, echo, NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	call_unix(&c, path);
	say(&g, &c, GET("/"));
	snprintf(expected, sizeof(expected), "from unix uid %d\n", (int)getuid());
	hear(&g, &c, expected);
	hang_up(&c);
	gateway_close(&g);
	assert_int_equal(stat(path, &st), -1);
}

/* A connection beyond the limit in all is told so and closed; those within it are served on. */
static void
one_connection_too_many_is_told_so(void **state)
{
	struct caller in[4], out[80];
	struct gateway g;

	(void)state;
	gateway_front(&g, (struct gw_front_options){.connections = 4});
	gateway_listen(&g, (struct gw_listener_options){0}, echo, NULL);
	for (int i = 0; i < 4; i++)
		call_tcp(&g, &in[i]);
	gateway_until(&g, gw_front_counters(g.front)->connections == 4);
	for (int i = 0; i < 80; i++)
		call_tcp(&g, &out[i]);
	gateway_until(&g, gw_front_counters(g.front)->refused_in_all == 80);
	/* some are told when they ask, those for whom there is no place for that at once */
	say(&g, &out[0], GET("/"));
	hear(&g, &out[0], "HTTP/1.1 429 ");
	hear(&g, &out[0], "too many connections");
	hear(&g, &out[79], "HTTP/1.1 429 ");
	hear(&g, &out[79], "too many connections");
	gateway_until(&g, has_ended(&out[0]) && has_ended(&out[79]));
	say(&g, &in[3], GET("/still"));
	hear(&g, &in[3], "GET /still");
	/* and a place that is given back is had by the next */
	hang_up(&in[0]);
	for (int i = 0; i < 80; i++)
		hang_up(&out[i]);
	gateway_until(&g, gw_front_counters(g.front)->connections == 3);
	call_tcp(&g, &in[0]);
	say(&g, &in[0], GET("/next"));
	hear(&g, &in[0], "GET /next");
	for (int i = 0; i < 4; i++)
		hang_up(&in[i]);
	gateway_close(&g);
}

/* One client cannot take the places of all: beyond its own limit it is refused, another is served. */
static void
one_client_takes_no_more_than_its_share(void **state)
{
	const char *path = temp_path(*state, "gateway.sock");
	struct gw_listener *tcp;
	struct caller c[3], other;
	char address[256];
	struct gateway g;

	snprintf(address, sizeof(address), "unix:%s", path);
	gateway_front(&g, (struct gw_front_options){.connections = 10, .connections_of_one = 2});
	gateway_listen(&g, (struct gw_listener_options){0}, echo, NULL);
	for (int i = 0; i < 3; i++)
		call_tcp(&g, &c[i]);
	say(&g, &c[2], GET("/"));
	hear(&g, &c[2], "HTTP/1.1 429 ");
	assert_int_equal(gw_front_counters(g.front)->refused_of_one, 1);
	tcp = g.listener;
	gateway_listen(&g, (struct gw_listener_options){.address = address}, echo, NULL);
	call_unix(&other, path);
	say(&g, &other, GET("/other"));
	hear(&g, &other, "GET /other");
	for (int i = 0; i < 3; i++)
		hang_up(&c[i]);
	hang_up(&other);
	gw_listener_close(tcp);
	gateway_close(&g);
}

/*
 * A request that is not whole in time is answered with 408 and its connection closed, however slowly it
 * comes.
 */
static void
a_slow_request_is_cut(void **state)
{
	struct gateway g;
	struct caller c;
	unsigned ms = 0;

	(void)state;
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){.header_seconds = 1}, echo, NULL);
	call_tcp(&g, &c);
	say(&g, &c, "GET /slow HTTP/1.1\r\n");
	for (; !has_ended(&c); ms += 100) {
		say(&g, &c, "a");
		gateway_pass(&g, 100);
	}
	assert_in_range(ms, 1000, 2000);
	assert_heard(&c, "HTTP/1.1 408 ");
	assert_int_equal(gw_front_counters(g.front)->slow, 1);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	assert_int_equal(gw_front_counters(g.front)->exchanges, 0);
	hang_up(&c);
	gateway_close(&g);
}

/* A body that is not whole in time is cut as well. */
static void
a_slow_body_is_cut(void **state)
{
	struct gateway g;
	struct caller c;

	(void)state;
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){.header_seconds = 1}, echo, NULL);
	call_tcp(&g, &c);
	say(&g, &c, "POST /slow HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc");
	gateway_pass(&g, 2000);
	gateway_until(&g, has_ended(&c));
	assert_heard(&c, "HTTP/1.1 408 ");
	hang_up(&c);
	gateway_close(&g);
}

/* An idle connection is closed without a word: a 408 would be taken for the next request's answer. */
static void
an_idle_connection_is_closed_silently(void **state)
{
	struct gateway g;
	struct caller c;

	(void)state;
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){.header_seconds = 1, .idle_seconds = 1}, echo, NULL);
	call_tcp(&g, &c);
	say(&g, &c, GET("/once"));
	hear(&g, &c, "GET /once");
	forget_heard(&c);
	gateway_pass(&g, 999);
	assert_false(has_ended(&c));
	gateway_pass(&g, 2000);
	gateway_until(&g, has_ended(&c));
	assert_int_equal(c.heard.len, 0);
	assert_int_equal(gw_front_counters(g.front)->slow, 0);
	hang_up(&c);
	gateway_close(&g);
}

/* Headers of ten megabytes are answered with 431, and nothing of the request is served. */
static void
large_headers_are_refused(void **state)
{
	const size_t size = (size_t)10 << 20;
	char *large = malloc(size + 1);
	struct gateway g;
	struct caller c;

	(void)state;
	memset(large, 'x', size);
	large[size] = '\0';
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){0}, echo, NULL);
	call_tcp(&g, &c);
	say(&g, &c, "GET / HTTP/1.1\r\nHost: g\r\nA: ");
	say(&g, &c, large);
	hear(&g, &c, "HTTP/1.1 431 ");
	gateway_until(&g, has_ended(&c));
	hang_up(&c);
	free(large);
	gateway_close(&g);
}

/* A listener that was inherited serves what waits in its queue already. */
static void
an_inherited_socket_is_served(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct gateway g;
	struct caller c;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(fd, 8), 0);
	getsockname(fd, (struct sockaddr *)&address, &length);
	c = (struct caller){.fd = socket(AF_INET, SOCK_STREAM, 0)};
	assert_int_equal(connect(c.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	fcntl(c.fd, F_SETFL, O_NONBLOCK);
	say(NULL, &c, GET("/waiting"));
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(&g, (struct gw_listener_options){.fd = fd}, echo, NULL);
	hear(&g, &c, "GET /waiting");
	hang_up(&c);
	gateway_close(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(answers_one_request_after_the_other),
	cmocka_unit_test_setup_teardown(a_unix_socket_tells_who_asks, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test(one_connection_too_many_is_told_so),
	cmocka_unit_test_setup_teardown(one_client_takes_no_more_than_its_share, temp_dir_setup,
					temp_dir_teardown),
	cmocka_unit_test(a_slow_request_is_cut),
	cmocka_unit_test(a_slow_body_is_cut),
	cmocka_unit_test(an_idle_connection_is_closed_silently),
	cmocka_unit_test(large_headers_are_refused),
	cmocka_unit_test(an_inherited_socket_is_served),
};
TEST_GROUP(tests, NULL, NULL);
