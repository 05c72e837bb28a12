/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of thousands of idle watchers. */
#include "routed_world.h"

#include <malloc.h>
#include <sys/resource.h>

#define WATCHERS 2000u
#define BYTES_MAX ((size_t)32 * 1024)

/* True if so many descriptors can be open. */
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

/* Bytes that malloc() gave and are not freed; 0 under a sanitizer. */
static size_t
allocated_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A watcher that got an event of a pod's size and now waits takes at most 32 KiB. */
ROUTED_TEST(idle_watchers_are_small)
{
	static struct caller *c[WATCHERS];
	size_t before, each;

	if (!descriptors(2 * WATCHERS + 100))
		skip();
	memory_put(&w->m, "first", "n1", 8000);
	open_routed(w, (struct gw_router_options){0});
	before = allocated_bytes();
	for (unsigned i = 0; i < WATCHERS; i++) {
		c[i] = asks(&w->g,
			    GET("/api/v1/pods?watch=1&resourceVersion=2&fieldSelector=spec.nodeName%3Dn1&"
				"allowWatchBookmarks=true"));
		if (i % 64 == 0)
			uv_run(w->g.loop, UV_RUN_NOWAIT);
	}
	gateway_until(&w->g, w->n->watching == WATCHERS);
	memory_put(&w->m, "second", "n1", 8000);
	for (unsigned i = 0; i < WATCHERS; i++) {
		hear(c[i], "\"name\":\"second\"");
		api_buf_done(&c[i]->heard); /* measure the watcher's memory, not the client's */
	}
	each = (allocated_bytes() - before) / WATCHERS;
	print_message("%zu bytes a watcher\n", each);
	assert_in_range(each, 0, BYTES_MAX);
	for (unsigned i = 0; i < WATCHERS; i++)
		hang_up(c[i]);
	gateway_until(&w->g, w->n->watching == 0);
	gateway_until(&w->g, gw_front_counters(w->g.front)->connections == 0);
}
