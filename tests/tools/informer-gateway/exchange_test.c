/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges: answers that come later, streams, and clients that do not wait for them. */
#include "gateway_fixture.h"

#include "tests/room.h"
#include "tools/informer-gateway/drain.h"

#define KEPT 16

/* What a handler was given, and what became of it. */
struct desk {
	struct gw_exchange *x[KEPT];
	unsigned count, gone;
};

static void
on_gone(void *ctx)
{
	struct desk *d = ctx;

	d->gone++;
}

/* "/now" is answered at once, the rest is kept. */
static void
keep(struct gw_exchange *x, void *ctx)
{
	struct desk *d = ctx;

	if (!strcmp(x->target, "/now")) {
		gw_reply_text(x, 200, "text/plain", "at once\n");
		return;
	}
	if (d->count < KEPT)
		d->x[d->count++] = x;
	gw_on_gone(x, on_gone, d);
}

/* A stream that says what it is given: lines are put, read() takes them. */
struct speaker {
	struct gw_exchange *x;
	struct api_buf text;
	size_t given;
	bool end, broken, asked_to_end;
	unsigned reads, closed;
};

static ssize_t
speak(void *ctx, char *out, size_t max)
{
	struct speaker *s = ctx;
	size_t n = s->text.len - s->given < max ? s->text.len - s->given : max;

	s->reads++;
	if (s->broken)
		return GW_STREAM_BROKEN;
	if (n == 0)
		return s->end ? GW_STREAM_END : 0;
	memcpy(out, s->text.data + s->given, n);
	s->given += n;
	return (ssize_t)n;
}

static void
end_speech(void *ctx)
{
	struct speaker *s = ctx;

	s->asked_to_end = s->end = true;
}

static void
speech_over(void *ctx)
{
	((struct speaker *)ctx)->closed++;
}

static const struct gw_stream_ops speech = {speak, end_speech, speech_over, NULL};

static void
open_speech(struct gw_exchange *x, void *ctx)
{
	struct speaker **next = ctx, *s = *next;

	(*next)++;
	s->x = x;
	gw_reply_stream(x, 200, "text/plain", &speech, s);
}

static void
open_world(struct gateway *g, gw_handler *handler, void *ctx)
{
	gateway_front(g, (struct gw_front_options){0});
	gateway_listen(g, (struct gw_listener_options){.body_bytes = 64}, handler, ctx);
}

/* An exchange that waits holds nobody up, and is answered when its answer comes. */
static void
answers_come_later(void **state)
{
	struct caller slow, quick;
	struct desk d = {0};
	struct gateway g;
	struct api_buf body = {0};

	(void)state;
	open_world(&g, keep, &d);
	call_tcp(&g, &slow);
	call_tcp(&g, &quick);
	say(&g, &slow, GET("/later") GET("/now"));
	gateway_until(&g, d.count == 1);
	say(&g, &quick, GET("/now"));
	hear(&g, &quick, "at once");
	assert_int_equal(slow.heard.len, 0);
	gw_reply_header(d.x[0], "Warning", "299 - \"old\"");
	api_buf_puts(&body, "at last\n");
	gw_reply(d.x[0], 203, "text/plain", &body);
	hear(&g, &slow, "HTTP/1.1 203 ");
	hear(&g, &slow, "Warning: 299 - \"old\"");
	hear(&g, &slow, "at last");
	/* and the one behind it on the same connection */
	hear(&g, &slow, "at once");
	assert_int_equal(d.gone, 0);
	hang_up(&slow);
	hang_up(&quick);
	gateway_close(&g);
}

/* Whoever waits for an answer is told when the client goes first, and all of it is freed. */
static void
a_client_that_goes_is_noticed(void **state)
{
	struct desk d = {0};
	struct gateway g;
	struct caller c;

	(void)state;
	open_world(&g, keep, &d);
	call_tcp(&g, &c);
	say(&g, &c, GET("/later"));
	gateway_until(&g, d.count == 1);
	hang_up(&c);
	gateway_until(&g, d.gone == 1);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	assert_int_equal(gw_front_counters(g.front)->exchanges, 0);
	assert_int_equal(gw_front_counters(g.front)->gone, 1);
	assert_int_equal(g.over, 1);
	assert_int_equal(g.last_code, 0);
	gateway_close(&g);
}

/* A body comes whole, by length or in chunks; one beyond the limit is refused, told or not. */
static void
bodies_come_whole_or_not_at_all(void **state)
{
	struct desk d = {0};
	struct gateway g;
	struct caller c[4];

	(void)state;
	open_world(&g, keep, &d);
	for (int i = 0; i < 4; i++)
		call_tcp(&g, &c[i]);
	say(&g, &c[0], "POST /a HTTP/1.1\r\nHost: g\r\nContent-Length: 6\r\n\r\nabc");
	for (int i = 0; i < 5; i++)
		test_loop_turn(&g.loop);
	assert_int_equal(d.count, 0);
	say(&g, &c[0], "def");
	gateway_until(&g, d.count == 1);
	assert_string_equal(d.x[0]->body.data, "abcdef");
	gw_reply_text(d.x[0], 200, "text/plain", "ok");
	say(&g, &c[1], "POST /b HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "3\r\nabc\r\n3\r\nxyz\r\n0\r\n\r\n");
	gateway_until(&g, d.count == 2);
	assert_string_equal(d.x[1]->body.data, "abcxyz");
	gw_reply_text(d.x[1], 200, "text/plain", "ok");
	say(&g, &c[2], "POST /c HTTP/1.1\r\nHost: g\r\nContent-Length: 65\r\n\r\n");
	hear(&g, &c[2], "HTTP/1.1 413 ");
	say(&g, &c[3], "POST /d HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "28\r\n0123456789012345678901234567890123456789\r\n"
		       "28\r\n0123456789012345678901234567890123456789\r\n0\r\n\r\n");
	hear(&g, &c[3], "HTTP/1.1 413 ");
	gateway_until(&g, has_ended(&c[2]) && has_ended(&c[3]));
	assert_int_equal(d.count, 2);
	for (int i = 0; i < 4; i++)
		hang_up(&c[i]);
	gateway_close(&g);
}

/* A stream rests while it has nothing to say, goes on when it is woken, and ends in chunks' end. */
static void
a_stream_rests_and_wakes(void **state)
{
	struct speaker s = {0}, *next = &s;
	struct gateway g;
	struct caller c;
	unsigned reads;

	(void)state;
	open_world(&g, open_speech, &next);
	call_tcp(&g, &c);
	api_buf_puts(&s.text, "first\n");
	say(&g, &c, GET("/"));
	hear(&g, &c, "first\n");
	reads = s.reads;
	for (int i = 0; i < 20; i++)
		test_loop_turn(&g.loop);
	assert_int_equal(s.reads, reads);
	api_buf_puts(&s.text, "second\n");
	gw_stream_wake(s.x);
	gw_stream_wake(s.x); /* is none the second time */
	hear(&g, &c, "second\n");
	s.end = true;
	gw_stream_wake(s.x);
	hear(&g, &c, "\r\n0\r\n\r\n");
	gateway_until(&g, s.closed == 1);
	assert_int_equal(gw_front_counters(g.front)->streams, 0);
	/* the connection goes on */
	assert_false(has_ended(&c));
	hang_up(&c);
	api_buf_done(&s.text);
	gateway_close(&g);
}

/* A stream that breaks is cut, so that its client does not take it for whole. */
static void
a_broken_stream_is_cut(void **state)
{
	struct speaker s = {0}, *next = &s;
	struct gateway g;
	struct caller c;

	(void)state;
	open_world(&g, open_speech, &next);
	call_tcp(&g, &c);
	api_buf_puts(&s.text, "half");
	say(&g, &c, GET("/"));
	hear(&g, &c, "half");
	s.broken = true;
	gw_stream_wake(s.x);
	gateway_until(&g, has_ended(&c));
	assert_false(has_heard(&c, "0\r\n\r\n"));
	assert_int_equal(s.closed, 1);
	hang_up(&c);
	api_buf_done(&s.text);
	gateway_close(&g);
}

/* A client that reads nothing holds up its own stream alone, and the stream can tell since when. */
static void
a_slow_client_holds_nobody_up(void **state)
{
	struct speaker s[2] = {{0}}, *next = s;
	char *much = malloc((size_t)16 << 20);
	struct caller slow, quick;
	struct gateway g;
	size_t given;

	(void)state;
	memset(much, 'm', (size_t)16 << 20);
	api_buf_put(&s[0].text, much, (size_t)16 << 20);
	open_world(&g, open_speech, &next);
	call_tcp(&g, &slow);
	say(&g, &slow, GET("/"));
	/* until nothing more fits */
	gateway_until(&g, s[0].given > 0);
	do {
		given = s[0].given;
		for (int i = 0; i < 20; i++)
			test_loop_turn(&g.loop);
	} while (s[0].given != given);
	assert_true(s[0].given < s[0].text.len);
	assert_true(gw_stream_blocked_since(s[0].x) > 0);
	call_tcp(&g, &quick);
	api_buf_puts(&s[1].text, "quick");
	say(&g, &quick, GET("/"));
	hear(&g, &quick, "quick");
	assert_int_equal(gw_stream_blocked_since(s[1].x), 0);
	hang_up(&slow);
	gateway_until(&g, s[0].closed == 1);
	hang_up(&quick);
	gateway_until(&g, s[1].closed == 1);
	api_buf_done(&s[0].text);
	api_buf_done(&s[1].text);
	free(much);
	gateway_close(&g);
}

/* HTTP/1.0 clients get a stream without chunks, ended by the connection's end. */
static void
an_old_client_gets_no_chunks(void **state)
{
	struct speaker s = {.end = true}, *next = &s;
	struct gateway g;
	struct caller c;

	(void)state;
	open_world(&g, open_speech, &next);
	call_tcp(&g, &c);
	api_buf_puts(&s.text, "whole");
	say(&g, &c, "GET / HTTP/1.0\r\n\r\n");
	gateway_until(&g, has_ended(&c));
	assert_heard(&c, "\r\n\r\nwhole");
	assert_false(has_heard(&c, "chunked"));
	hang_up(&c);
	api_buf_done(&s.text);
	gateway_close(&g);
}

/* Closing a listener ends what is under way, whoever waits is told, and nothing is left. */
static void
closing_ends_all(void **state)
{
	struct speaker s = {0}, *next = &s;
	struct gw_listener *first;
	struct desk d = {0};
	struct caller c[3];
	struct gateway g;

	(void)state;
	open_world(&g, keep, &d);
	call_tcp(&g, &c[0]);
	say(&g, &c[0], GET("/later"));
	call_tcp(&g, &c[1]);
	gateway_until(&g, d.count == 1);
	first = g.listener;
	gateway_listen(&g, (struct gw_listener_options){0}, open_speech, &next);
	call_tcp(&g, &c[2]);
	say(&g, &c[2], GET("/"));
	gateway_until(&g, s.reads > 0);
	gw_listener_close(first);
	assert_int_equal(d.gone, 1);
	assert_int_equal(gw_front_counters(g.front)->connections, 1);
	gateway_close(&g);
	assert_int_equal(s.closed, 1);
	for (int i = 0; i < 3; i++)
		hang_up(&c[i]);
}

static void
on_drained(void *ctx)
{
	*(bool *)ctx = true;
}

/* A drain refuses who comes, asks streams to end one after the other, and is done when all have gone. */
static void
a_drain_spreads_the_ends(void **state)
{
	struct speaker s[4] = {{0}}, *next = s;
	struct gw_drain *drain;
	struct caller c[4], idle;
	bool done = false, between = false;
	struct gateway g;
	unsigned ended;

	(void)state;
	open_world(&g, open_speech, &next);
	for (int i = 0; i < 4; i++) {
		call_tcp(&g, &c[i]);
		api_buf_puts(&s[i].text, "hello");
		say(&g, &c[i], GET("/"));
		hear(&g, &c[i], "hello");
	}
	call_tcp(&g, &idle);
	gateway_until(&g, gw_front_counters(g.front)->connections == 5);
	gw_drain_begin(g.front, 1, on_drained, &done, &drain);
	while (!done) {
		ended = 0;
		for (int i = 0; i < 4; i++)
			ended += s[i].asked_to_end;
		between |= ended > 0 && ended < 4;
		gateway_pass(&g, 50);
	}
	assert_true(between);
	for (int i = 0; i < 4; i++) {
		hear(&g, &c[i], "\r\n0\r\n\r\n");
		assert_true(has_ended(&c[i]));
		assert_true(s[i].asked_to_end);
		hang_up(&c[i]);
		api_buf_done(&s[i].text);
	}
	hang_up(&idle);
	assert_int_equal(gw_front_counters(g.front)->connections, 0);
	gw_drain_free(drain);
	gateway_close(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(answers_come_later),
	cmocka_unit_test(a_client_that_goes_is_noticed),
	cmocka_unit_test(bodies_come_whole_or_not_at_all),
	cmocka_unit_test(a_stream_rests_and_wakes),
	cmocka_unit_test(a_broken_stream_is_cut),
	cmocka_unit_test(a_slow_client_holds_nobody_up),
	cmocka_unit_test(an_old_client_gets_no_chunks),
	cmocka_unit_test(closing_ends_all),
	cmocka_unit_test(a_drain_spreads_the_ends),
};
TEST_GROUP(tests, NULL, NULL);
