/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that are made once for all who ask for the same, over a source in memory. */
#include "lists_world.h"
#include "tests/room.h"

#include <zlib.h>

#define HERD 20
#define SHARE_MS 1000 /* what router.h says of 0 */
#define LOOK_MS 50    /* list_body.c looks so often */

/* Who asks at one moment is given one body; who names no RV, none that is older than his question. */
static void
a_herd_is_given_one_body(void **state)
{
	const struct gw_router_counters *n;
	struct caller c[HERD];
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 50, 1000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < HERD; i++) {
		call_tcp(&w.g, &c[i]);
		say(&w.g, &c[i], i % 2 ? GET(PODS) : GET(PODS "?resourceVersion=0&limit=7"));
	}
	for (int i = 0; i < HERD; i++) {
		hear(&w.g, &c[i], END);
		assert_heard(&c[i], "\"name\":\"pod-00000\"");
		assert_heard(&c[i], "\"name\":\"pod-00049\"");
		forget_heard(&c[i]);
	}
	assert_int_equal(n->lists, HERD);
	assert_int_equal(n->lists_made, 1);
	assert_int_equal(n->lists_shared, HERD - 1);
	/* something changed: an old body is good enough for RV 0 alone */
	memory_put(&w.m, "new", "n1", 0);
	say(&w.g, &c[0], GET(PODS "?resourceVersion=0"));
	hear(&w.g, &c[0], END);
	assert_false(has_heard(&c[0], "\"name\":\"new\""));
	say(&w.g, &c[1], GET(PODS));
	hear(&w.g, &c[1], END);
	assert_heard(&c[1], "\"name\":\"new\"");
	say(&w.g, &c[2], GET(PODS "?resourceVersion=52"));
	hear(&w.g, &c[2], END);
	assert_heard(&c[2], "\"name\":\"new\"");
	assert_int_equal(n->lists_made, 2);
	for (int i = 0; i < HERD; i++)
		hang_up(&c[i]);
	test_loop_settle(&w.g.loop);
	assert_true(n->list_bytes > 0);
	gateway_pass(&w.g, SHARE_MS + LOOK_MS);
	assert_int_equal(n->list_bytes, 0);
	close_lists(&w);
}

/* What differs is not shared: namespace, selectors, shape. */
static void
other_questions_get_other_bodies(void **state)
{
	static const char *const requests[] = {
		GET(PODS "?resourceVersion=0"),
		GET("/api/v1/namespaces/default/pods?resourceVersion=0"),
		GET(PODS "?resourceVersion=0&labelSelector=a%3Db"),
		GET(PODS "?resourceVersion=0&fieldSelector=spec.nodeName%3Dn2"),
		/* what is alike but for where one selector ends and the other begins */
		GET(PODS "?resourceVersion=0&labelSelector=%0Aspec.nodeName%3Dn1"),
		GET(PODS "?resourceVersion=0&fieldSelector=spec.nodeName%3Dn1%0A"),
		"GET " PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\n"
		"Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n\r\n",
		"GET " PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\nAccept: application/json;"
		"as=PartialObjectMetadataList;v=v1;g=meta.k8s.io\r\n\r\n",
		"GET " PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\n"
		"Accept: application/vnd.kubernetes.protobuf\r\n\r\n",
	};
	const size_t count = sizeof(requests) / sizeof(*requests);
	struct caller c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 3, 0);
	call_tcp(&w.g, &c);
	for (size_t i = 0; i < count * 2; i++) {
		forget_heard(&c);
		say(&w.g, &c, requests[i % count]);
		hear(&w.g, &c, END);
		assert_heard(&c, "HTTP/1.1 200 OK");
	}
	assert_int_equal(gw_router_counters(w.router)->lists_made, count);
	assert_int_equal(gw_router_counters(w.router)->lists_shared, count);
	hang_up(&c);
	close_lists(&w);
}

/* Pages are each client's own, and go on by their tokens. */
static void
pages_are_not_shared(void **state)
{
	struct caller c;
	struct lists w;
	char request[512], *token, *end;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 5, 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "?limit=3"));
	hear(&w.g, &c, END);
	assert_heard(&c, "pod-00002");
	assert_false(has_heard(&c, "pod-00003"));
	token = strstr(c.heard.data, "\"continue\":\"");
	assert_non_null(token);
	token += strlen("\"continue\":\"");
	end = strchr(token, '"');
	snprintf(request, sizeof(request), "GET " PODS "?limit=3&continue=%.*s HTTP/1.1\r\nHost: g\r\n\r\n",
		 (int)(end - token), token);
	forget_heard(&c);
	say(&w.g, &c, request);
	hear(&w.g, &c, END);
	assert_heard(&c, "pod-00004");
	assert_false(has_heard(&c, "pod-00002"));
	assert_int_equal(gw_router_counters(w.router)->lists_made, 2);
	hang_up(&c);
	close_lists(&w);
}

/* A list that cannot be had says why. */
static void
a_list_that_fails_says_why(void **state)
{
	struct caller c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 2, 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "?resourceVersion=1&resourceVersionMatch=Exact"));
	hear(&w.g, &c, "HTTP/1.1 410 ");
	hear(&w.g, &c, "Expired");
	say(&w.g, &c, GET(PODS "?labelSelector=%3D%3D"));
	hear(&w.g, &c, "HTTP/1.1 400 ");
	hang_up(&c);
	close_lists(&w);
}

/*
 * A list whose snapshot is taken away while it is made is broken off, and does not look whole; where nothing
 * was said of it yet, it is 410. Nothing goes on being made.
 */
static void
a_list_that_is_taken_away_is_broken_off(void **state)
{
	static const char *const requests[] = {
		GET(PODS),
		GET(PODS "?limit=2000"),
		GET(PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			 "allowWatchBookmarks=true"),
	};
	struct caller c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 1000, 1000);
	w.m.taken_at = 700;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		call_tcp(&w.g, &c);
		say(&w.g, &c, requests[i]);
		gateway_until(&w.g, has_ended(&c));
		assert_heard(&c, "HTTP/1.1 200 OK");
		assert_false(has_heard(&c, END));
		hang_up(&c);
	}
	w.m.taken_at = 10;
	call_tcp(&w.g, &c);
	say(&w.g, &c, "GET " PODS " HTTP/1.1\r\nHost: g\r\nAccept-Encoding: gzip\r\n\r\n");
	hear(&w.g, &c, "HTTP/1.1 410 ");
	hear(&w.g, &c, "\"reason\":\"Expired\"");
	hang_up(&c);
	gateway_pass(&w.g, SHARE_MS + LOOK_MS);
	assert_int_equal(gw_router_counters(w.router)->list_bytes, 0);
	close_lists(&w);
}

/* The bytes of a chunked body. */
static struct api_buf
unchunk(const struct caller *c)
{
	const char *at = strstr(c->heard.data, "\r\n\r\n") + 4;
	struct api_buf body = {0};
	size_t n;

	while ((n = strtoul(at, NULL, 16)) > 0) {
		at = strstr(at, "\r\n") + 2;
		api_buf_put(&body, at, n);
		at += n + 2;
	}
	return body;
}

/* The one gzip member that these bytes are. */
static struct api_buf
unzip(const struct api_buf *packed)
{
	z_stream z = {.next_in = (Bytef *)packed->data, .avail_in = (uInt)packed->len};
	struct api_buf plain = {0};
	char block[16384];
	int r;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	do {
		z.next_out = (Bytef *)block;
		z.avail_out = sizeof(block);
		r = inflate(&z, Z_NO_FLUSH);
		api_buf_put(&plain, block, sizeof(block) - z.avail_out);
	} while (r == Z_OK);
	assert_int_equal(r, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return plain;
}

/* A large list is compressed for who takes that, a small one is not, and both say the same. */
static void
large_lists_are_compressed(void **state)
{
	struct api_buf packed, plain, unpacked;
	struct caller c, d;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 300, 1000);
	call_tcp(&w.g, &c);
	say(&w.g, &c, "GET " PODS " HTTP/1.1\r\nHost: g\r\nAccept-Encoding: br, gzip\r\n\r\n");
	hear(&w.g, &c, END);
	assert_heard(&c, "Content-Encoding: gzip");
	call_tcp(&w.g, &d);
	say(&w.g, &d, GET(PODS));
	hear(&w.g, &d, END);
	packed = unchunk(&c);
	plain = unchunk(&d);
	assert_true(packed.len < plain.len / 4);
	unpacked = unzip(&packed);
	assert_int_equal(unpacked.len, plain.len);
	assert_memory_equal(unpacked.data, plain.data, plain.len);
	api_buf_done(&unpacked);
	api_buf_done(&packed);
	api_buf_done(&plain);
	forget_heard(&c);
	say(&w.g, &c,
	    "GET " PODS "?fieldSelector=metadata.name%3Dpod-00007 HTTP/1.1\r\nHost: g\r\n"
	    "Accept-Encoding: gzip\r\n\r\n");
	hear(&w.g, &c, END);
	assert_false(has_heard(&c, "Content-Encoding"));
	hang_up(&c);
	hang_up(&d);
	close_lists(&w);
}

/* Bodies that nobody takes do not pile up: who comes beyond the budget is told to come again. */
static void
the_budget_is_kept(void **state)
{
	const struct gw_router_counters *n;
	struct caller stuck[2], c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = (size_t)1 << 20}, 4000, 8000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < 2; i++) {
		/*
		 * each another question, and neither reads: what they do not take is held, up to half of it
		 * each
		 */
		call_tcp(&w.g, &stuck[i]);
		say(&w.g, &stuck[i], i ? GET(PODS "?limit=100000") : GET(PODS));
	}
	gateway_until(&w.g, n->list_bytes >= (size_t)1 << 20);
	assert_true(n->list_bytes < (size_t)2 << 20);
	/* their sockets still take some of it, so that there may be room for a moment */
	call_tcp(&w.g, &c);
	while (n->lists_refused == 0) {
		forget_heard(&c);
		say(&w.g, &c, GET(PODS "?limit=2"));
		gateway_until(&w.g, has_heard(&c, END) || has_heard(&c, "\"code\":429}"));
	}
	assert_true(n->list_bytes < (size_t)2 << 20);
	assert_heard(&c, "HTTP/1.1 429 ");
	assert_heard(&c, "Retry-After: 1");
	assert_int_equal(n->lists_refused, 1);
	/* one of them reads, the other goes: there is room again */
	hang_up(&stuck[1]);
	gateway_until(&w.g, n->list_bytes < (size_t)1 << 20);
	forget_heard(&c);
	say(&w.g, &c, GET(PODS "?limit=2"));
	hear(&w.g, &c, "HTTP/1.1 200 OK");
	/* and who reads at last gets all of it, though it is many times the budget */
	gateway_until(&w.g, drinks_up(&stuck[0]));
	hang_up(&c);
	hang_up(&stuck[0]);
	gateway_pass(&w.g, SHARE_MS + LOOK_MS);
	assert_int_equal(n->list_bytes, 0);
	close_lists(&w);
}

#define BURST 12

/*
 * Many that come at once, each with another question, before a byte is made: together they hold little more
 * than the budget, and each of them is answered.
 */
static void
a_burst_keeps_the_budget(void **state)
{
	const size_t budget = (size_t)4 << 20, share = (size_t)512 << 10;
	const struct gw_router_counters *n;
	struct caller c[BURST];
	struct lists w;
	uint64_t peak = 0;
	unsigned answered = 0;
	char request[128];

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = budget}, 1000, 8000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < BURST; i++) {
		call_tcp(&w.g, &c[i]);
		snprintf(request, sizeof(request), GET(PODS "?limit=%d"), 100000 + i);
		say(&w.g, &c[i], request);
	}
	gateway_until(&w.g, n->lists == BURST && n->list_bytes >= budget);
	for (int i = 0; i < 200; i++) {
		test_loop_turn(&w.g.loop);
		peak = n->list_bytes > peak ? n->list_bytes : peak;
	}
	for (int i = 0; i < BURST; i++) {
		bool end = false;

		gateway_until(&w.g, (end = drinks_up(&c[i])) || c[i].eof);
		answered += end;
		peak = n->list_bytes > peak ? n->list_bytes : peak;
		hang_up(&c[i]);
	}
	assert_int_equal(n->lists_refused, 0);
	assert_int_equal(answered, BURST);
	assert_in_range(peak, budget, budget + BURST * share);
	gateway_pass(&w.g, SHARE_MS + LOOK_MS);
	assert_int_equal(n->list_bytes, 0);
	close_lists(&w);
}

/*
 * Watches that begin with the state of all objects are given one body of it, and go on behind it by
 * themselves.
 */
static void
beginnings_of_watches_are_shared(void **state)
{
	struct caller c[HERD];
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 20, 100);
	for (int i = 0; i < HERD; i++) {
		call_tcp(&w.g, &c[i]);
		say(&w.g, &c[i],
		    GET(PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			     "allowWatchBookmarks=true"));
	}
	for (int i = 0; i < HERD; i++) {
		hear(&w.g, &c[i], "k8s.io/initial-events-end");
		assert_heard(&c[i], "pod-00019");
	}
	assert_int_equal(gw_router_counters(w.router)->lists_made, 1);
	memory_put(&w.m, "behind", "n1", 0);
	for (int i = 0; i < HERD; i++) {
		hear(&w.g, &c[i], "\"name\":\"behind\"");
		hang_up(&c[i]);
	}
	gateway_until(&w.g, gw_router_counters(w.router)->watching == 0);
	close_lists(&w);
}

/*
 * Between the newest state and a large body that was begun just now, who asks without RV waits for the next.
 */
static void
large_bodies_are_made_once_a_second(void **state)
{
	const struct gw_router_counters *n;
	struct caller c[3];
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){0}, 300, 6000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < 3; i++)
		call_tcp(&w.g, &c[i]);
	say(&w.g, &c[0], GET(PODS));
	hear(&w.g, &c[0], END);
	assert_int_equal(n->lists_made, 1);
	for (int i = 1; i < 3; i++) {
		memory_put(&w.m, i == 1 ? "one" : "two", "n1", 0);
		say(&w.g, &c[i], GET(PODS));
		gateway_until(&w.g, n->lists == (unsigned)i + 1);
	}
	gateway_pass(&w.g, SHARE_MS - 1);
	assert_int_equal(n->lists_made, 1);
	gateway_pass(&w.g, LOOK_MS + 1);
	for (int i = 1; i < 3; i++)
		gateway_until(&w.g, has_heard(&c[i], "\"name\":\"two\""));
	assert_int_equal(n->lists_made, 2);
	for (int i = 0; i < 3; i++)
		hang_up(&c[i]);
	close_lists(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_herd_is_given_one_body),
	cmocka_unit_test(other_questions_get_other_bodies),
	cmocka_unit_test(pages_are_not_shared),
	cmocka_unit_test(a_list_that_fails_says_why),
	cmocka_unit_test(a_list_that_is_taken_away_is_broken_off),
	cmocka_unit_test(large_lists_are_compressed),
	cmocka_unit_test(the_budget_is_kept),
	cmocka_unit_test(a_burst_keeps_the_budget),
	cmocka_unit_test(beginnings_of_watches_are_shared),
	cmocka_unit_test(large_bodies_are_made_once_a_second),
};
TEST_GROUP(tests, NULL, NULL);
