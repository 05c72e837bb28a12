/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What thousands of watchers cost while nothing happens, and that thousands of connections are refused in
 * words.
 */
#include "gateway_fixture.h"
#include "memory_source.h"

#include <malloc.h>
#include <sys/resource.h>

#include "tests/room.h"
#include "tools/informer-gateway/router.h"

#define WATCHERS 2000u
#define CONNECTIONS 3000u
#define BYTES_MAX ((size_t)32 * 1024)

static void
allow(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	next(x);
}

/* Whether so many descriptors may be open. */
static bool
descriptors(rlim_t count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < count) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur >= count;
}

/* What malloc() gave and was not freed; 0 under a sanitizer. */
static size_t
allocated_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A watcher that was told something of the size of a pod, and now waits, takes at most 32 KiB. */
static void
idle_watchers_are_small(void **state)
{
	static struct caller c[WATCHERS];
	struct gw_router_options options = {.hooks = {.check = allow}};
	struct gw_router *router;
	struct memory m;
	struct gateway g;
	size_t before, each;

	(void)state;
	if (!descriptors(2 * WATCHERS + 100))
		skip();
	memory_init(&m);
	memory_put(&m, "first", "n1", 8000);
	gateway_front(&g, (struct gw_front_options){0});
	options.source = m.source;
	router = gw_router_new(g.front, &options);
	gateway_listen(&g, (struct gw_listener_options){0}, gw_router_handle, router);
	before = allocated_bytes();
	for (unsigned i = 0; i < WATCHERS; i++) {
		call_tcp(&g, &c[i]);
		say(&g, &c[i],
		    GET("/api/v1/pods?watch=1&resourceVersion=2&fieldSelector=spec.nodeName%3Dn1&"
			"allowWatchBookmarks=true"));
		if (i % 64 == 0)
			uv_run(&g.loop, UV_RUN_NOWAIT);
	}
	gateway_until(&g, gw_router_counters(router)->watching == WATCHERS);
	memory_put(&m, "second", "n1", 8000);
	for (unsigned i = 0; i < WATCHERS; i++) {
		hear(&g, &c[i], "\"name\":\"second\"");
		api_buf_done(&c[i].heard); /* the watcher's memory is measured, not ours */
	}
	each = (allocated_bytes() - before) / WATCHERS;
	print_message("%zu bytes a watcher\n", each);
	assert_in_range(each, 0, BYTES_MAX);
	for (unsigned i = 0; i < WATCHERS; i++)
		hang_up(&c[i]);
	gateway_until(&g, gw_router_counters(router)->watching == 0);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	assert_int_equal(m.open, 0);
	gw_listener_close(g.listener);
	g.listener = NULL;
	gw_router_free(router);
	memory_done(&m);
	gateway_close(&g);
}

/*
 * Of three thousand who connect and say nothing, those within the limit stay; the others are told, and who is
 * in is served.
 */
static void
thousands_of_idle_connections(void **state)
{
	static struct caller c[CONNECTIONS];
	struct gw_router_options options = {.hooks = {.check = allow}};
	const struct gw_front_counters *n;
	struct gw_router *router;
	struct memory m;
	struct gateway g;
	unsigned told = 0;

	(void)state;
	if (!descriptors(CONNECTIONS + 1200))
		skip();
	memory_init(&m);
	memory_put(&m, "a", "n1", 0);
	gateway_front(&g, (struct gw_front_options){.connections = 1000});
	options.source = m.source;
	router = gw_router_new(g.front, &options);
	gateway_listen(&g, (struct gw_listener_options){.header_seconds = 60}, gw_router_handle, router);
	n = gw_front_counters(g.front);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		call_tcp(&g, &c[i]);
		if (i % 64 == 0)
			uv_run(&g.loop, UV_RUN_NOWAIT);
	}
	gateway_until(&g, n->accepted == CONNECTIONS);
	assert_int_equal(n->refused_in_all, CONNECTIONS - 1000);
	say(&g, &c[10], GET("/api/v1/namespaces/default/pods/a"));
	hear(&g, &c[10], "\"name\":\"a\"");
	/* those that are told when they ask are told at last if they do not */
	gateway_pass(&g, 3000);
	gateway_until(&g, n->connections == 1000);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		told += has_heard(&c[i], "HTTP/1.1 429 ");
	assert_int_equal(told, CONNECTIONS - 1000);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		hang_up(&c[i]);
	gateway_until(&g, n->connections == 0);
	gw_listener_close(g.listener);
	g.listener = NULL;
	gw_router_free(router);
	memory_done(&m);
	gateway_close(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(idle_watchers_are_small),
	cmocka_unit_test(thousands_of_idle_connections),
};
TEST_GROUP(tests, NULL, NULL);
