/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has more than his share asks, one at a time, and nobody when nobody else is ready; whoever lies gains
 * little.
 */
#include "tests/room.h"
#include "tools/informer-gateway/rebalance.h"

#define ME 1u
#define TICK 500u

static struct gw_rebalance b;

static void
heard(unsigned place, uint64_t id, bool ready, uint64_t clients, uint64_t now)
{
	gw_rebalance_heard(&b, place, &(struct gw_relay_word){id, ready, clients}, now);
}

TEST_CASE(nobody_is_asked_alone)
{
	gw_rebalance_init(&b, ME);
	assert_false(gw_rebalance_due(&b, 1000, 0));
	heard(0, 2, false, 0, 0); /* is there, and not ready */
	heard(1, ME, true, 1000, 0); /* ourselves, by the Service's name */
	assert_false(gw_rebalance_due(&b, 1000, 1));
	heard(0, 2, true, 0, 10);
	assert_true(gw_rebalance_due(&b, 1000, 11));
	assert_true(gw_rebalance_due(&b, 1000, 10 + GW_RELAY_HEARD_MS));
	assert_false(gw_rebalance_due(&b, 1000, 11 + GW_RELAY_HEARD_MS)); /* hangs */
	heard(0, 2, true, 0, 50000);
	gw_rebalance_forget(&b, 0);
	assert_false(gw_rebalance_due(&b, 1000, 50000));
}

TEST_CASE(shares_are_of_those_that_are_ready)
{
	struct gw_share s;

	gw_rebalance_init(&b, ME);
	heard(0, 2, true, 10, 0);
	heard(1, 3, true, 0, 0);
	heard(2, 3, true, 0, 0); /* the same, by another address */
	heard(3, 4, false, 500, 0);
	s = gw_rebalance_share(&b, 20, 0);
	assert_int_equal(s.ready, 2);
	assert_int_equal(s.share, 10);
	assert_int_equal(s.limit, 12);
	assert_false(gw_rebalance_due(&b, 7, 0)); /* 17 of three are 6 each, and 7 are none too many */
	assert_true(gw_rebalance_due(&b, 8, 0));
	heard(1, 3, true, UINT64_MAX, 0); /* what it cannot have does not overflow, and nobody is asked */
	heard(0, 2, true, UINT64_MAX, 0);
	assert_false(gw_rebalance_due(&b, 20, 0));
	s = gw_rebalance_share(&b, 0, 0);
	assert_true(s.share > 0 && s.limit >= s.share);
}

/* Two relays, a Service that sends one of `back` back to where it was; until nobody is asked any more. */
struct cluster {
	uint64_t here, there, asked, now;
	unsigned back;
};

static void
live(struct cluster *c, uint64_t until)
{
	uint64_t last = 0;

	for (; c->now < until; c->now += TICK) {
		heard(0, 2, true, c->there, c->now);
		if (!gw_rebalance_due(&b, c->here, c->now))
			continue;
		assert_true(c->asked == 0 || c->now - last >= GW_MOVE_PAUSE_MS);
		last = c->now;
		gw_rebalance_asked(&b, c->here, c->now);
		c->asked++;
		assert_false(gw_rebalance_due(&b, c->here, c->now)); /* one at a time */
		if (c->back && c->asked % c->back == 0)
			continue;
		c->here--;
		c->there++;
	}
}

TEST_CASE(a_new_relay_fills_and_then_all_stay)
{
	struct cluster c = {.here = 100};

	gw_rebalance_init(&b, ME);
	live(&c, 60000);
	assert_int_equal(c.here, 60); /* the limit: a share of 50, and a fifth */
	assert_int_equal(c.asked, 40);
	assert_int_equal(b.moved, 40);
	live(&c, 3600000);
	assert_int_equal(c.asked, 40);
}

TEST_CASE(some_that_come_back_do_not_stop_it)
{
	struct cluster c = {.here = 100, .back = 2};

	gw_rebalance_init(&b, ME);
	live(&c, 170000); /* two seconds each, three where one came back */
	assert_int_equal(c.here, 60);
	assert_in_range(c.asked, 79, 80);
}

/* Says that it is ready and has nobody, always. */
TEST_CASE(a_liar_gains_little)
{
	uint64_t own = 1000, asked = 0;

	gw_rebalance_init(&b, ME);
	for (uint64_t now = 0; now < 3600000; now += TICK) {
		heard(0, 2, true, 0, now);
		if (!gw_rebalance_due(&b, own, now))
			continue;
		gw_rebalance_asked(&b, own, now);
		asked++;
		own--;
	}
	assert_in_range(asked, 4, 25); /* in an hour */
	assert_int_equal(b.came_to_nothing, asked);
	/* it tells the truth from now on: all goes on */
	for (uint64_t now = 3600000, i = 0; i < 1400; now += TICK, i++) {
		heard(0, 2, true, 1000 - own, now);
		if (gw_rebalance_due(&b, own, now)) {
			gw_rebalance_asked(&b, own, now);
			own--;
		}
	}
	assert_true(own < 960);
}
