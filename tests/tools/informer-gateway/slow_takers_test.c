/* SPDX-License-Identifier: Apache-2.0 */
/* Who does not take his list holds it for a while, and is dropped then. */
#include "lists_world.h"

#include "tests/room.h"
#include "tools/informer-gateway/list_body_private.h"

#define BUDGET ((size_t)1 << 20)

#define STALL_MS 30000 /* what router.h says of 0 */
#define LOOK_MS 50     /* list_body.c looks so often */
#define SHARE_MS 1000

/* Two that read nothing fill the budget, until they are dropped, each without an end. */
static void
who_takes_nothing_is_dropped(void **state)
{
	const struct gw_router_counters *n;
	struct caller stuck[2], c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET}, 4000, 8000);
	n = gw_router_counters(w.router);
	for (int i = 0; i < 2; i++) {
		call_tcp(&w.g, &stuck[i]);
		say(&w.g, &stuck[i], i ? GET(PODS "?limit=100000") : GET(PODS));
	}
	gateway_until(&w.g, n->list_bytes >= BUDGET);
	gateway_pass(&w.g, STALL_MS - LOOK_MS);
	assert_int_equal(n->lists_dropped, 0);
	gateway_pass(&w.g, 2ull * LOOK_MS);
	assert_int_equal(n->lists_dropped, 2);
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
	open_lists(&w, (struct gw_router_options){0}, 4000, 8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &stuck);
	say(&w.g, &stuck, GET(PODS));
	gateway_pass(&w.g, STALL_MS + LOOK_MS);
	assert_int_equal(n->lists_dropped, 1);
	gateway_pass(&w.g, LOOK_MS);
	assert_int_equal(n->list_bytes, 0);
	hang_up(&stuck);
	close_lists(&w);
}

#define ONE_BITE 8192

/* Take so many bites of what has come. */
static void
sip(const struct caller *c, unsigned bites)
{
	char bite[ONE_BITE];

	while (bites-- > 0 && recv(c->fd, bite, sizeof(bite), MSG_DONTWAIT) > 0)
		;
}

#define VERY_SLOW_STALL_MS 450000 /* it is sent some 6 MB, and 16 bytes a ms are too slow */

/* Who took little for how long he is there is dropped while others are refused for it, and not before. */
static void
who_is_slow_is_dropped_while_others_are_refused(void **state)
{
	const struct gw_router_counters *n;
	struct caller slow, young;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET, .stall_ms = VERY_SLOW_STALL_MS}, 4000,
		   8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &slow);
	setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &(int){65536}, sizeof(int));
	say(&w.g, &slow, GET(PODS));
	gateway_until(&w.g, n->list_bytes >= BUDGET / 2);
	gateway_pass(&w.g, VERY_SLOW_STALL_MS - 1000);
	sip(&slow, 256);
	gateway_pass(&w.g, VERY_SLOW_STALL_MS / 16 + 1000);
	assert_int_equal(n->lists_dropped, 0);
	call_tcp(&w.g, &young);
	say(&w.g, &young, GET(PODS "?limit=100000"));
	gateway_pass(&w.g, LOOK_MS);
	assert_int_equal(n->lists_dropped, 1);
	gateway_until(&w.g, has_ended(&slow));
	assert_false(has_heard(&slow, END));
	gateway_until(&w.g, drinks_up(&young));
	assert_int_equal(n->lists_dropped, 1);
	hang_up(&slow);
	hang_up(&young);
	gateway_until(&w.g, n->list_bytes == 0);
	close_lists(&w);
}

/* Who reads at any pace that is not too slow gets all of it, long after that time. */
static void
who_reads_is_not_dropped(void **state)
{
	const struct gw_router_counters *n;
	struct caller c;
	struct lists w;

	(void)state;
	open_lists(&w, (struct gw_router_options){.list_bytes = BUDGET, .stall_ms = 2000}, 4000, 8000);
	n = gw_router_counters(w.router);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET(PODS));
	for (unsigned ms = 0; ms < 4500; ms += 50) { /* a part of it, in small bites */
		gateway_pass(&w.g, 50);
		sip(&c, 8);
	}
	gateway_until(&w.g, drinks_up(&c));
	assert_int_equal(n->lists_dropped, 0);
	hang_up(&c);
	gateway_pass(&w.g, SHARE_MS + LOOK_MS);
	assert_int_equal(n->list_bytes, 0);
	close_lists(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(who_takes_nothing_is_dropped),
	cmocka_unit_test(who_takes_nothing_of_a_whole_list_is_dropped),
	cmocka_unit_test(who_is_slow_is_dropped_while_others_are_refused),
	cmocka_unit_test(who_reads_is_not_dropped),
};
TEST_GROUP(tests, NULL, NULL);
