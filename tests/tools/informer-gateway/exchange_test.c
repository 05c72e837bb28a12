/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges: late answers, streams, and clients that leave early. */
#include "gateway_fixture.h"

#include "tools/informer-gateway/http/drain.h"
#include "tools/informer-gateway/http/listener.h"

#define KEPT 16

/* What the handler was given, and what became of it. */
static struct desk {
	struct gw_exchange *x[KEPT];
	unsigned count, gone;
} d;

static void
on_gone(void *ctx)
{
	(void)ctx;
	d.gone++;
}

/* The handler: answers "/now" at once and keeps every other exchange. */
static void
keep(struct gw_exchange *x, void *ctx)
{
	(void)ctx;
	if (!strcmp(x->target, "/now")) {
		gw_reply_text(x, 200, "text/plain", "at once\n");
		return;
	}
	if (d.count < KEPT)
		d.x[d.count++] = x;
	gw_on_gone(x, on_gone, NULL);
}

/* Streams that a test feeds with lines; read() takes the lines. */
static struct speaker {
	struct gw_exchange *x;
	struct api_buf text;
	size_t given;
	bool end, broken, asked_to_end;
	unsigned reads, closed;
} s[4], *next = s;

static ssize_t
speak(void *ctx, char *out, size_t max)
{
	struct speaker *me = ctx;
	size_t n = me->text.len - me->given < max ? me->text.len - me->given : max;

	me->reads++;
	if (me->broken)
		return GW_STREAM_BROKEN;
	if (n == 0)
		return me->end ? GW_STREAM_END : 0;
	memcpy(out, me->text.data + me->given, n);
	me->given += n;
	return (ssize_t)n;
}

static void
end_speech(void *ctx)
{
	struct speaker *me = ctx;

	me->asked_to_end = me->end = true;
}

static void
speech_over(void *ctx)
{
	((struct speaker *)ctx)->closed++;
}

static const struct gw_stream_ops speech = {speak, end_speech, speech_over};

static void
open_speech(struct gw_exchange *x, void *ctx)
{
	(void)ctx;
	next->x = x;
	gw_reply_stream(x, 200, "text/plain", &speech, next++);
}

static void
open_world(struct gateway *g, gw_handler *handler)
{
	gateway_listen(g, (struct gw_listener_options){.body_bytes = 64}, handler, NULL);
}

/* A client whose next stream begins with this text. The client has heard it. */
static struct caller *
hears_speech(struct gateway *g, const char *text)
{
	api_buf_puts(&next->text, text);
	return hears(g, GET("/"), text);
}

static void
some_turns(struct gateway *g)
{
	for (int i = 0; i < 10; i++)
		test_loop_turn(g->loop);
}

/* An exchange that waits for its answer does not delay other exchanges. */
GATEWAY_TEST(answers_come_later)
{
	struct caller *slow, *quick;
	struct api_buf body = {0};

	open_world(g, keep);
	slow = call_tcp(g);
	quick = call_tcp(g);
	say(slow, GET("/later") GET("/now"));
	gateway_until(g, d.count == 1);
	ask(quick, GET("/now"), "at once");
	assert_int_equal(slow->heard.len, 0);
	gw_reply_header(d.x[0], "Warning", "299 - \"old\"");
	api_buf_puts(&body, "at last\n");
	gw_reply(d.x[0], 203, "text/plain", &body);
	hear(slow, "HTTP/1.1 203 ");
	hear(slow, "Warning: 299 - \"old\"");
	hear(slow, "at last");
	/* and the next request on the same connection */
	hear(slow, "at once");
	assert_int_equal(d.gone, 0);
}

/* If the client leaves first, the exchange's owner is told, and everything is freed. */
GATEWAY_TEST(a_client_that_goes_is_noticed)
{
	struct caller *c;

	open_world(g, keep);
	c = asks(g, GET("/later"));
	gateway_until(g, d.count == 1);
	hang_up(c);
	gateway_until(g, d.gone == 1);
	gateway_until(g, gw_front_counters(g->front)->connections == 0);
	assert_int_equal(gw_front_counters(g->front)->exchanges, 0);
	assert_int_equal(gw_front_counters(g->front)->gone, 1);
	assert_int_equal(g->over, 1);
	assert_int_equal(g->last_code, 0);
}

/* Bodies that the handler asked for, and what became of them. */
static struct reader {
	struct gw_exchange *x;
	unsigned calls;
	int r;
} reader;

static void
on_body(void *ctx, int r)
{
	struct reader *me = ctx;

	me->calls++;
	me->r = r;
	if (r < 0)
		gw_reply_status(me->x);
}

static void
read_body_of(struct gw_exchange *x)
{
	reader = (struct reader){.x = x};
	gw_read_body(x, on_body, &reader);
}

static void
open_budget(struct gateway *g, struct api_share *bodies)
{
	gateway_front(g, (struct gw_front_options){.bodies = bodies});
	open_world(g, keep);
}

#define POST_OF(length) "POST /a HTTP/1.1\r\nHost: g\r\nContent-Length: " length "\r\n"

/* A body takes no room until the handler asks for it. Its room is counted until the exchange ends. */
GATEWAY_TEST(a_body_is_read_when_the_handler_asks)
{
	static struct api_share bodies = {.most = 64};
	struct caller *c;

	open_budget(g, &bodies);
	c = asks(g, POST_OF("6") "\r\nabc");
	gateway_until(g, d.count == 1);
	some_turns(g);
	assert_int_equal(d.x[0]->body.len, 0);
	assert_int_equal(bodies.held, 0);
	read_body_of(d.x[0]);
	assert_int_equal(bodies.held, 6);
	some_turns(g);
	assert_int_equal(reader.calls, 0);
	say(c, "def" GET("/now"));
	gateway_until(g, reader.calls == 1);
	assert_int_equal(reader.r, 0);
	assert_string_equal(d.x[0]->body.data, "abcdef");
	gw_reply_text(d.x[0], 200, "text/plain", "stored");
	hear(c, "stored");
	hear(c, "at once");
	assert_int_equal(bodies.held, 0);
}

/* A body that is too large reaches no handler, whether its length is declared or it comes in chunks. */
GATEWAY_TEST(a_body_is_bounded)
{
	struct caller *c;

	open_world(g, keep);
	c = hears(g, POST_OF("65") "\r\n", "HTTP/1.1 413 ");
	gateway_until(g, has_ended(c));
	c = hears(g, "POST /a HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		  "HTTP/1.1 400 ");
	hear(c, "send it with a Content-Length");
	assert_int_equal(d.count, 0);
}

/* When bodies hold the whole budget, the next one is told to retry. */
GATEWAY_TEST(bodies_share_a_budget)
{
	static struct api_budget all = {.most = 60};
	static struct api_share bodies = {.whole = &all, .most = 1000};
	struct caller *first, *second;

	open_budget(g, &bodies);
	first = asks(g, POST_OF("40") "\r\n");
	second = asks(g, POST_OF("40") "\r\n0123456789012345678901234567890123456789");
	gateway_until(g, d.count == 2);
	read_body_of(d.x[0]);
	read_body_of(d.x[1]);
	assert_int_equal(reader.r, -ENOBUFS);
	assert_int_equal(bodies.refused, 1);
	hear(second, "HTTP/1.1 429 ");
	hear(second, "Retry-After: 1");
	assert_int_equal(all.held, 40);
	hang_up(first);
	gateway_until(g, all.held == 0);
	assert_int_equal(reader.calls, 1);
	say(second, POST_OF("40") "\r\n");
	gateway_until(g, d.count == 3);
	read_body_of(d.x[2]);
	assert_int_equal(all.held, 40);
}

/* A client refused before its body is read still gets the answer, and its connection goes on. */
GATEWAY_TEST(an_answer_before_the_body_arrives)
{
	static struct api_share bodies = {.most = 0};
	struct caller *c;

	open_budget(g, &bodies);
	c = asks(g, POST_OF("6") "\r\nabc");
	gateway_until(g, d.count == 1);
	gw_reply_text(d.x[0], 401, "text/plain", "who are you?");
	some_turns(g);
	assert_int_equal(c->heard.len, 0);
	say(c, "def" GET("/now"));
	hear(c, "who are you?");
	hear(c, "at once");
}

/* A client that expects 100-continue gets it when the body is wanted, else the answer at once. */
GATEWAY_TEST(a_body_that_waits_gets_100_continue)
{
	struct caller *c;

	open_world(g, keep);
	c = asks(g, POST_OF("6") "Expect: 100-continue\r\n\r\n");
	gateway_until(g, d.count == 1);
	some_turns(g);
	assert_int_equal(c->heard.len, 0);
	read_body_of(d.x[0]);
	hear(c, "HTTP/1.1 100 Continue");
	say(c, "abcdef");
	gateway_until(g, reader.calls == 1);
	gw_reply_text(d.x[0], 200, "text/plain", "stored");
	hear(c, "stored");
	c = asks(g, POST_OF("6") "Expect: 100-continue\r\n\r\n");
	gateway_until(g, d.count == 2);
	gw_reply_text(d.x[1], 401, "text/plain", "who are you?");
	hear(c, "who are you?");
	assert_false(has_heard(c, "100 Continue"));
	gateway_until(g, has_ended(c));
}

/* A stream without data rests, goes on when it is woken, and ends with the last chunk. */
GATEWAY_TEST(a_stream_rests_and_wakes)
{
	struct caller *c;
	unsigned reads;

	open_world(g, open_speech);
	c = hears_speech(g, "first\n");
	reads = s[0].reads;
	some_turns(g);
	assert_int_equal(s[0].reads, reads);
	api_buf_puts(&s[0].text, "second\n");
	gw_stream_wake(s[0].x);
	gw_stream_wake(s[0].x); /* no effect the second time */
	hear(c, "second\n");
	s[0].end = true;
	gw_stream_wake(s[0].x);
	hear(c, "\r\n0\r\n\r\n");
	gateway_until(g, s[0].closed == 1);
	assert_int_equal(gw_front_counters(g->front)->streams, 0);
	assert_false(has_ended(c));
}

/* A stream that fails is cut, so that its client does not take it for complete. */
GATEWAY_TEST(a_broken_stream_is_cut)
{
	struct caller *c;

	open_world(g, open_speech);
	c = hears_speech(g, "half");
	s[0].broken = true;
	gw_stream_wake(s[0].x);
	gateway_until(g, has_ended(c));
	assert_false(has_heard(c, "0\r\n\r\n"));
	assert_int_equal(s[0].closed, 1);
}

/* A client that reads nothing blocks its own stream alone. The stream knows since when. */
GATEWAY_TEST(a_slow_client_holds_nobody_up)
{
	char *much = malloc((size_t)16 << 20);
	struct caller *slow, *quick;
	size_t given;

	memset(much, 'm', (size_t)16 << 20);
	api_buf_put(&s[0].text, much, (size_t)16 << 20);
	open_world(g, open_speech);
	slow = asks(g, GET("/"));
	/* until the socket is full */
	gateway_until(g, s[0].given > 0);
	do {
		given = s[0].given;
		some_turns(g);
	} while (s[0].given != given);
	assert_true(s[0].given < s[0].text.len);
	assert_true(gw_stream_blocked_since(s[0].x) > 0);
	quick = hears_speech(g, "quick");
	assert_int_equal(gw_stream_blocked_since(s[1].x), 0);
	hang_up(slow);
	gateway_until(g, s[0].closed == 1);
	hang_up(quick);
	gateway_until(g, s[1].closed == 1);
	free(much);
}

/* HTTP/1.0 clients get a stream without chunks that ends with the connection. */
GATEWAY_TEST(an_old_client_gets_no_chunks)
{
	struct caller *c;

	s[0].end = true;
	open_world(g, open_speech);
	c = call_tcp(g);
	api_buf_puts(&s[0].text, "whole");
	say(c, "GET / HTTP/1.0\r\n\r\n");
	gateway_until(g, has_ended(c));
	assert_heard(c, "\r\n\r\nwhole");
	assert_false(has_heard(c, "chunked"));
}

/* Closing a listener ends all exchanges, tells their owners, and leaves nothing behind. */
GATEWAY_TEST(closing_ends_all)
{
	struct gw_listener *first;

	open_world(g, keep);
	asks(g, GET("/later"));
	call_tcp(g);
	gateway_until(g, d.count == 1);
	first = g->listener;
	gateway_listen(g, (struct gw_listener_options){0}, open_speech, NULL);
	asks(g, GET("/"));
	gateway_until(g, s[0].reads > 0);
	gw_listener_close(first);
	assert_int_equal(d.gone, 1);
	assert_int_equal(gw_front_counters(g->front)->connections, 1);
	gateway_shut(g);
	assert_int_equal(s[0].closed, 1);
}

/* The random numbers that are drawn, in order. */
static const double *numbers;
static unsigned drawn;

static double
draw(void *ctx)
{
	(void)ctx;
	return numbers[drawn++];
}

static void
open_world_with_chance(struct gateway *g, double chance, const double *these, gw_handler *handler)
{
	numbers = these;
	drawn = 0;
	gateway_front(g, (struct gw_front_options){.goaway_chance = chance, .draw = draw});
	open_world(g, handler);
}

/* An answer closes its connection if its random number is below the chance. */
GATEWAY_TEST(the_chance_decides_which_connections_close)
{
	static const double these[] = {0.02, 0.5, 0.999, 0.0199, 0};
	struct caller *c;

	open_world_with_chance(g, 0.02, these, keep);
	c = call_tcp(g);
	for (unsigned i = 0; i < 3; i++) {
		ask(c, GET("/now"), "at once");
		assert_false(has_heard(c, "Connection: close"));
	}
	ask(c, GET("/now"), "Connection: close");
	gateway_until(g, has_ended(c));
	hears(g, GET("/now"), "Connection: close");
	assert_int_equal(drawn, 5);
}

/* A chance of one closes every connection, a chance of zero none. Neither draws a number. */
GATEWAY_TEST(a_chance_of_zero_or_one_draws_nothing)
{
	static const double these[] = {0.999999};
	struct caller *c;

	open_world_with_chance(g, 0, these, keep);
	c = asks(g, GET("/now") GET("/now") GET("/later"));
	gateway_until(g, d.count == 1);
	assert_false(has_heard(c, "Connection: close"));
	assert_int_equal(drawn, 0);
	gateway_shut(g);
	open_world_with_chance(g, 1, these, keep);
	c = hears(g, GET("/now"), "Connection: close");
	gateway_until(g, has_ended(c));
}

/* A stream's number is drawn at its start. The connection closes after the stream's end. */
GATEWAY_TEST(a_stream_ends_before_its_connection_closes)
{
	static const double these[] = {0};
	struct caller *c;

	open_world_with_chance(g, 0.02, these, open_speech);
	c = hears_speech(g, "first\n");
	assert_heard(c, "Connection: close");
	api_buf_puts(&s[0].text, "second\n");
	gw_stream_wake(s[0].x);
	hear(c, "second\n");
	assert_false(has_ended(c));
	s[0].end = true;
	gw_stream_wake(s[0].x);
	gateway_until(g, has_ended(c));
	assert_heard(c, "\r\n0\r\n\r\n");
	assert_int_equal(drawn, 1);
}

static void
on_drained(void *ctx)
{
	*(bool *)ctx = true;
}

/* A drain refuses new clients, ends streams one after the other, and is done when all have ended. */
GATEWAY_TEST(a_drain_spreads_the_ends)
{
	struct caller *c[4], *idle;
	bool done = false, between = false;
	unsigned ended;

	open_world(g, open_speech);
	for (int i = 0; i < 4; i++)
		c[i] = hears_speech(g, "hello");
	idle = call_tcp(g);
	gateway_until(g, gw_front_counters(g->front)->connections == 5);
	gw_drain_begin(g->front, 1, on_drained, &done);
	while (!done) {
		ended = 0;
		for (int i = 0; i < 4; i++)
			ended += s[i].asked_to_end;
		between |= ended > 0 && ended < 4;
		gateway_pass(g, 50);
	}
	assert_true(between);
	for (int i = 0; i < 4; i++) {
		hear(c[i], "\r\n0\r\n\r\n");
		assert_true(has_ended(c[i]));
		assert_true(s[i].asked_to_end);
		hang_up(c[i]);
	}
	hang_up(idle);
	assert_int_equal(gw_front_counters(g->front)->connections, 0);
}
