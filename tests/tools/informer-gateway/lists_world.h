/* SPDX-License-Identifier: Apache-2.0 */
/* A router over pods in memory, for tests of what lists hold: included by each, which it is compiled into. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_LISTS_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_LISTS_WORLD_H

#include "gateway_fixture.h"
#include "memory_source.h"

#include "tools/informer-gateway/router.h"

struct lists {
	struct gateway g;
	struct memory m;
	struct gw_router *router;
};

static void
allow(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	next(x);
}

/* So many pods, of so many bytes each. */
static UNUSED void
open_lists(struct lists *w, struct gw_router_options options, unsigned count, size_t bytes)
{
	memset(w, 0, sizeof(*w));
	memory_init(&w->m);
	for (unsigned i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pod-%05u", i);
		memory_put(&w->m, name, "n1", bytes);
	}
	gateway_front(&w->g, (struct gw_front_options){0});
	options.source = w->m.source;
	options.hooks = (struct gw_hooks){.check = allow};
	w->router = gw_router_new(w->g.front, &options);
	/* libmicrohttpd does not cut those who do not read: that is the router's task */
	gateway_listen(&w->g, (struct gw_listener_options){.idle_seconds = 3600}, gw_router_handle,
		       w->router);
}

static UNUSED void
close_lists(struct lists *w)
{
	gw_listener_close(w->g.listener);
	w->g.listener = NULL;
	gw_router_free(w->router);
	assert_int_equal(w->m.open, 0);
	memory_done(&w->m);
	gateway_close(&w->g);
}

#define PODS "/api/v1/pods"
#define END "\r\n0\r\n\r\n"

/* Take all that comes, and keep none of it; whether the end was among it. */
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
