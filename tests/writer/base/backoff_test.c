/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backoff and the clock it stands on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/virtual_clock.h"
#include "writer/base/backoff.h"

/* 0.8 s, doubling, at most 30 s. */
TEST_CASE(waits_double_up_to_thirty_seconds)
{
	static const uint64_t expected[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };
	struct virtual_clock c;
	struct backoff b = { 0 };

	virtual_clock_init(&c);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(backoff_next(&b, &c.clock, 0), expected[i]);
}

/* Up to as much again by chance. */
TEST_CASE(chance_adds_up_to_as_much_again)
{
	struct virtual_clock c;
	struct backoff b = { 0 };

	virtual_clock_init(&c);
	c.chance = UINT32_MAX;
	assert_int_equal(backoff_next(&b, &c.clock, 0), 1600);
	c.chance = 7;
	assert_int_equal(backoff_next(&b, &c.clock, 0), 1607);
}

/* Two minutes without a failure begin anew; a shorter time does not. */
TEST_CASE(two_quiet_minutes_begin_anew)
{
	struct virtual_clock c;
	struct backoff b = { 0 };

	virtual_clock_init(&c);
	backoff_next(&b, &c.clock, 0);
	virtual_clock_advance(&c, 120000);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 1600);
	virtual_clock_advance(&c, 120001);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 800);
}

/* What the server asks for is honoured, up to five minutes; a wait that is longer anyway stays. */
TEST_CASE(retry_after_is_a_lower_bound)
{
	struct virtual_clock c;
	struct backoff b = { 0 };

	virtual_clock_init(&c);
	assert_int_equal(backoff_next(&b, &c.clock, 10000), 10000);
	assert_int_equal(backoff_next(&b, &c.clock, 1), 1600);
	assert_int_equal(backoff_next(&b, &c.clock, 86400000), 300000);
}

/* A server that has just started tells every node the same Retry-After. */
TEST_CASE(those_told_the_same_retry_after_do_not_come_back_together)
{
	struct virtual_clock c;
	struct backoff one = { 0 }, other = { 0 };

	virtual_clock_init(&c);
	c.chance = 7;
	assert_int_equal(backoff_next(&one, &c.clock, 10000), 10007);
	c.chance = 700;
	assert_int_equal(backoff_next(&other, &c.clock, 10000), 10700);
	/* but not much later either: chance is that of the own step, which is 1,600 by now */
	c.chance = UINT32_MAX;
	assert_int_equal(backoff_next(&other, &c.clock, 10000), 11600);
}

/* The pace can be said, wholly or in part, and becomes another one while one waits. */
TEST_CASE(the_pace_can_be_said)
{
	struct virtual_clock c;
	struct backoff b = {.pace = {.first_ms = 100, .max_ms = 350, .reset_ms = 1000}};

	virtual_clock_init(&c);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 100);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 200);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 350);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 350);
	virtual_clock_advance(&c, 1000);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 350);
	virtual_clock_advance(&c, 1001);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 100);
	b.pace.max_ms = 120;
	assert_int_equal(backoff_next(&b, &c.clock, 0), 120);
	b.pace = (struct backoff_pace){.first_ms = 5000};
	assert_int_equal(backoff_next(&b, &c.clock, 0), 240);
	virtual_clock_advance(&c, 120001);
	assert_int_equal(backoff_next(&b, &c.clock, 0), 5000);
}

/* A wait alone is no reason to begin anew: what is usual grows with the longest wait. */
TEST_CASE(a_longest_wait_is_no_quiet_time)
{
	struct virtual_clock c;
	struct backoff b = {.pace = {.max_ms = 3600000}};
	uint64_t wait = 0;

	virtual_clock_init(&c);
	c.chance = UINT32_MAX;
	for (unsigned i = 0; i < 20; i++) {
		wait = backoff_next(&b, &c.clock, 0);
		virtual_clock_advance(&c, wait);
	}
	assert_int_equal(wait, 7200000);
}

struct bell {
	struct virtual_clock *clock;
	struct clock_timer timer, *other;
	char *log;
	char name;
	int again;
};

static void
ring(void *context)
{
	struct bell *b = context;
	size_t at = strlen(b->log);

	b->log[at] = b->name;
	b->log[at + 1] = 0;
	if (b->other)
		clock_clear(&b->clock->clock, b->other);
	if (b->again-- > 0)
		clock_set(&b->clock->clock, &b->timer, 10, ring, b);
}

/* Timers fire once, in the order of their times; one that is moved fires at its new time only. */
TEST_CASE(timers_fire_once_in_order)
{
	struct virtual_clock c;
	char log[16] = "";
	struct bell x = { .clock = &c, .log = log, .name = 'x' }, y = x, z = x;

	virtual_clock_init(&c);
	y.name = 'y';
	z.name = 'z';
	clock_set(&c.clock, &x.timer, 30, ring, &x);
	clock_set(&c.clock, &y.timer, 10, ring, &y);
	clock_set(&c.clock, &z.timer, 20, ring, &z);
	clock_set(&c.clock, &y.timer, 40, ring, &y);
	assert_int_equal(virtual_clock_next(&c), 20);
	virtual_clock_advance(&c, 39);
	assert_string_equal(log, "zx");
	virtual_clock_advance(&c, 100);
	assert_string_equal(log, "zxy");
}

/* A timer may arm itself again, and take another one back that is due in the same moment. */
TEST_CASE(a_timer_may_set_itself_and_clear_others)
{
	struct virtual_clock c;
	char log[16] = "";
	struct bell x = {.clock = &c, .log = log, .name = 'x', .again = 2},
		    y = {.clock = &c, .log = log, .name = 'y'};

	virtual_clock_init(&c);
	x.other = &y.timer;
	clock_set(&c.clock, &x.timer, 10, ring, &x);
	clock_set(&c.clock, &y.timer, 10, ring, &y);
	virtual_clock_advance(&c, 100);
	assert_string_equal(log, "xxx");
	clock_clear(&c.clock, &y.timer);
}
