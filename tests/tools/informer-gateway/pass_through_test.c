/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are passed on: what reaches the API server, what comes back, and what fails between. */
#include <stdatomic.h>

#include "gateway_fixture.h"

#include "tests/tools/informer-gateway/upstream_world.h"
#include "tools/informer-gateway/http/drain.h"
#include "tools/informer-gateway/pass/pass_through.h"

#define BIG (48u << 20)
#define AUTH "Host: gateway\r\nAuthorization: Bearer theirs\r\n"
#define CLOSE "Connection: close\r\n\r\n"

/* upstream_world.h, and on its loop a gateway that passes on every request. */
struct forward_world {
	struct upstream_world *u;
	struct gateway g;
	struct gw_pass_through *pass_through;
	void (*instead)(struct gw_exchange *x); /* answers for an absent server, or NULL */
	/* the router's view of a request, or NULL */
	const struct api_resource *resource;
	const char *subresource;
};

static int
set_up(void **state)
{
	static struct forward_world f;

	if (upstream_world_setup((void **)&f.u) < 0)
		return -1;
	f.g.loop = &f.u->w->loop;
	gateway_begin(&f.g);
	*state = &f;
	return 0;
}

static int
tear_down(void **state)
{
	struct forward_world *f = *state;

	gateway_close_listener(&f->g);
	uv_run(f->g.loop, UV_RUN_NOWAIT);
	gw_pass_through_free(f->pass_through);
	gateway_close(&f->g);
	return upstream_world_teardown((void **)&f->u);
}

#define TEST(name) TEST_CASE_OF(struct forward_world *f, set_up, tear_down, name)

static void
hand_on(struct gw_exchange *x, void *ctx)
{
	struct forward_world *f = ctx;

	x->api.resource = f->resource;
	x->api.subresource = f->subresource;
	gw_pass_through(f->pass_through, x, f->instead);
}

/* Open the gateway. Call upstream_world_start() before. */
static void
open_gateway(struct forward_world *f, struct gw_pass_through_options options)
{
	char *error = NULL;

	f->pass_through = gw_pass_through_new(f->u->upstream, &options, &error);
	if (!f->pass_through)
		fail_msg("%s", error);
	gateway_listen(&f->g, (struct gw_listener_options){0}, hand_on, f);
}

/* Send this text and hear until the connection ends. The answer must contain `expected`. */
static struct caller *
expect(struct forward_world *f, const char *request, const char *text)
{
	struct caller *c = asks(&f->g, request);

	gateway_until(c->g, has_ended(c));
	assert_heard(c, text);
	return c;
}

static _Atomic size_t written; /* bytes of BIG */

static bool
write_text(struct duplex *d, const char *text)
{
	return duplex_write(d, text, strlen(text));
}

static bool
write_big(struct duplex *d)
{
	static char piece[65536];

	memset(piece, 'x', sizeof(piece));
	write_text(d, "HTTP/1.1 200 OK\r\nContent-Length: 50331648\r\n\r\n");
	for (size_t n = 0; n < BIG; n += sizeof(piece)) {
		if (!duplex_write(d, piece, sizeof(piece)))
			return false;
		atomic_fetch_add(&written, sizeof(piece));
	}
	return true;
}

static bool
write_endless_header(struct duplex *d)
{
	char line[1024];

	memset(line, 'x', sizeof(line));
	memcpy(line, "X-Big: ", 7);
	memcpy(line + sizeof(line) - 2, "\r\n", 2);
	write_text(d, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 10240; i++)
		if (!duplex_write(d, line, sizeof(line)))
			return false;
	return write_text(d, "\r\n");
}

/* The server's answer to each path. */
static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	const char *head = request->head;

	(void)ctx;
	if (strstr(head, "/watch"))
		return write_text(d,
				  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: "
				  "chunked\r\n"
				  "Audit-Id: a-1\r\nX-Hop: 1\r\nConnection: X-Hop\r\n\r\n4\r\none\n\r\n") &&
		       raw_server_wait(s) && write_text(d, "4\r\ntwo\n\r\n0\r\n\r\n");
	if (strstr(head, "/lines"))
		return write_text(d,
				  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: "
				  "chunked\r\n\r\n3\r\nhal\r\n") &&
		       raw_server_wait(s) && write_text(d, "2\r\nf\n\r\n") && raw_server_wait(s);
	if (strstr(head, "/broken"))
		return write_text(d, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") && false;
	if (strstr(head, "/hang"))
		return raw_server_wait(s);
	if (strstr(head, "/die"))
		return false;
	if (strstr(head, "/big"))
		return write_big(d);
	if (strstr(head, "/endless"))
		return write_endless_header(d);
	if (strstr(head, "/nothing"))
		return write_text(d, "HTTP/1.1 204 No Content\r\n\r\n");
	if (strncmp(head, "HEAD", 4) == 0)
		return write_text(d, "HTTP/1.1 200 OK\r\nContent-Length: 77\r\nX-Seen: yes\r\n\r\n");
	return raw_write_json(d, 201, "{\"kind\":\"Thing\"}");
}

static void
ended(void *ctx)
{
	(void)ctx;
}

static void
start(struct forward_world *f, bool tls)
{
	upstream_world_start(f->u, tls, respond, NULL);
	open_gateway(f, (struct gw_pass_through_options){0});
}

/* The API server receives the caller's bearer and impersonation headers, and none of our credentials. */
TEST(the_callers_bearer_alone_arrives)
{
	struct caller *c;
	char expected[512];

	start(f, true);
	c = expect(
		f,
		"GET /api/v1/things?a=%20b HTTP/1.1\r\nHost: evil\r\nAuthorization: Bearer theirs\r\n"
		"Impersonate-User: somebody\r\nX-Remote-User: system:masters\r\nX-Hop: 1\r\nTE: trailers\r\n"
		"X-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\n"
		"Keep-Alive: 5\r\nProxy-Authorization: Basic x\r\nAccept: */*\r\nConnection: close, "
		"X-Hop\r\n\r\n",
		"HTTP/1.1 201");
	assert_heard(c, "{\"kind\":\"Thing\"}");
	snprintf(expected, sizeof(expected),
		 "GET /api/v1/things?a=%%20b HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		 "Authorization: Bearer theirs\r\nImpersonate-User: somebody\r\nAccept: */*\r\n\r\n",
		 raw_server_port(f->u->server));
	assert_string_equal(raw_server_request(f->u->server, 0)->head, expected);
	assert_false(raw_server_request(f->u->server, 0)->certificate);
}

/* A request without a bearer, with two, or with a hidden one is refused. The API server receives nothing. */
TEST(without_one_bearer_nothing_is_asked)
{
	static const struct {
		const char *headers, *code;
	} cases[] = {
		{"", "HTTP/1.1 401"},
		{"Authorization: Basic dTpw\r\n", "HTTP/1.1 401"},
		{"Authorization: Bearer \r\n", "HTTP/1.1 401"},
		{"Authorization: Bearer a b\r\n", "HTTP/1.1 401"},
		{"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", "HTTP/1.1 400"},
		{"Authorization: Bearer a\r\nConnection: Authorization\r\n", "HTTP/1.1 400"},
		{"Authorization: Bearer a\r\nImpersonate-User: b\r\nConnection: close, impersonate-user\r\n",
		 "HTTP/1.1 400"},
	};
	char request[512];

	start(f, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(request, sizeof(request), "GET /api/v1/x HTTP/1.1\r\nHost: g\r\n%s" CLOSE,
			 cases[i].headers);
		assert_heard(expect(f, request, cases[i].code), "\"kind\":\"Status\"");
	}
	assert_int_equal(raw_server_count(f->u->server), 0);
}

/* One request stays one request: a second one in its body stays in the body. */
TEST(no_request_is_smuggled)
{
	static const char inner[] = "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n";
	const struct raw_request *r;
	char request[1024];

	start(f, false);
	snprintf(request, sizeof(request), "POST /a HTTP/1.1\r\n" AUTH "Content-Length: %zu\r\n" CLOSE "%s",
		 strlen(inner), inner);
	expect(f, request, "HTTP/1.1 201");
	assert_int_equal(raw_server_count(f->u->server), 1);
	r = raw_server_request(f->u->server, 0);
	assert_string_equal(r->body, inner);
	assert_null(raw_header(r, "Transfer-Encoding"));
	assert_int_equal(atoi(raw_header(r, "Content-Length")), strlen(inner));
}

/* A body of a megabyte arrives whole. Answers without a body have none, and HEAD gets its headers. */
TEST(bodies_and_their_absence_arrive)
{
	size_t size = 1u << 20, head;
	char *request = malloc(size + 512);
	struct caller *c;

	start(f, false);
	head = (size_t)sprintf(request, "PUT /a HTTP/1.1\r\n" AUTH "Content-Length: %zu\r\n" CLOSE, size);
	for (size_t i = 0; i < size; i++)
		request[head + i] = (char)('a' + i % 23);
	c = call_tcp(&f->g);
	say_bytes(c, request, head + size);
	gateway_until(&f->g, has_ended(c));
	assert_heard(c, "HTTP/1.1 201");
	assert_int_equal(raw_server_request(f->u->server, 0)->body_length, size);
	assert_memory_equal(raw_server_request(f->u->server, 0)->body, request + head, size);
	c = expect(f, "DELETE /nothing HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 204");
	assert_string_equal(strstr(c->heard.data, "\r\n\r\n"), "\r\n\r\n");
	c = expect(f, "HEAD /a HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 200");
	assert_heard(c, "X-Seen: yes");
	assert_string_equal(strstr(c->heard.data, "\r\n\r\n"), "\r\n\r\n");
	free(request);
}

/* Each event of a watch is passed on when it comes, and so is the end. Connection headers are not. */
TEST(a_watch_is_passed_on_as_it_comes)
{
	struct caller *c;

	start(f, false);
	c = hears(&f->g, "GET /watch?watch=true HTTP/1.1\r\n" AUTH CLOSE, "one\n");
	raw_server_go(f->u->server);
	gateway_until(&f->g, has_ended(c));
	assert_heard(c, "two\n");
	assert_heard(c, "Audit-Id: a-1");
	assert_false(has_heard(c, "X-Hop"));
	assert_string_equal(c->heard.data + c->heard.len - 5, "0\r\n\r\n");
}

/* An answer that the API server breaks off is broken off for the client too. */
TEST(a_broken_answer_is_seen_to_be_broken)
{
	struct caller *c;

	start(f, false);
	c = expect(f, "GET /broken HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 200");
	assert_heard(c, "half");
	assert_false(has_heard(c, "0\r\n\r\n"));
	assert_int_equal(gw_pass_through_counters(f->pass_through)->broken, 1);
}

#define STUCK_TURNS 20 /* turns without I/O: the upstream connection is full */

/* A client that does not read stops the API server's stream. Only sockets hold data. */
TEST(a_slow_client_holds_upstream_back)
{
	char block[65536];
	size_t body = 0;
	ssize_t n;
	struct caller *c;

	atomic_store(&written, 0);
	start(f, false);
	c = asks(&f->g, "GET /big HTTP/1.1\r\n" AUTH CLOSE);
	for (int idle = 0; idle < STUCK_TURNS;)
		idle = test_loop_turn(f->g.loop) || atomic_load(&written) == 0 ? 0 : idle + 1;
	assert_true(atomic_load(&written) < BIG - (8u << 20));
	while ((n = recv(c->fd, block, sizeof(block), MSG_DONTWAIT)) != 0) {
		if (n < 0)
			test_loop_turn(f->g.loop);
		for (ssize_t i = 0; i < n; i++)
			body += block[i] == 'x';
	}
	assert_int_equal(body, BIG);
}

/* Without an API server the answer is 503, with a Retry-After. */
TEST(an_absent_server_is_503)
{
	struct caller *c;

	upstream_world_start_nowhere(f->u);
	open_gateway(f, (struct gw_pass_through_options){0});
	c = expect(f, "POST /a HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" CLOSE "{}", "HTTP/1.1 503");
	assert_heard(c, "Retry-After: 1");
	assert_heard(c, "\"reason\":\"ServiceUnavailable\"");
	assert_heard(c, "connection refused");
}

static void
say_what_is_known(struct gw_exchange *x)
{
	gw_reply_text(x, 200, "text/plain", "known here\n");
}

/* Without an API server a stand-in may answer, with a warning. */
TEST(a_stand_in_may_answer_for_an_absent_server)
{
	struct caller *c;

	upstream_world_start_nowhere(f->u);
	open_gateway(f, (struct gw_pass_through_options){0});
	f->instead = say_what_is_known;
	c = expect(f, "GET /apis HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 200");
	assert_heard(c, "known here");
	assert_heard(c, "Warning: 299 - \"the API server cannot be asked");
	assert_int_equal(gw_pass_through_counters(f->pass_through)->absent, 1);
	assert_int_equal(gw_pass_through_counters(f->pass_through)->active, 0);
}

/* An answer of the server is used, also a broken one. Ten megabytes of header are no answer. */
TEST(a_stand_in_never_answers_for_a_present_server)
{
	start(f, false);
	f->instead = say_what_is_known;
	expect(f, "GET /apis HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 201");
	assert_heard(expect(f, "GET /broken HTTP/1.1\r\n" AUTH CLOSE, "half"), "HTTP/1.1 200");
	expect(f, "GET /endless HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 502");
}

/* A write whose connection dies is sent once, and its client is not told to retry. The next one succeeds. */
TEST(a_write_is_never_sent_twice)
{
	static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
	char request[200];
	struct caller *c;

	start(f, false);
	expect(f, "GET /a HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 201");
	for (unsigned i = 0; i < 4; i++) {
		snprintf(request, sizeof(request),
			 "%s /die HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" CLOSE "{}", methods[i]);
		c = expect(f, request, "HTTP/1.1 502");
		assert_false(has_heard(c, "Retry-After"));
		assert_int_equal(raw_server_count(f->u->server), 2 + i);
	}
}

/* A closing gateway ends a watch between two lines: it waits for a line that has begun. */
TEST(a_watch_ends_after_a_line)
{
	struct caller *c;

	start(f, false);
	c = hears(&f->g, "GET /lines?watch=true HTTP/1.1\r\n" AUTH CLOSE, "hal");
	gw_drain_begin(f->g.front, 1, ended, NULL);
	gateway_pass(&f->g, 1000);
	assert_false(has_heard(c, "0\r\n\r\n"));
	raw_server_go(f->u->server);
	gateway_until(&f->g, has_ended(c));
	assert_heard(c, "f\n");
	assert_string_equal(c->heard.data + c->heard.len - 5, "0\r\n\r\n");
}

/* A client that leaves ends its request to the API server. */
TEST(a_client_that_goes_ends_its_request)
{
	struct caller *c;

	start(f, false);
	c = asks(&f->g, "GET /hang HTTP/1.1\r\n" AUTH "\r\n");
	test_loop_until(f->g.loop, raw_server_count(f->u->server) == 1);
	hang_up(c);
	test_loop_until(f->g.loop, gw_pass_through_counters(f->pass_through)->active == 0);
}

static bool
lacks_env(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	(void)ctx;
	(void)resource;
	api_buf_puts(ret, "spec.containers[*].env");
	return true;
}

/* An incomplete object is not written back, and the refusal names the fields. Reads and scales pass. */
TEST(an_incomplete_object_is_not_written_back)
{
	static char name[] = "pods";
	static const struct api_resource pods = {.version = "v1", .plural = name, .group_resource = name};
	struct caller *c;

	upstream_world_start(f->u, false, respond, NULL);
	open_gateway(f, (struct gw_pass_through_options){.lacks = lacks_env});
	f->resource = &pods;
	c = expect(f, "PUT /a HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" CLOSE "{}", "HTTP/1.1 405");
	assert_heard(c, "spec.containers[*].env");
	expect(f, "PATCH /a HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" CLOSE "{}", "HTTP/1.1 405");
	assert_int_equal(raw_server_count(f->u->server), 0);
	expect(f, "GET /a HTTP/1.1\r\n" AUTH CLOSE, "HTTP/1.1 201");
	f->subresource = "scale";
	expect(f, "PUT /a/scale HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" CLOSE "{}", "HTTP/1.1 201");
}
