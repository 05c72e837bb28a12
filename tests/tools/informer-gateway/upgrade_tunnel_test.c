/* SPDX-License-Identifier: Apache-2.0 */
/* exec, attach, port-forward: a switch of protocols goes through, and then every byte of both sides. */
#include "forward_world.h"

#define MEGABYTE (1ul << 20)
#define EXEC                                                                                                 \
	"POST /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: gateway\r\n"                     \
	"Authorization: Bearer theirs\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"                       \
	"X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n"
#define WEBSOCKET "Host: g\r\nAuthorization: Bearer t\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n"
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

/* Switches, sends a megabyte, and hears all that comes meanwhile; it comes back byte by byte plus one. */
static void
assert_echo(struct caller *c, bool ends_early)
{
	char *piece = malloc(MEGABYTE);
	const char *body;

	for (size_t i = 0; i < MEGABYTE; i++)
		piece[i] = (char)(i * 7 % 101);
	say(c, EXEC);
	hear(c, "\r\n\r\n");
	assert_heard(c, SWITCHED);
	assert_heard(c, "Upgrade: SPDY/3.1");
	assert_heard(c, "X-Stream-Protocol-Version: v4.channel.k8s.io");
	say_bytes(c, piece, MEGABYTE);
	if (ends_early)
		shutdown(c->fd, SHUT_WR);
	hear_all(c);
	body = strstr(c->heard.data, "\r\n\r\n") + 4;
	assert_int_equal(c->heard.data + c->heard.len - body, 5 + MEGABYTE + 8);
	assert_memory_equal(body, "hello", 5);
	for (size_t i = 0; i < MEGABYTE; i++)
		if (body[5 + i] != (char)(piece[i] + 1))
			fail_msg("byte %zu is another", i);
	assert_memory_equal(body + 5 + MEGABYTE, "good-bye", 8);
	free(piece);
}

static void
start(struct forward_world *f, bool tls_up, bool tls_here)
{
	upstream_world_start(f->u, tls_up, respond, NULL);
	forward_world_start(f, NULL, tls_here);
}

/* A megabyte each way, with what came right behind the switch and before the end; with the caller's bearer
 * alone. */
FORWARD_TEST(bytes_go_both_ways)
{
	const struct raw_request *r;
	char expected[512];

	start(f, true, false);
	assert_echo(call_tcp(&f->g), false);
	r = raw_server_request(f->u->server, 0);
	snprintf(expected, sizeof(expected),
		 "POST /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		 "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nAuthorization: Bearer theirs\r\n"
		 "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n",
		 raw_server_port(f->u->server));
	assert_string_equal(r->head, expected);
	assert_false(r->certificate);
}

/* The same where the client's side is TLS as well. */
FORWARD_TEST(bytes_go_both_ways_by_tls)
{

	struct caller *c;

	start(f, true, true);
	assert_int_equal(call_tls(&f->g, NULL, NULL, &c), 0);
	assert_echo(c, false);
}

/* A side that has no more to say still hears the other to its end. */
FORWARD_TEST(who_has_said_all_still_hears)
{

	start(f, false, false);
	assert_echo(call_tcp(&f->g), true);
}

/* What upstream does not switch it answers, and that is the client's answer, taken out of its chunks. */
FORWARD_TEST(a_refusal_is_the_clients_answer)
{
	struct caller *c;

	start(f, false, false);
	c = expect(f, "GET /refused HTTP/1.1\r\n" WEBSOCKET "Sec-WebSocket-Key: k\r\n\r\n", "HTTP/1.1 403");
	assert_heard(c, "Audit-Id: 7");
	assert_heard(c, "\r\n\r\n{\"a\":1}");
	assert_string_equal(raw_header(raw_server_request(f->u->server, 0), "Sec-WebSocket-Key"), "k");
}

/* Who answers with something else than HTTP, or is not there, or has no bearer: each is said. */
FORWARD_TEST(what_cannot_be_switched_is_said)
{
	start(f, false, false);
	expect(f, "GET /nonsense HTTP/1.1\r\n" WEBSOCKET "\r\n", "HTTP/1.1 502");
	expect(f, "GET /x HTTP/1.1\r\nHost: g\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n",
	       "HTTP/1.1 401");
	assert_int_equal(raw_server_count(f->u->server), 1);
}

FORWARD_TEST(no_server_is_said)
{
	struct caller *c;

	upstream_world_start_nowhere(f->u);
	forward_world_start(f, NULL, false);
	c = expect(f, "GET /x HTTP/1.1\r\n" WEBSOCKET "\r\n", "HTTP/1.1 503");
	assert_heard(c, "Retry-After: 1");
}

/* A client that goes before the switch takes its tunnel along, and the next one is served. */
FORWARD_TEST(a_client_that_goes_ends_its_tunnel)
{
	static const char request[] =
		"GET /hang HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\nConnection: upgrade\r\n"
		"Upgrade: websocket\r\n\r\n";
	struct caller *c;

	start(f, false, false);
	c = asks(&f->g, request);
	test_loop_until(f->g.loop, raw_server_count(f->u->server) == 1);
	hang_up(c);
	test_loop_until(f->g.loop, gw_front_counters(f->g.front)->exchanges == 0);
	c = call_tcp(&f->g);
	assert_echo(c, false);
	hang_up(c);
	test_loop_until(f->g.loop, gw_front_counters(f->g.front)->exchanges == 0);
}

/* A listener that is closed takes its tunnels along. */
FORWARD_TEST(a_listener_takes_its_tunnels_along)
{
	struct caller *c;

	start(f, false, false);
	c = hears(&f->g, EXEC, SWITCHED);
	gateway_close_listener(&f->g);
	hear_all(c);
	test_loop_until(f->g.loop, gw_front_counters(f->g.front)->exchanges == 0);
}
