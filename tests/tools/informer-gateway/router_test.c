/* SPDX-License-Identifier: Apache-2.0 */
/* The router: what is asked of cached resources and beside them, over a source in memory. */
#include "gateway_fixture.h"
#include "memory_source.h"

#include "tests/room.h"
#include "tools/informer-gateway/router.h"
#include "tools/informer-gateway/timer_wheel.h"

#define AWAIT_MS 3000 /* what router.h says of 0 */

struct routed {
	struct gateway g;
	struct memory m;
	struct gw_router *router;
	struct gw_hooks hooks;
	/* what the hooks were asked, and are to do */
	unsigned checks, elsewhere, missing, proofs;
	uint64_t proved;
	struct gw_exchange *kept;
	gw_next *next;
	bool gone;
};

static void
allow(void *ctx, struct gw_exchange *x, gw_next *next)
{
	((struct routed *)ctx)->checks++;
	next(x);
}

static void
kept_gone(void *ctx)
{
	((struct routed *)ctx)->gone = true;
}

static void
think(void *ctx, struct gw_exchange *x, gw_next *next)
{
	struct routed *w = ctx;

	w->kept = x;
	w->next = next;
	gw_on_gone(x, kept_gone, w);
}

static bool
send_elsewhere(void *ctx, struct gw_exchange *x)
{
	((struct routed *)ctx)->elsewhere++;
	gw_reply_text(x, 200, "text/plain", "elsewhere\n");
	return true;
}

static void
miss(void *ctx, struct gw_exchange *x, gw_next *next)
{
	((struct routed *)ctx)->missing++;
	next(x);
}

static void
prove(void *ctx, struct gw_exchange *x, gw_next *next)
{
	struct routed *w = ctx;

	w->proofs++;
	x->min_rv = w->proved;
	x->proved = true;
	next(x);
}

static void
open_routed(struct routed *w, struct gw_router_options options)
{
	w->hooks.ctx = w;
	memory_init(&w->m);
	gateway_front(&w->g, (struct gw_front_options){0});
	options.source = w->m.source;
	options.hooks = w->hooks;
	w->router = gw_router_new(w->g.front, &options);
	gateway_listen(&w->g, (struct gw_listener_options){0}, gw_router_handle, w->router);
}

static void
close_routed(struct routed *w)
{
	gw_listener_close(w->g.listener);
	w->g.listener = NULL;
	gw_router_free(w->router);
	assert_int_equal(w->m.open, 0);
	memory_done(&w->m);
	gateway_close(&w->g);
}

#define PODS "/api/v1/namespaces/default/pods"

/* Nobody may anything unless somebody says so. */
static void
deny_is_the_default(void **state)
{
	struct routed w = {0};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "/a"));
	hear(&w.g, &c, "HTTP/1.1 403 ");
	forget_heard(&c);
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "HTTP/1.1 403 ");
	hang_up(&c);
	close_routed(&w);
}

/* A check that takes its time is waited for, and what it says counts; who goes meanwhile is not served. */
static void
a_check_may_take_its_time(void **state)
{
	struct routed w = {.hooks = {.check = think}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "/a"));
	gateway_until(&w.g, w.kept != NULL);
	assert_string_equal(w.kept->api.resource->plural, "pods");
	assert_string_equal(w.kept->api.name, "a");
	assert_int_equal(c.heard.len, 0);
	w.next(w.kept);
	hear(&w.g, &c, "\"name\":\"a\"");
	w.kept = NULL;
	say(&w.g, &c, GET(PODS "/a"));
	gateway_until(&w.g, w.kept != NULL);
	hang_up(&c);
	gateway_until(&w.g, w.gone);
	close_routed(&w);
}

/* GET by name: the object, or 404 after `missing` was asked; a HEAD has no body. */
static void
gets_are_answered(void **state)
{
	struct routed w = {.hooks = {.check = allow, .missing = miss}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	w.m.warning = "the last word from the API server is 20 s old";
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "/a"));
	hear(&w.g, &c, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"");
	assert_heard(&c, "Warning: 299 - \"the last word");
	assert_heard(&c, "Content-Type: application/json");
	forget_heard(&c);
	say(&w.g, &c, GET(PODS "/b"));
	hear(&w.g, &c, "HTTP/1.1 404 ");
	hear(&w.g, &c, "pods \\\"b\\\" not found");
	assert_int_equal(w.missing, 1);
	forget_heard(&c);
	say(&w.g, &c, "HEAD " PODS "/a HTTP/1.1\r\nHost: g\r\n\r\n");
	hear(&w.g, &c, "\r\n\r\n");
	assert_heard(&c, "HTTP/1.1 200 OK");
	assert_false(has_heard(&c, "{"));
	hang_up(&c);
	close_routed(&w);
}

/* What is not cached, is deeper, or is no read goes elsewhere; without anybody there it is 404 or 405. */
static void
the_rest_goes_elsewhere(void **state)
{
	static const char *const requests[] = {
		GET("/api/v1/secrets"),
		GET(PODS "/a/log"),
		GET("/apis/example.com/v1/widgets"),
		GET("/openapi/v2"),
		"DELETE " PODS "/a HTTP/1.1\r\nHost: g\r\n\r\n",
		"POST " PODS " HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}",
	};
	struct routed w = {.hooks = {.check = allow, .elsewhere = send_elsewhere}};
	struct routed alone = {.hooks = {.check = allow}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	call_tcp(&w.g, &c);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		forget_heard(&c);
		say(&w.g, &c, requests[i]);
		hear(&w.g, &c, "elsewhere\n");
		assert_int_equal(w.elsewhere, i + 1);
	}
	hang_up(&c);
	close_routed(&w);
	open_routed(&alone, (struct gw_router_options){0});
	call_tcp(&alone.g, &c);
	say(&alone.g, &c, requests[0]);
	hear(&alone.g, &c, "HTTP/1.1 404 ");
	forget_heard(&c);
	say(&alone.g, &c, requests[4]);
	hear(&alone.g, &c, "HTTP/1.1 405 ");
	hang_up(&c);
	close_routed(&alone);
}

/* Discovery and /version are answered from the registry. */
static void
discovery_is_answered(void **state)
{
	struct routed w = {.hooks = {.check = allow}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET("/api"));
	hear(&w.g, &c, "APIVersions");
	say(&w.g, &c, GET("/apis"));
	hear(&w.g, &c, "APIGroupList");
	say(&w.g, &c, GET("/api/v1"));
	hear(&w.g, &c, "APIResourceList");
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "gitVersion");
	hang_up(&c);
	close_routed(&w);
}

/* Before the first list is in, nothing is said to be missing: 429, and try again in a second. */
static void
what_is_not_synced_is_429(void **state)
{
	static const char *const requests[] = {GET(PODS "/a"), GET(PODS), GET(PODS "?watch=1"),
					       GET(PODS "?watch=1&resourceVersion=7")};
	struct routed w = {.hooks = {.check = allow}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	w.m.rv = 0;
	call_tcp(&w.g, &c);
	for (size_t i = 0; i < 4; i++) {
		forget_heard(&c);
		say(&w.g, &c, requests[i]);
		hear(&w.g, &c, "\"code\":429");
		assert_heard(&c, "HTTP/1.1 429 ");
		assert_heard(&c, "Retry-After: 1");
	}
	hang_up(&c);
	close_routed(&w);
}

/* An RV that we have not seen is waited for; where it does not come, it is 504 in upstream's words. */
static void
a_later_rv_is_waited_for(void **state)
{
	struct routed w = {.hooks = {.check = allow}};
	struct caller c, d;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	call_tcp(&w.g, &c);
	call_tcp(&w.g, &d);
	say(&w.g, &c, GET(PODS "?resourceVersion=3"));
	say(&w.g, &d, GET(PODS "?resourceVersion=4"));
	gateway_until(&w.g, gw_front_counters(w.g.front)->requests == 2);
	memory_put(&w.m, "b", "n1", 0);
	gw_router_told(w.router, w.m.pods, w.m.rv);
	hear(&w.g, &c, "\"name\":\"b\"");
	hear(&w.g, &c, "\r\n0\r\n\r\n");
	gateway_pass(&w.g, AWAIT_MS - 1);
	assert_false(has_heard(&d, "HTTP/1.1"));
	gateway_pass(&w.g, 1 + GW_WHEEL_STEP_MS);
	hear(&w.g, &d, "HTTP/1.1 504 ");
	hear(&w.g, &d, "Too large resource version: 4, current: 3");
	assert_heard(&d, "ResourceVersionTooLarge");
	assert_heard(&d, "Retry-After: 1");
	/* who goes while waiting is forgotten */
	say(&w.g, &c, GET(PODS "?resourceVersion=9"));
	gateway_until(&w.g, gw_front_counters(w.g.front)->requests == 3);
	hang_up(&c);
	hang_up(&d);
	gateway_until(&w.g, gw_front_counters(w.g.front)->exchanges == 0);
	gw_router_told(w.router, w.m.pods, 9);
	close_routed(&w);
}

/* A watch with initial events of an RV that does not come is told so in its stream, as upstream does. */
static void
a_watch_is_told_that_its_rv_does_not_come(void **state)
{
	struct routed w = {.hooks = {.check = allow}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c,
	    GET(PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9"));
	gateway_until(&w.g, gw_front_counters(w.g.front)->requests == 1);
	gateway_pass(&w.g, AWAIT_MS + GW_WHEEL_STEP_MS);
	hear(&w.g, &c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"");
	hear(&w.g, &c, "\r\n0\r\n\r\n");
	assert_heard(&c, "HTTP/1.1 200 OK");
	assert_heard(&c, "Too large resource version: 9, current: 2");
	assert_false(has_heard(&c, "ADDED"));
	assert_int_equal(gw_router_counters(w.router)->watching, 0);
	hang_up(&c);
	close_routed(&w);
}

/* What a proof of freshness says is waited for where no RV is named, and not asked for where one is. */
static void
a_proof_comes_before_an_answer_without_rv(void **state)
{
	struct routed w = {.hooks = {.check = allow, .fresh = prove}, .proved = 3};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	w.m.warning = "the last word from the API server is 20 s old";
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "?resourceVersion=0"));
	hear(&w.g, &c, "\r\n0\r\n\r\n");
	assert_heard(&c, "Warning: 299 - \"the last word");
	assert_int_equal(w.proofs, 0);
	forget_heard(&c);
	say(&w.g, &c, GET(PODS "/a"));
	gateway_until(&w.g, w.proofs == 1);
	for (int i = 0; i < 5; i++)
		test_loop_turn(&w.g.loop);
	assert_false(has_heard(&c, "HTTP/1.1"));
	memory_put(&w.m, "a", "n2", 0);
	gw_router_told(w.router, w.m.pods, w.m.rv);
	hear(&w.g, &c, "\"nodeName\":\"n2\"");
	assert_false(has_heard(&c, "Warning"));
	hang_up(&c);
	close_routed(&w);
}

/* A watch tells what happens, within its selection, and ends when its time is up. */
static void
a_watch_tells_changes(void **state)
{
	struct routed w = {.hooks = {.check = allow}};
	struct caller c, d;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	call_tcp(&w.g, &c);
	call_tcp(&w.g, &d);
	say(&w.g, &c, GET(PODS "?watch=1&resourceVersion=2&timeoutSeconds=2"));
	say(&w.g, &d, GET("/api/v1/pods?watch=1&resourceVersion=2&fieldSelector=spec.nodeName%3Dn2"));
	gateway_until(&w.g, gw_router_counters(w.router)->watching == 2);
	memory_put(&w.m, "b", "n1", 0);
	hear(&w.g, &c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"");
	memory_put(&w.m, "b", "n2", 0);
	hear(&w.g, &c, "{\"type\":\"MODIFIED\"");
	hear(&w.g, &d, "{\"type\":\"ADDED\"");
	memory_delete(&w.m, "default/b");
	hear(&w.g, &c, "{\"type\":\"DELETED\"");
	hear(&w.g, &d, "{\"type\":\"DELETED\"");
	assert_false(has_heard(&d, "n1"));
	gateway_pass(&w.g, 2000 - 1);
	assert_false(has_heard(&c, "\r\n0\r\n\r\n"));
	gateway_pass(&w.g, 1 + GW_WHEEL_STEP_MS);
	hear(&w.g, &c, "\r\n0\r\n\r\n");
	gateway_until(&w.g, gw_router_counters(w.router)->watching == 1);
	hang_up(&d);
	gateway_until(&w.g, gw_router_counters(w.router)->watching == 0);
	assert_int_equal(w.m.open, 0);
	hang_up(&c);
	close_routed(&w);
}

/* A place in the history that is gone, at the beginning or later, is told as 410 in an ERROR line. */
static void
a_lost_place_is_410(void **state)
{
	struct routed w = {.hooks = {.check = allow}};
	struct caller c;

	(void)state;
	open_routed(&w, (struct gw_router_options){0});
	memory_put(&w.m, "a", "n1", 0);
	memory_put(&w.m, "b", "n1", 0);
	w.m.floor = 2;
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "?watch=1&resourceVersion=2"));
	hear(&w.g, &c, "{\"type\":\"ERROR\"");
	hear(&w.g, &c, "too old resource version");
	hear(&w.g, &c, "\r\n0\r\n\r\n");
	forget_heard(&c);
	say(&w.g, &c, GET(PODS "?watch=1&resourceVersion=3"));
	gateway_until(&w.g, gw_router_counters(w.router)->watching == 1);
	hear(&w.g, &c, "HTTP/1.1 200 ");
	w.m.floor = 4;
	memory_put(&w.m, "c", "n1", 0);
	memory_put(&w.m, "d", "n1", 0);
	hear(&w.g, &c, "{\"type\":\"ERROR\"");
	hear(&w.g, &c, "\"code\":410");
	hang_up(&c);
	close_routed(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(deny_is_the_default),
	cmocka_unit_test(a_check_may_take_its_time),
	cmocka_unit_test(gets_are_answered),
	cmocka_unit_test(the_rest_goes_elsewhere),
	cmocka_unit_test(discovery_is_answered),
	cmocka_unit_test(what_is_not_synced_is_429),
	cmocka_unit_test(a_later_rv_is_waited_for),
	cmocka_unit_test(a_watch_is_told_that_its_rv_does_not_come),
	cmocka_unit_test(a_proof_comes_before_an_answer_without_rv),
	cmocka_unit_test(a_watch_tells_changes),
	cmocka_unit_test(a_lost_place_is_410),
};
TEST_GROUP(tests, NULL, NULL);
