/* SPDX-License-Identifier: Apache-2.0 */
/* A client that does not read its list holds memory for a limited time and is then dropped. */
#include "routed_world.h"

#include "tools/informer-gateway/answer/list_body_private.h"

#define BUDGET ((size_t)1 << 20)

/* Two clients that read nothing fill the budget until they are dropped without a regular end. */
ROUTED_TEST(a_client_that_reads_nothing_is_dropped)
{
	struct caller *stuck[2];

	w->lists.most = BUDGET;
	open_lists(w, (struct gw_router_options){0}, 4000, 8000);
	for (int i = 0; i < 2; i++)
		stuck[i] = asks(&w->g, i ? GET(ALL_PODS "?limit=100000") : GET(ALL_PODS));
	gateway_until(&w->g, w->lists.held >= BUDGET);
	gateway_pass(&w->g, STALL_MS - LOOK_MS);
	assert_int_equal(w->n->lists_dropped, 0);
	gateway_pass(&w->g, 2ull * LOOK_MS);
	assert_int_equal(w->n->lists_dropped, 2);
	gateway_until(&w->g, w->lists.held == 0);
	hears(&w->g, GET(ALL_PODS "?limit=2"), "HTTP/1.1 200 OK");
	for (int i = 0; i < 2; i++) {
		gateway_until(&w->g, has_ended(stuck[i]));
		assert_false(has_heard(stuck[i], END));
		hang_up(stuck[i]);
	}
	assert_int_equal(w->n->lists_dropped, 2);
}

/* The same for a list that is already complete and only being sent. */
ROUTED_TEST(a_client_that_reads_nothing_of_a_complete_list_is_dropped)
{
	open_lists(w, (struct gw_router_options){0}, 4000, 8000);
	asks(&w->g, GET(ALL_PODS));
	gateway_pass(&w->g, STALL_MS + LOOK_MS);
	assert_int_equal(w->n->lists_dropped, 1);
	gateway_pass(&w->g, LOOK_MS);
	assert_int_equal(w->lists.held, 0);
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

#define VERY_SLOW_STALL_MS 450000 /* 16 bytes a ms of some 6 MB are too slow */

/* A slow client is dropped only while other clients are refused for its memory. */
ROUTED_TEST(a_slow_client_is_dropped_while_others_are_refused)
{
	struct caller *slow, *young;

	w->lists.most = BUDGET;
	open_lists(w, (struct gw_router_options){.stall_ms = VERY_SLOW_STALL_MS}, 4000, 8000);
	slow = call_tcp(&w->g);
	setsockopt(slow->fd, SOL_SOCKET, SO_RCVBUF, &(int){65536}, sizeof(int));
	say(slow, GET(ALL_PODS));
	gateway_until(&w->g, w->lists.held >= BUDGET / 2);
	gateway_pass(&w->g, VERY_SLOW_STALL_MS - 1000);
	sip(slow, 256);
	gateway_pass(&w->g, VERY_SLOW_STALL_MS / 16 + 1000);
	assert_int_equal(w->n->lists_dropped, 0);
	young = asks(&w->g, GET(ALL_PODS "?limit=100000"));
	gateway_pass(&w->g, LOOK_MS);
	assert_int_equal(w->n->lists_dropped, 1);
	gateway_until(&w->g, has_ended(slow));
	assert_false(has_heard(slow, END));
	gateway_until(&w->g, drinks_up(young));
	assert_int_equal(w->n->lists_dropped, 1);
	hang_up(slow);
	hang_up(young);
	gateway_until(&w->g, w->lists.held == 0);
}

/* A client that is fast enough gets the whole list, long after the stall time. */
ROUTED_TEST(a_client_that_reads_is_not_dropped)
{
	struct caller *c;

	w->lists.most = BUDGET;
	open_lists(w, (struct gw_router_options){.stall_ms = 2000}, 4000, 8000);
	c = asks(&w->g, GET(ALL_PODS));
	for (unsigned ms = 0; ms < 4500; ms += 50) { /* a part of it, in small bites */
		gateway_pass(&w->g, 50);
		sip(c, 8);
	}
	gateway_until(&w->g, drinks_up(c));
	assert_int_equal(w->n->lists_dropped, 0);
	gateway_pass(&w->g, SHARE_MS + LOOK_MS);
	assert_int_equal(w->lists.held, 0);
}
