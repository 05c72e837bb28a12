/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's paths, over a source in memory. The node is n1. */
#include "routed_world.h"

#include "tools/informer-gateway/answer/kubelet_paths.h"

#define BEHIND "\r\n\r\n"

static bool
never_elsewhere(void *ctx, struct gw_exchange *x)
{
	(void)ctx;
	fail_msg("%s is passed on", x->api.url);
	return false;
}

/* Open the router with two pods of n1 and one of n2, and connect a client. */
static struct caller *
open_with_pods(struct routed *w)
{
	w->hooks.elsewhere = never_elsewhere;
	memory_put(&w->m, "a", "n1", 0);
	memory_put(&w->m, "b", "n2", 0);
	memory_put(&w->m, "c", "n1", 0);
	open_routed(w, (struct gw_router_options){.node = "n1"});
	return call_tcp(&w->g);
}

/* The answer is the kubelet's document: no kinds in items, no resourceVersion in the list's metadata. */
ROUTED_TEST(pods_are_those_of_the_node)
{
	static const char *const paths[] = {GET("/pods"), GET("/pods/")};
	static const char head[] = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":["
				   "{\"metadata\":{\"name\":\"a\"";
	struct caller *c = open_with_pods(w);

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		ask(c, paths[i], END);
		assert_heard(c, "HTTP/1.1 200 ");
		assert_heard(c, "Content-Type: application/json");
		assert_heard(c, head);
		assert_heard(c, "\"name\":\"c\"");
		assert_false(has_heard(c, "\"name\":\"b\""));
	}
	assert_int_equal(w->checks, 2);
	/* the API's list is another body, with its RV */
	ask(c, GET("/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3Dn1"),
	    "\"metadata\":{\"resourceVersion\":\"4\"},\"items\"");
	hear(c, END);
}

/* The kubelet has no parameters, and no form but JSON. */
ROUTED_TEST(parameters_and_accept_are_ignored)
{
	struct caller *c = open_with_pods(w);

	ask(c,
	    "GET /pods?watch=1&limit=1&fieldSelector=spec.nodeName%3Dn2&resourceVersion=99 HTTP/1.1\r\nHost: "
	    "g\r\nAccept: application/vnd.kubernetes.protobuf\r\n\r\n",
	    END);
	assert_heard(c, "\"name\":\"a\"");
	assert_heard(c, "\"name\":\"c\"");
	assert_false(has_heard(c, "\"name\":\"b\""));
	assert_false(has_heard(c, "continue"));
}

ROUTED_TEST(other_methods_are_405)
{
	static const char *const requests[] = {
		"POST /pods HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}",
		"DELETE /pods/ HTTP/1.1\r\nHost: g\r\n\r\n",
		"POST /runningpods/ HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n",
		"HEAD /pods HTTP/1.1\r\nHost: g\r\n\r\n",
	};
	struct caller *c = open_with_pods(w);

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		ask(c, requests[i], BEHIND);
		assert_heard(c, "HTTP/1.1 405 ");
		assert_heard(c, "Allow: GET");
	}
	assert_int_equal(w->checks, 0);
}

/* The runtime's pods are refused, and the message leads to /pods. */
ROUTED_TEST(running_pods_are_not_served)
{
	struct caller *c = open_with_pods(w);

	ask(c, GET("/runningpods/"), "the container runtime is not asked here: GET /pods has");
	assert_heard(c, "HTTP/1.1 501 ");
	ask(c, GET("/runningpods"), "HTTP/1.1 501 ");
}

ROUTED_TEST(longer_paths_are_unknown)
{
	struct caller *c;

	open_routed(w, (struct gw_router_options){.node = "n1"});
	c = call_tcp(&w->g);
	ask(c, GET("/pods/a"), "HTTP/1.1 404 ");
	ask(c, GET("/podsa"), "HTTP/1.1 404 ");
}

/* What the arena lacks is said, and not asked for elsewhere, even with a token. */
ROUTED_TEST(what_is_not_cached_is_refused_here)
{
	static const char with_token[] = "GET /pods HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\n\r\n";
	struct caller *c = open_with_pods(w);

	w->m.partial = true;
	ask(c, with_token, "pods are cached with fieldSelector=spec.nodeName=n1 alone");
	w->m.partial = false;
	w->m.metadata_only = true;
	ask(c, with_token, "HTTP/1.1 406 ");
	w->m.metadata_only = false;
	w->m.world->unsynced = true;
	ask(c, with_token, "HTTP/1.1 429 ");
}
