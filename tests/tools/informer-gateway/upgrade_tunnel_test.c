/* SPDX-License-Identifier: Apache-2.0 */
/* exec, attach, port-forward: a switch of protocols goes through, and then every byte of both sides. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/tools/informer-gateway/forward_world.h"

#define MEGABYTE (1ul << 20)
#define EXEC                                                                                                 \
	"POST /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: gateway\r\n"                     \
	"Authorization: Bearer theirs\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"                       \
	"X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n"
#define SWITCHED "HTTP/1.1 101 Switching Protocols\r\n"

static bool
write_text(struct duplex *d, const char *text)
{
	return duplex_write(d, text, strlen(text));
}

/* Gives back a megabyte, byte by byte plus one, while it comes; then says good-bye and ends. */
static bool
echo(struct duplex *d)
{
	size_t n = 0;

	while (n < MEGABYTE && (d->begin < d->end || duplex_fill(d))) {
		for (size_t i = d->begin; i < d->end; i++)
			d->buffer[i]++;
		n += d->end - d->begin;
		if (!duplex_write(d, d->buffer + d->begin, d->end - d->begin))
			return false;
		d->begin = d->end;
	}
	write_text(d, "good-bye");
	return false;
}

static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	static const char refusal[] =
		"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nAudit-Id: 7\r\n"
		"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n";

	(void)ctx;
	if (strstr(request->head, "/refused"))
		return write_text(d, refusal);
	if (strstr(request->head, "/hang"))
		return raw_server_wait(s);
	if (strstr(request->head, "/nonsense"))
		return write_text(d, "SSH-2.0-OpenSSH\r\n\r\n") && false;
	write_text(d, SWITCHED "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
			       "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\nhello");
	return echo(d);
}

struct session {
	const char *request;
	char head[512];
	char *data;
	size_t length;
	bool ends_early; /* says that it has no more, and reads on */
};

static void *
write_megabyte(void *ctx)
{
	struct duplex *d = ctx;
	char *piece = malloc(MEGABYTE);

	for (size_t i = 0; i < MEGABYTE; i++)
		piece[i] = (char)(i * 7 % 101);
	duplex_write(d, piece, MEGABYTE);
	free(piece);
	return NULL;
}

/* Switches, sends a megabyte, and reads all that comes meanwhile. */
static void
converse(struct duplex *d, void *ctx)
{
	struct session *s = ctx;
	char line[256];
	pthread_t writer;

	write_text(d, s->request);
	while (duplex_line(d, line, sizeof(line)) && strcmp(line, "\r\n") != 0)
		strncat(s->head, line, sizeof(s->head) - strlen(s->head) - 1);
	s->data = calloc(1, 2 * MEGABYTE);
	if (strncmp(s->head, SWITCHED, strlen(SWITCHED)) != 0)
		return;
	pthread_create(&writer, NULL, write_megabyte, d);
	if (s->ends_early) {
		pthread_join(writer, NULL);
		shutdown(d->fd, SHUT_WR);
	}
	while (s->length < 2 * MEGABYTE - DUPLEX_BUFFER && (d->begin < d->end || duplex_fill(d))) {
		memcpy(s->data + s->length, d->buffer + d->begin, d->end - d->begin);
		s->length += d->end - d->begin;
		d->begin = d->end;
	}
	if (!s->ends_early)
		pthread_join(writer, NULL);
}

static void
assert_echo(const struct session *s)
{
	assert_non_null(strstr(s->head, "101 Switching"));
	assert_non_null(strstr(s->head, "Upgrade: SPDY/3.1"));
	assert_non_null(strstr(s->head, "X-Stream-Protocol-Version: v4.channel.k8s.io"));
	assert_int_equal(s->length, 5 + MEGABYTE + 8);
	assert_memory_equal(s->data, "hello", 5);
	for (size_t i = 0; i < MEGABYTE; i++)
		if (s->data[5 + i] != (char)(i * 7 % 101 + 1))
			fail_msg("byte %zu is another", i);
	assert_memory_equal(s->data + 5 + MEGABYTE, "good-bye", 8);
}

static void
start(struct forward_world *f, bool tls_up, bool tls_here)
{
	upstream_world_start(f->u, tls_up, respond, NULL);
	forward_world_start(f, NULL, tls_here);
}

/* A megabyte each way, with what came right behind the switch and before the end; with the caller's bearer
 * alone. */
static void
bytes_go_both_ways(void **state)
{
	struct forward_world *f = *state;
	struct session s = {.request = EXEC};
	const struct raw_request *r;
	char expected[512];

	start(f, true, false);
	run_client(f, converse, &s);
	assert_echo(&s);
	r = raw_server_request(f->u->server, 0);
	snprintf(expected, sizeof(expected),
		 "POST /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		 "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nAuthorization: Bearer theirs\r\n"
		 "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n",
		 raw_server_port(f->u->server));
	assert_string_equal(r->head, expected);
	assert_false(r->certificate);
	free(s.data);
}

/* The same where the client's side is TLS as well. */
static void
bytes_go_both_ways_by_tls(void **state)
{
	struct forward_world *f = *state;
	struct session s = {.request = EXEC};

	start(f, true, true);
	run_client(f, converse, &s);
	assert_echo(&s);
	free(s.data);
}

/* A side that has no more to say still hears the other to its end. */
static void
who_has_said_all_still_hears(void **state)
{
	struct forward_world *f = *state;
	struct session s = {.request = EXEC, .ends_early = true};

	start(f, false, false);
	run_client(f, converse, &s);
	assert_echo(&s);
	free(s.data);
}

/* What upstream does not switch it answers, and that is the client's answer, taken out of its chunks. */
static void
a_refusal_is_the_clients_answer(void **state)
{
	struct forward_world *f = *state;
	struct bytes_seen seen;

	start(f, false, false);
	talk(f,
	     "GET /refused HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\nConnection: upgrade, close\r\n"
	     "Upgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n",
	     &seen);
	assert_non_null(strstr(seen.data, "HTTP/1.1 403"));
	assert_non_null(strstr(seen.data, "Audit-Id: 7"));
	assert_non_null(strstr(seen.data, "\r\n\r\n{\"a\":1}"));
	assert_string_equal(raw_header(raw_server_request(f->u->server, 0), "Sec-WebSocket-Key"), "k");
	bytes_seen_done(&seen);
}

/* Who answers with something else than HTTP, or is not there, or has no bearer: each is said. */
static void
what_cannot_be_switched_is_said(void **state)
{
	struct forward_world *f = *state;
	struct bytes_seen seen;

	start(f, false, false);
	talk(f,
	     "GET /nonsense HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\nConnection: upgrade, close\r\n"
	     "Upgrade: websocket\r\n\r\n",
	     &seen);
	assert_non_null(strstr(seen.data, "HTTP/1.1 502"));
	bytes_seen_done(&seen);
	talk(f, "GET /x HTTP/1.1\r\nHost: g\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n",
	     &seen);
	assert_non_null(strstr(seen.data, "HTTP/1.1 401"));
	bytes_seen_done(&seen);
	assert_int_equal(raw_server_count(f->u->server), 1);
}

static void
no_server_is_said(void **state)
{
	struct forward_world *f = *state;
	struct bytes_seen seen;

	upstream_world_start_nowhere(f->u);
	forward_world_start(f, NULL, false);
	talk(f,
	     "GET /x HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\nConnection: upgrade, close\r\n"
	     "Upgrade: websocket\r\n\r\n",
	     &seen);
	assert_non_null(strstr(seen.data, "HTTP/1.1 503"));
	assert_non_null(strstr(seen.data, "Retry-After: 1"));
	bytes_seen_done(&seen);
}

/* A client that goes before the switch takes its tunnel along, and the next one is served. */
static void
a_client_that_goes_ends_its_tunnel(void **state)
{
	static const char request[] =
		"GET /hang HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\nConnection: upgrade\r\n"
		"Upgrade: websocket\r\n\r\n";
	struct forward_world *f = *state;
	struct session s = {.request = EXEC};
	int fd;

	start(f, false, false);
	fd = duplex_connect(f->port);
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	test_loop_until(&f->u->w->loop, raw_server_count(f->u->server) == 1);
	close(fd);
	test_loop_until(&f->u->w->loop, gw_front_counters(f->front)->exchanges == 0);
	run_client(f, converse, &s);
	assert_echo(&s);
	free(s.data);
	test_loop_until(&f->u->w->loop, gw_front_counters(f->front)->exchanges == 0);
}

struct staying {
	struct forward_world *f;
	uv_async_t open; /* the tunnel is */
	bool ended;
};

static void
close_listener(uv_async_t *async)
{
	struct staying *s = async->data;

	gw_listener_close(s->f->listener);
	s->f->listener = NULL;
	uv_close((uv_handle_t *)async, NULL);
}

/* Stays until the other side ends. */
static void
stay(struct duplex *d, void *ctx)
{
	struct staying *s = ctx;
	char line[256];

	write_text(d, EXEC);
	while (duplex_line(d, line, sizeof(line)) && strcmp(line, "\r\n") != 0)
		;
	uv_async_send(&s->open);
	do
		d->begin = d->end;
	while (duplex_fill(d));
	s->ended = true;
}

/* A listener that is closed takes its tunnels along. */
static void
a_listener_takes_its_tunnels_along(void **state)
{
	struct forward_world *f = *state;
	struct staying s = {.f = f};

	start(f, false, false);
	uv_async_init(&f->u->w->loop, &s.open, close_listener);
	s.open.data = &s;
	run_client(f, stay, &s);
	assert_true(s.ended);
	test_loop_until(&f->u->w->loop, gw_front_counters(f->front)->exchanges == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, forward_world_setup, forward_world_teardown)
static const struct CMUnitTest tests[] = {
	TEST(bytes_go_both_ways),
	TEST(bytes_go_both_ways_by_tls),
	TEST(who_has_said_all_still_hears),
	TEST(a_refusal_is_the_clients_answer),
	TEST(what_cannot_be_switched_is_said),
	TEST(no_server_is_said),
	TEST(a_client_that_goes_ends_its_tunnel),
	TEST(a_listener_takes_its_tunnels_along),
};
TEST_GROUP(tests, NULL, NULL);
