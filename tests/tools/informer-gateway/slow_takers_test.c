/* SPDX-License-Identifier: Apache-2.0 */
/* Who does not take his list holds it for a while, and is dropped then. */
#include "lists_world.h"

#include "tests/room.h"
#include "tools/informer-gateway/list_body_private.h"

#define BUDGET ((size_t)1 << 20)

static void
gateway_for(struct gateway *g, uint64_t ms)
{
	for (uint64_t end = test_ms() + ms; test_ms() < end;)
		uv_run(&g->loop, UV_RUN_ONCE);
}

/* Two that read nothing fill the budget, until they are dropped, each without an end. */
static void
who_takes_nothing_is_dropped(void **state)
{
	const struct gw_router_counters *n;
	struct caller stuck[2], c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET, .stall_ms = 2000}, 4000, 8000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < 2; i++) {
		call_tcp(&w.g, &stuck[i]);
		say(&w.g, &stuck[i], i ? GET(PODS "?limit=100000") : GET(PODS));
	}
	gateway_until(&w.g, n->list_bytes >= BUDGET);
	gateway_until(&w.g, n->lists_dropped == 2);
	gateway_until(&w.g, n->list_bytes == 0);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS "?limit=2"));
	hear(&w.g, &c, "HTTP/1.1 200 OK");
	for (int i = 0; i < 2; i++) {
		gateway_until(&w.g, has_ended(&stuck[i]));
		assert_false(has_heard(&stuck[i], END));
		hang_up(&stuck[i]);
	}
	assert_int_equal(n->lists_dropped, 2);
	hang_up(&c);
	close_lists(&w);
}

/* The same where all bytes were made already, and it is only sent. */
static void
who_takes_nothing_of_a_whole_list_is_dropped(void **state)
{
	const struct gw_router_counters *n;
	struct caller stuck;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.stall_ms = 300}, 4000, 8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &stuck);
	say(&w.g, &stuck, GET(PODS));
	gateway_until(&w.g, n->lists_dropped == 1 && n->list_bytes == 0);
	hang_up(&stuck);
	close_lists(&w);
}

/* As if all readers had come so long ago. */
static void
make_older(const struct lists *w, uint64_t ms)
{
	for (struct gw_body *b = w->router->bodies->first; b; b = b->next)
		for (struct gw_body_reader *r = b->readers; r; r = r->next)
			r->begun_ms -= r->begun_ms < ms ? r->begun_ms : ms;
}

/* Who took little for how long he is there is dropped while others are refused for it, and not before. */
static void
who_is_slow_is_dropped_while_others_are_refused(void **state)
{
	const struct gw_router_counters *n;
	struct caller slow, young;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET, .stall_ms = 16000}, 4000, 8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &slow);
	say(&w.g, &slow, GET(PODS));
	gateway_until(&w.g, n->list_bytes >= BUDGET / 2);
	gateway_for(&w.g, 100); /* so that it has an age */
	make_older(&w, UINT64_MAX);
	gateway_for(&w.g, 1500);
	assert_int_equal(n->lists_dropped, 0);
	call_tcp(&w.g, &young);
	say(&w.g, &young, GET(PODS "?limit=100000"));
	gateway_until(&w.g, n->lists_dropped == 1);
	gateway_until(&w.g, has_ended(&slow));
	assert_false(has_heard(&slow, END));
	gateway_until(&w.g, drinks_up(&young));
	assert_int_equal(n->lists_dropped, 1);
	hang_up(&slow);
	hang_up(&young);
	gateway_until(&w.g, n->list_bytes == 0);
	close_lists(&w);
}

/* Take a little. */
static void
sip(const struct caller *c)
{
	char some[8192];
	ssize_t got = recv(c->fd, some, sizeof(some), MSG_DONTWAIT);

	(void)got;
}

/* Who reads at any pace that is not too slow gets all of it, long after that time. */
static void
who_reads_is_not_dropped(void **state)
{
	const struct gw_router_counters *n;
	struct caller c;
	struct lists w;
	uint64_t begun = test_ms();

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET, .stall_ms = 2000}, 4000, 8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS));
	while (test_ms() - begun < 4500) { /* a part of it, in small bites */
		gateway_for(&w.g, 50);
		for (int i = 0; i < 8; i++)
			sip(&c);
	}
	gateway_until(&w.g, drinks_up(&c));
	assert_int_equal(n->lists_dropped, 0);
	hang_up(&c);
	gateway_until(&w.g, n->list_bytes == 0);
	close_lists(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(who_takes_nothing_is_dropped),
	cmocka_unit_test(who_takes_nothing_of_a_whole_list_is_dropped),
	cmocka_unit_test(who_is_slow_is_dropped_while_others_are_refused),
	cmocka_unit_test(who_reads_is_not_dropped),
};
TEST_GROUP(tests, NULL, NULL);
