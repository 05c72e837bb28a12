/* SPDX-License-Identifier: Apache-2.0 */
/* A router over pods in memory. Each test that includes this header compiles its own copy. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_ROUTED_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_ROUTED_WORLD_H

#include "gateway_fixture.h"
#include "memory_source.h"

#include "tools/informer-gateway/answer/router.h"

#define SHARE_MS 1000  /* a second: list_body.h */
#define STALL_MS 30000 /* what router.h makes of 0 */
#define LOOK_MS 50     /* list_body.c looks this often */

struct routed {
	struct gateway g;
	struct memory m;
	struct gw_router *router;
	const struct gw_router_counters *n;
	struct gw_hooks hooks;
	struct gw_front_options front;
	struct api_share lists; /* most 0: 256 MiB */
	bool newest_elsewhere, narrow; /* what `allow` grants to reads */
	unsigned checks;
};

static void
allow(void *ctx, struct gw_exchange *x, gw_next *next)
{
	struct routed *w = ctx;

	w->checks++;
	x->reads.newest_elsewhere = w->newest_elsewhere;
	x->reads.narrow = w->narrow;
	next(x);
}

static UNUSED void
open_routed(struct routed *w, struct gw_router_options options)
{
	w->hooks.ctx = w;
	options.source = w->m.source;
	options.hooks = w->hooks;
	options.lists = &w->lists;
	w->lists.most = w->lists.most ? w->lists.most : (size_t)256 << 20;
	gateway_front(&w->g, w->front);
	w->router = gw_router_new(w->g.front, &options);
	w->n = gw_router_counters(w->router);
	/* cutting clients that do not read is the router's task, not libmicrohttpd's */
	gateway_listen(&w->g, (struct gw_listener_options){.idle_seconds = 3600, .header_seconds = 60},
		       gw_router_handle, w->router);
}

static UNUSED void
close_routed(struct routed *w)
{
	gateway_close_listener(&w->g);
	gw_router_free(w->router);
	w->router = NULL;
	assert_int_equal(w->m.open, 0);
	gateway_shut(&w->g);
}

/* Add so many pods of so many bytes each. */
static UNUSED void
open_lists(struct routed *w, struct gw_router_options options, unsigned count, size_t bytes)
{
	for (unsigned i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pod-%05u", i);
		memory_put(&w->m, name, "n1", bytes);
	}
	open_routed(w, options);
}

/* cmocka's: everybody may do everything, and the router is not open yet. */
static UNUSED int
routed_set_up(void **state)
{
	static struct routed w = {.hooks = {.check = allow}};

	gateway_begin(&w.g);
	memory_init(&w.m);
	*state = &w;
	return 0;
}

static void
routed_end(struct routed *w)
{
	close_routed(w);
	world_free(w->m.world);
	gateway_close(&w->g);
}

TEAR_DOWN(routed_tear_down, routed_end)
#define ROUTED_TEST(name) TEST_CASE_OF(struct routed *w, routed_set_up, routed_tear_down, name)

#define ALL_PODS "/api/v1/pods"
#define END "\r\n0\r\n\r\n"

/* Take and drop all bytes that come. Returns true once the end has come. */
static UNUSED bool
drinks_up(struct caller *c)
{
	size_t length = strlen(END);
	bool end;

	listen_to(c);
	end = c->heard.len >= length && !memcmp(c->heard.data + c->heard.len - length, END, length);
	if (!end && c->heard.len > length) {
		memmove(c->heard.data, c->heard.data + c->heard.len - length, length);
		c->heard.len = length;
	}
	return end;
}

#endif
