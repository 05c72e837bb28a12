/* SPDX-License-Identifier: Apache-2.0 */
/* The router: requests for cached resources and for everything else, over a source in memory. */
#include "routed_world.h"

#include "tools/informer-gateway/answer/router.h"

#define AWAIT_MS 3000 /* what router.h makes of 0 */

/* what the hooks were asked, and what they do */
static unsigned gone_elsewhere, missing;
static struct gw_exchange *kept;
static gw_next *kept_next;
static bool kept_is_gone;

static void
note_gone(void *ctx)
{
	(void)ctx;
	kept_is_gone = true;
}

static void
think(void *ctx, struct gw_exchange *x, gw_next *next)
{
	kept = x;
	kept_next = next;
	gw_on_gone(x, note_gone, ctx);
}

static bool
send_elsewhere(void *ctx, struct gw_exchange *x)
{
	(void)ctx;
	gone_elsewhere++;
	gw_reply_text(x, 200, "text/plain", "elsewhere\n");
	return true;
}

static void
miss(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	missing++;
	next(x);
}

#define PODS "/api/v1/namespaces/default/pods"

/* Open the router with the pod "a", and connect a client. */
static struct caller *
open_with_a_pod(struct routed *w)
{
	open_routed(w, (struct gw_router_options){0});
	memory_put(&w->m, "a", "n1", 0);
	return call_tcp(&w->g);
}

ROUTED_TEST(deny_is_the_default)
{
	struct caller *c;

	w->hooks.check = NULL;
	c = open_with_a_pod(w);
	ask(c, GET(PODS "/a"), "HTTP/1.1 403 ");
	ask(c, GET("/version"), "HTTP/1.1 403 ");
}

/* A check may decide later, and its decision counts. A client that leaves meanwhile is not served. */
ROUTED_TEST(a_check_may_take_its_time)
{
	struct caller *c;

	w->hooks.check = think;
	c = open_with_a_pod(w);
	say(c, GET(PODS "/a"));
	gateway_until(&w->g, kept != NULL);
	assert_string_equal(kept->api.resource->plural, "pods");
	assert_string_equal(kept->api.name, "a");
	assert_int_equal(c->heard.len, 0);
	kept_next(kept);
	hear(c, "\"name\":\"a\"");
	kept = NULL;
	say(c, GET(PODS "/a"));
	gateway_until(&w->g, kept != NULL);
	hang_up(c);
	gateway_until(&w->g, kept_is_gone);
}

/* A GET by name returns the object, or 404 after `missing` was asked. A HEAD has no body. */
ROUTED_TEST(gets_are_answered)
{
	struct caller *c;

	w->hooks.missing = miss;
	w->m.warning = "the last word from the API server is 20 s old";
	c = open_with_a_pod(w);
	ask(c, GET(PODS "/a"), "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"");
	assert_heard(c, "Warning: 299 - \"the last word");
	assert_heard(c, "Content-Type: application/json");
	ask(c, GET(PODS "/b"), "HTTP/1.1 404 ");
	hear(c, "pods \\\"b\\\" not found");
	assert_int_equal(missing, 1);
	ask(c, "HEAD " PODS "/a HTTP/1.1\r\nHost: g\r\n\r\n", "\r\n\r\n");
	assert_heard(c, "HTTP/1.1 200 OK");
	assert_false(has_heard(c, "{"));
}

/* Uncached resources, deeper paths and writes go elsewhere. Without an elsewhere they get 404 or 405. */
ROUTED_TEST(other_requests_go_elsewhere)
{
	static const char *const requests[] = {
		GET("/api/v1/secrets"),
		GET(PODS "/a/log"),
		GET("/apis/example.com/v1/widgets"),
		GET("/openapi/v2"),
		"DELETE " PODS "/a HTTP/1.1\r\nHost: g\r\n\r\n",
		"POST " PODS " HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}",
	};
	struct caller *c;

	w->hooks.elsewhere = send_elsewhere;
	open_routed(w, (struct gw_router_options){0});
	c = call_tcp(&w->g);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		ask(c, requests[i], "elsewhere\n");
		assert_int_equal(gone_elsewhere, i + 1);
	}
	close_routed(w);
	w->hooks.elsewhere = NULL;
	open_routed(w, (struct gw_router_options){0});
	c = hears(&w->g, requests[0], "HTTP/1.1 404 ");
	ask(c, requests[4], "HTTP/1.1 405 ");
}

/* A path with an empty segment is 404, and no hook is asked. */
ROUTED_TEST(a_broken_path_is_404)
{
	static const char sentence[] =
		"the server could not find the requested resource: its path has an empty segment";
	struct caller *c;

	w->hooks.elsewhere = send_elsewhere;
	open_routed(w, (struct gw_router_options){0});
	c = hears(&w->g, GET("/api/v1//pods"), "HTTP/1.1 404 ");
	hear(c, sentence);
	ask(c, "DELETE /api/v1/namespaces//pods/a HTTP/1.1\r\nHost: g\r\n\r\n", "HTTP/1.1 404 ");
	hear(c, sentence);
	assert_int_equal(w->checks, 0);
}

static void
count_and_go_on(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	gone_elsewhere++;
	next(x);
}

/* Discovery and /version are answered by a hook, if it wants to, else from the registry. */
ROUTED_TEST(a_hook_may_answer_discovery)
{
	static const char *const pages[] = {GET("/api"), GET("/apis"), GET("/api/v1"), GET("/version")};
	struct caller *c;

	w->hooks.discovery = count_and_go_on;
	c = open_with_a_pod(w);
	ask(c, GET(PODS "/a"), "\"name\":\"a\"");
	ask(c, "POST /apis HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 405 ");
	assert_int_equal(gone_elsewhere, 0);
	for (unsigned i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		ask(c, pages[i], "HTTP/1.1 200 ");
		assert_int_equal(gone_elsewhere, i + 1);
	}
	w->hooks.discovery = NULL;
	close_routed(w);
	w->hooks.discovery = think;
	open_routed(w, (struct gw_router_options){0});
	kept = NULL;
	c = asks(&w->g, GET("/apis"));
	gateway_until(&w->g, kept != NULL);
	assert_int_equal(c->heard.len, 0);
	gw_on_gone(kept, NULL, NULL);
	kept_next(kept);
	hear(c, "APIGroupList");
}

/* Before the first list is complete the answer is 429, and not 404. */
ROUTED_TEST(an_incomplete_cache_is_429)
{
	static const char *const requests[] = {GET(PODS "/a"), GET(PODS), GET(PODS "?watch=1"),
					       GET(PODS "?watch=1&resourceVersion=7")};
	struct caller *c;

	open_routed(w, (struct gw_router_options){0});
	w->m.world->unsynced = true;
	c = call_tcp(&w->g);
	for (size_t i = 0; i < 4; i++) {
		ask(c, requests[i], "\"code\":429");
		assert_heard(c, "HTTP/1.1 429 ");
		assert_heard(c, "Retry-After: 1");
	}
}

/* A request waits for an RV that has not been reached. After the wait it gets upstream's 504. */
ROUTED_TEST(a_later_rv_is_waited_for)
{
	struct caller *c, *d;

	c = open_with_a_pod(w);
	d = call_tcp(&w->g);
	say(c, GET(PODS "?resourceVersion=3"));
	say(d, GET(PODS "?resourceVersion=4"));
	gateway_until(&w->g, gw_front_counters(w->g.front)->requests == 2);
	memory_put(&w->m, "b", "n1", 0);
	gw_router_told(w->router, w->m.world->pods, w->m.world->rv);
	hear(c, "\"name\":\"b\"");
	hear(c, "\r\n0\r\n\r\n");
	gateway_pass(&w->g, AWAIT_MS - 1);
	assert_false(has_heard(d, "HTTP/1.1"));
	gateway_pass(&w->g, 1);
	hear(d, "HTTP/1.1 504 ");
	hear(d, "Too large resource version: 4, current: 3");
	assert_heard(d, "ResourceVersionTooLarge");
	assert_heard(d, "Retry-After: 1");
	/* a client that leaves while waiting is forgotten */
	say(c, GET(PODS "?resourceVersion=9"));
	gateway_until(&w->g, gw_front_counters(w->g.front)->requests == 3);
	hang_up(c);
	hang_up(d);
	gateway_until(&w->g, gw_front_counters(w->g.front)->exchanges == 0);
	gw_router_told(w->router, w->m.world->pods, 9);
}

/* A watch with initial events waits for its RV, and then gets upstream's error in its stream. */
ROUTED_TEST(a_watch_whose_rv_does_not_come_gets_an_error)
{
	struct caller *c;

	c = open_with_a_pod(w);
	say(c,
	    GET(PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9"));
	gateway_until(&w->g, gw_front_counters(w->g.front)->requests == 1);
	gateway_pass(&w->g, AWAIT_MS);
	hear(c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"");
	hear(c, "\r\n0\r\n\r\n");
	assert_heard(c, "HTTP/1.1 200 OK");
	assert_heard(c, "Too large resource version: 9, current: 2");
	assert_false(has_heard(c, "ADDED"));
	assert_int_equal(w->n->watching, 0);
}

/* Names of parameters are case-sensitive: this request is a list. */
ROUTED_TEST(names_of_parameters_are_case_sensitive)
{
	ask(open_with_a_pod(w), GET(PODS "?Watch=1"), "\"kind\":\"PodList\"");
}

/* Reads of the newest state and later pages go elsewhere. A read that names an RV is answered here. */
ROUTED_TEST(reads_of_the_newest_state_go_elsewhere)
{
	static const char *const newest[] = {
		GET(PODS "/a"),
		GET(PODS),
		GET(PODS "?limit=1"),
		GET(PODS "?limit=1&continue=abc"),
		GET(PODS "?watch=1"),
		GET(PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
		GET(PODS
		    "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="),
	};
	struct caller *c;

	w->newest_elsewhere = true;
	w->hooks.elsewhere = send_elsewhere;
	c = open_with_a_pod(w);
	for (size_t i = 0; i < sizeof(newest) / sizeof(*newest); i++) {
		gone_elsewhere = 0;
		ask(c, newest[i], "elsewhere\n");
		assert_int_equal(gone_elsewhere, 1);
		assert_int_equal(w->m.open, 0);
	}
	ask(c, GET(PODS "/a?resourceVersion=0"), "\"nodeName\":\"n1\"");
	ask(c, GET(PODS "?resourceVersion=0"), "\r\n0\r\n\r\n");
	ask(c, GET(PODS "?watch=1&resourceVersion=0"), "\"type\":\"ADDED\"");
}

/* A partly cached resource answers a get by name. A request for more is refused with the cached part. */
ROUTED_TEST(a_request_for_more_than_is_cached_names_the_cached_part)
{
	struct caller *c;

	w->m.partial = true;
	c = open_with_a_pod(w);
	ask(c, GET(PODS "/a"), "\"nodeName\":\"n1\"");
	ask(c, GET(PODS "/b"),
	    "pods \\\"b\\\" not found: they are cached with fieldSelector=spec.nodeName=n1 alone");
	ask(c, GET(PODS), "pods are cached with fieldSelector=spec.nodeName=n1 alone");
	ask(c, GET(PODS "?watch=1"), "HTTP/1.1 400 ");
}

/* With a token such a request is passed on, where that is configured. */
ROUTED_TEST(a_request_for_more_goes_elsewhere_with_a_token)
{
	struct caller *c;

	w->m.partial = true;
	w->hooks.elsewhere = send_elsewhere;
	open_routed(w, (struct gw_router_options){0});
	c = call_tcp(&w->g);
	ask(c, GET(PODS), "HTTP/1.1 400 ");
	ask(c, "GET " PODS " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\n\r\n", "elsewhere\n");
}

/* A listener limited to the cached part serves a list as complete. */
ROUTED_TEST(a_narrow_listener_lists_the_cached_part)
{
	w->m.partial = true;
	w->narrow = true;
	ask(open_with_a_pod(w), GET(PODS), "\"nodeName\":\"n1\"");
}

/* Cached metadata is shown as metadata, and not as a whole object. */
ROUTED_TEST(cached_metadata_is_not_a_whole_object)
{
	static const char partial[] = "GET " PODS "/a HTTP/1.1\r\nHost: g\r\nAccept: application/json;"
				      "as=PartialObjectMetadata;g=meta.k8s.io;v=v1\r\n\r\n";
	struct caller *c;

	w->m.metadata_only = true;
	c = open_with_a_pod(w);
	ask(c, GET(PODS "/a"), "pods are cached as metadata alone: ask for PartialObjectMetadata");
	ask(c, GET(PODS), "HTTP/1.1 406 ");
	ask(c, GET(PODS "?watch=1"), "HTTP/1.1 406 ");
	ask(c, partial, "\"kind\":\"PartialObjectMetadata\"");
	assert_int_equal(w->m.open, 0);
}

/* A watch reports changes as they happen, ends at its timeout, and is freed when its client leaves. */
ROUTED_TEST(a_watch_reports_changes)
{
	struct caller *c = open_with_a_pod(w), *d = call_tcp(&w->g);

	say(c, GET(PODS "?watch=1&resourceVersion=2&timeoutSeconds=2"));
	say(d, GET("/api/v1/pods?watch=1&resourceVersion=2&fieldSelector=spec.nodeName%3Dn2"));
	gateway_until(&w->g, w->n->watching == 2);
	memory_put(&w->m, "b", "n1", 0);
	hear(c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"");
	memory_delete(&w->m, "default/b");
	hear(c, "{\"type\":\"DELETED\"");
	assert_false(has_heard(d, "n1"));
	gateway_pass(&w->g, 2000 - 1);
	assert_false(has_heard(c, "\r\n0\r\n\r\n"));
	gateway_pass(&w->g, 1);
	hear(c, "\r\n0\r\n\r\n");
	gateway_until(&w->g, w->n->watching == 1);
	hang_up(d);
	gateway_until(&w->g, w->n->watching == 0);
	assert_int_equal(w->m.open, 0);
}

/* A watch whose place in the history is lost gets 410 in an ERROR line after its 200. */
ROUTED_TEST(a_lost_place_is_410)
{
	struct caller *c = open_with_a_pod(w);

	say(c, GET(PODS "?watch=1&resourceVersion=2"));
	gateway_until(&w->g, w->n->watching == 1);
	hear(c, "HTTP/1.1 200 ");
	w->m.world->floor = 4;
	w->m.world->forgotten = 3;
	memory_put(&w->m, "c", "n1", 0);
	memory_put(&w->m, "d", "n1", 0);
	hear(c, "{\"type\":\"ERROR\"");
	hear(c, "\"code\":410");
}
