/* SPDX-License-Identifier: Apache-2.0 */
/* List bodies shared by equal requests, over a source in memory. */
#include "routed_world.h"

#include <zlib.h>

#define HERD 20
#define ALL_PODS_OF_DEFAULT "/api/v1/namespaces/default/pods"
#define WATCH_LIST                                                                                           \
	"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

/* Equal requests of one moment get one body. A request without an RV gets no body older than itself. */
ROUTED_TEST(equal_requests_share_one_body)
{
	struct caller *c[HERD];

	open_lists(w, (struct gw_router_options){0}, 50, 1000);
	for (int i = 0; i < HERD; i++)
		c[i] = asks(&w->g, i % 2 ? GET(ALL_PODS) : GET(ALL_PODS "?resourceVersion=0&limit=7"));
	for (int i = 0; i < HERD; i++) {
		hear(c[i], END);
		assert_heard(c[i], "\"name\":\"pod-00000\"");
		assert_heard(c[i], "\"name\":\"pod-00049\"");
	}
	assert_int_equal(w->n->lists, HERD);
	assert_int_equal(w->n->lists_made, 1);
	assert_int_equal(w->n->lists_shared, HERD - 1);
	/* after a change, an old body still serves RV 0 */
	memory_put(&w->m, "new", "n1", 0);
	ask(c[0], GET(ALL_PODS "?resourceVersion=0"), END);
	assert_false(has_heard(c[0], "\"name\":\"new\""));
	ask(c[1], GET(ALL_PODS), END);
	assert_heard(c[1], "\"name\":\"new\"");
	ask(c[2], GET(ALL_PODS "?resourceVersion=52"), END);
	assert_heard(c[2], "\"name\":\"new\"");
	assert_int_equal(w->n->lists_made, 2);
	for (int i = 0; i < HERD; i++)
		hang_up(c[i]);
	test_loop_drain(w->g.loop);
	assert_true(w->lists.held > 0);
	gateway_pass(&w->g, SHARE_MS + LOOK_MS);
	assert_int_equal(w->lists.held, 0);
}

/* Requests that differ in namespace, selector or shape share no body, and pages are never shared. */
ROUTED_TEST(other_questions_get_other_bodies)
{
	static const char *const requests[] = {
		GET(ALL_PODS "?resourceVersion=0"),
		GET("/api/v1/namespaces/default/pods?resourceVersion=0"),
		GET(ALL_PODS "?resourceVersion=0&labelSelector=a%3Db"),
		GET(ALL_PODS "?resourceVersion=0&fieldSelector=spec.nodeName%3Dn2"),
		/* the same bytes, with another boundary between the selectors */
		GET(ALL_PODS "?resourceVersion=0&labelSelector=%0Aspec.nodeName%3Dn1"),
		GET(ALL_PODS "?resourceVersion=0&fieldSelector=spec.nodeName%3Dn1%0A"),
		"GET " ALL_PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\n"
		"Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n\r\n",
		"GET " ALL_PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\nAccept: application/json;"
		"as=PartialObjectMetadataList;v=v1;g=meta.k8s.io\r\n\r\n",
		"GET " ALL_PODS "?resourceVersion=0 HTTP/1.1\r\nHost: g\r\n"
		"Accept: application/vnd.kubernetes.protobuf\r\n\r\n",
	};
	const size_t count = sizeof(requests) / sizeof(*requests);
	struct caller *c;

	open_lists(w, (struct gw_router_options){0}, 3, 0);
	c = call_tcp(&w->g);
	for (size_t i = 0; i < count * 2; i++) {
		ask(c, requests[i % count], END);
		assert_heard(c, "HTTP/1.1 200 OK");
	}
	assert_int_equal(w->n->lists_made, count);
	assert_int_equal(w->n->lists_shared, count);
	for (unsigned i = 1; i <= 2; i++) {
		ask(c, GET(ALL_PODS "?limit=2"), END);
		assert_false(has_heard(c, "pod-00002"));
		assert_int_equal(w->n->lists_made, count + i);
	}
}

/*
 * While a list's or a watch's initial items are sorted, other clients are answered. A client that leaves
 * meanwhile frees its view.
 */
ROUTED_TEST(others_are_answered_while_items_are_put_in_order)
{
	static const char *const requests[] = {
		GET(ALL_PODS "?labelSelector=app"),
		GET(ALL_PODS "?limit=2"),
		GET(ALL_PODS "?watch=1&fieldSelector=spec.nodeName%3Dn1"),
		GET(ALL_PODS WATCH_LIST),
	};
	const size_t count = sizeof(requests) / sizeof(*requests);
	struct caller *asking[sizeof(requests) / sizeof(*requests)], *c;

	open_lists(w, (struct gw_router_options){0}, 3, 0);
	w->m.world->unready = UINT_MAX;
	for (size_t i = 0; i < count; i++)
		asking[i] = asks(&w->g, requests[i]);
	gateway_until(&w->g, w->m.world->views == count);
	c = call_tcp(&w->g);
	for (unsigned i = 0; i < 3; i++)
		ask(c, GET(ALL_PODS_OF_DEFAULT "/pod-00001"), "\"name\":\"pod-00001\"");
	hang_up(asking[0]);
	gateway_until(&w->g, w->m.world->views == count - 1);
	for (size_t i = 1; i < count; i++)
		assert_false(has_heard(asking[i], "pod-00000"));
	w->m.world->unready = 5;
	for (size_t i = 1; i < count; i++)
		hear(asking[i], "\"name\":\"pod-00001\"");
	gateway_until(&w->g, w->m.world->views == 0);
}

ROUTED_TEST(a_list_that_fails_says_why)
{
	struct caller *c;

	open_lists(w, (struct gw_router_options){0}, 2, 0);
	w->m.world->floor = 2;
	c = hears(&w->g, GET(ALL_PODS "?resourceVersion=1&resourceVersionMatch=Exact"), "HTTP/1.1 410 ");
	hear(c, "Expired");
	ask(c, GET(ALL_PODS "?labelSelector=%3D%3D"), "HTTP/1.1 400 ");
}

/*
 * A list whose snapshot is taken away is cut off and does not look complete. Before its first byte it is 410.
 * No work goes on.
 */
ROUTED_TEST(a_list_whose_snapshot_is_taken_away_is_cut_off)
{
	static const char *const requests[] = {
		GET(ALL_PODS),
		GET(ALL_PODS "?limit=2000"),
		GET(ALL_PODS WATCH_LIST),
	};
	struct caller *c;

	open_lists(w, (struct gw_router_options){0}, 1000, 1000);
	w->m.world->taken_at = 700;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		c = asks(&w->g, requests[i]);
		gateway_until(&w->g, has_ended(c));
		assert_heard(c, "HTTP/1.1 200 OK");
		assert_false(has_heard(c, END));
		hang_up(c);
	}
	w->m.world->taken_at = 10;
	c = hears(&w->g, "GET " ALL_PODS " HTTP/1.1\r\nHost: g\r\nAccept-Encoding: gzip\r\n\r\n",
		  "HTTP/1.1 410 ");
	hear(c, "\"reason\":\"Expired\"");
	gateway_pass(&w->g, SHARE_MS + LOOK_MS);
	assert_int_equal(w->lists.held, 0);
}

/* The payload of a chunked body. */
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

/* Expand the one gzip member in these bytes. */
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

/* A large list is compressed for clients that accept gzip, a small one is not. Both have the same content. */
ROUTED_TEST(large_lists_are_compressed)
{
	struct api_buf packed, plain, unpacked;
	struct caller *c, *d;

	open_lists(w, (struct gw_router_options){0}, 300, 1000);
	c = hears(&w->g, "GET " ALL_PODS " HTTP/1.1\r\nHost: g\r\nAccept-Encoding: br, gzip\r\n\r\n", END);
	assert_heard(c, "Content-Encoding: gzip");
	d = hears(&w->g, GET(ALL_PODS), END);
	packed = unchunk(c);
	plain = unchunk(d);
	assert_true(packed.len < plain.len / 4);
	unpacked = unzip(&packed);
	assert_int_equal(unpacked.len, plain.len);
	assert_memory_equal(unpacked.data, plain.data, plain.len);
	api_buf_done(&unpacked);
	api_buf_done(&packed);
	api_buf_done(&plain);
	ask(c,
	    "GET " ALL_PODS "?fieldSelector=metadata.name%3Dpod-00007 HTTP/1.1\r\nHost: g\r\n"
	    "Accept-Encoding: gzip\r\n\r\n",
	    END);
	assert_false(has_heard(c, "Content-Encoding"));
}

/* Bodies that are not taken are limited by a budget. A request beyond the budget is told to retry. */
ROUTED_TEST(bodies_that_are_not_taken_keep_the_budget)
{
	struct caller *stuck[2], *c;

	w->lists.most = (size_t)1 << 20;
	open_lists(w, (struct gw_router_options){0}, 4000, 8000);
	for (int i = 0; i < 2; i++) {
		/* two different lists that are not read: each holds up to half of the budget */
		stuck[i] = asks(&w->g, i ? GET(ALL_PODS "?limit=100000") : GET(ALL_PODS));
	}
	gateway_until(&w->g, w->lists.held >= (size_t)1 << 20);
	assert_true(w->lists.held < (size_t)2 << 20);
	/* the sockets still take some bytes, so there may be room for a moment */
	c = call_tcp(&w->g);
	while (w->lists.refused == 0) {
		forget_heard(c);
		say(c, GET(ALL_PODS "?limit=2"));
		gateway_until(&w->g, has_heard(c, END) || has_heard(c, "\"code\":429}"));
	}
	assert_true(w->lists.held < (size_t)2 << 20);
	assert_heard(c, "HTTP/1.1 429 ");
	assert_heard(c, "Retry-After: 1");
	assert_int_equal(w->lists.refused, 1);
	/* one client reads, the other leaves: there is room again */
	hang_up(stuck[1]);
	gateway_until(&w->g, w->lists.held < (size_t)1 << 20);
	ask(c, GET(ALL_PODS "?limit=2"), "HTTP/1.1 200 OK");
	/* the client that reads gets all of a body many times the budget */
	gateway_until(&w->g, drinks_up(stuck[0]));
	gateway_pass(&w->g, SHARE_MS + LOOK_MS);
	assert_int_equal(w->lists.held, 0);
}

#define BURST 12

/* A burst of different lists together holds little more than the budget, and each request is answered. */
ROUTED_TEST(a_burst_keeps_the_budget)
{
	const size_t budget = (size_t)4 << 20, share = (size_t)512 << 10;
	struct caller *c[BURST];
	uint64_t peak = 0;
	unsigned answered = 0;
	char request[128];

	w->lists.most = budget;
	open_lists(w, (struct gw_router_options){0}, 1000, 8000);
	for (int i = 0; i < BURST; i++) {
		c[i] = call_tcp(&w->g);
		snprintf(request, sizeof(request), GET(ALL_PODS "?limit=%d"), 100000 + i);
		say(c[i], request);
	}
	gateway_until(&w->g, w->n->lists == BURST && w->lists.held >= budget);
	for (int i = 0; i < 200; i++) {
		test_loop_turn(w->g.loop);
		peak = w->lists.held > peak ? w->lists.held : peak;
	}
	for (int i = 0; i < BURST; i++) {
		bool end = false;

		gateway_until(&w->g, (end = drinks_up(c[i])) || c[i]->eof);
		answered += end;
		peak = w->lists.held > peak ? w->lists.held : peak;
		hang_up(c[i]);
	}
	assert_int_equal(w->lists.refused, 0);
	assert_int_equal(answered, BURST);
	assert_in_range(peak, budget, budget + BURST * share);
	gateway_pass(&w->g, SHARE_MS + LOOK_MS);
	assert_int_equal(w->lists.held, 0);
}

/* The number of different bodies at a time is limited, even before they hold a byte. */
ROUTED_TEST(the_number_of_bodies_is_limited)
{
	struct caller *c[40];
	char request[100];

	w->lists.most = (size_t)4 << 20;
	open_lists(w, (struct gw_router_options){0}, 200, 1000);
	for (int i = 0; i < 40; i++) {
		snprintf(request, sizeof(request), GET(ALL_PODS "?limit=%d"), i + 1);
		c[i] = asks(&w->g, request);
	}
	gateway_until(&w->g, w->n->lists == 40);
	assert_int_equal(w->lists.refused, 8);
	for (int i = 0; i < 40; i++)
		gateway_until(&w->g, has_heard(c[i], END) || has_heard(c[i], "\"code\":429}"));
}

/* Watches that begin with all objects share one body of them, and each goes on by itself. */
ROUTED_TEST(initial_events_of_watches_are_shared)
{
	struct caller *c[HERD];

	open_lists(w, (struct gw_router_options){0}, 20, 100);
	for (int i = 0; i < HERD; i++)
		c[i] = asks(&w->g, GET(ALL_PODS WATCH_LIST));
	for (int i = 0; i < HERD; i++) {
		hear(c[i], "k8s.io/initial-events-end");
		assert_heard(c[i], "pod-00019");
	}
	assert_int_equal(w->n->lists_made, 1);
	memory_put(&w->m, "behind", "n1", 0);
	for (int i = 0; i < HERD; i++) {
		hear(c[i], "\"name\":\"behind\"");
		hang_up(c[i]);
	}
	gateway_until(&w->g, w->n->watching == 0);
}

/* While a large body is younger than a second, a request without an RV waits for the next one. */
ROUTED_TEST(large_bodies_are_made_once_a_second)
{
	struct caller *c[3];

	open_lists(w, (struct gw_router_options){0}, 300, 6000);
	for (int i = 0; i < 3; i++)
		c[i] = call_tcp(&w->g);
	ask(c[0], GET(ALL_PODS), END);
	assert_int_equal(w->n->lists_made, 1);
	for (int i = 1; i < 3; i++) {
		memory_put(&w->m, i == 1 ? "one" : "two", "n1", 0);
		say(c[i], GET(ALL_PODS));
		gateway_until(&w->g, w->n->lists == (unsigned)i + 1);
	}
	gateway_pass(&w->g, SHARE_MS - 1);
	assert_int_equal(w->n->lists_made, 1);
	gateway_pass(&w->g, LOOK_MS + 1);
	for (int i = 1; i < 3; i++)
		gateway_until(&w->g, has_heard(c[i], "\"name\":\"two\""));
	assert_int_equal(w->n->lists_made, 2);
}
