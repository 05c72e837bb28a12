/* SPDX-License-Identifier: Apache-2.0 */
/* How long one waits after a failure. */
#include "tests/room.h"
#include "tests/support/virtual_clock.h"
#include "writer/base/backoff.h"

/* Failures of one who waits, one after the other, of which each row is one. */
struct failure {
	uint64_t pass_ms; /* before it */
	uint32_t chance;
	uint64_t retry_after_ms;
	uint64_t wait_ms; /* what must come of it */
};

static void
assert_waits(struct backoff b, const struct failure *failures, size_t count)
{
	struct virtual_clock c;

	virtual_clock_init(&c);
	for (size_t i = 0; i < count; i++) {
		virtual_clock_advance(&c, failures[i].pass_ms);
		c.chance = failures[i].chance;
		assert_int_equal(backoff_next(&b, &c.clock, failures[i].retry_after_ms), failures[i].wait_ms);
	}
}

#define ASSERT_WAITS(b, ...)                                                                                 \
	do {                                                                                                 \
		const struct failure failures[] = {__VA_ARGS__};                                             \
		assert_waits(b, failures, sizeof(failures) / sizeof(failures[0]));                           \
	} while (0)

static const struct backoff usual = {.step_ms = 0};

/* 0.8 s, doubling, at most 30 s. */
TEST_CASE(waits_double_up_to_thirty_seconds)
{
	ASSERT_WAITS(usual, {0, 0, 0, 800}, {0, 0, 0, 1600}, {0, 0, 0, 3200}, {0, 0, 0, 6400},
		     {0, 0, 0, 12800}, {0, 0, 0, 25600}, {0, 0, 0, 30000}, {0, 0, 0, 30000});
}

/* Up to as much again by chance. */
TEST_CASE(chance_adds_up_to_as_much_again)
{
	ASSERT_WAITS(usual, {0, UINT32_MAX, 0, 1600}, {0, 7, 0, 1607});
}

/* Two minutes without a failure begin anew; a shorter time does not. */
TEST_CASE(two_quiet_minutes_begin_anew)
{
	ASSERT_WAITS(usual, {0, 0, 0, 800}, {120000, 0, 0, 1600}, {120001, 0, 0, 800});
}

/* What the server asks for is honoured, up to five minutes; a wait that is longer anyway stays. */
TEST_CASE(retry_after_is_a_lower_bound)
{
	ASSERT_WAITS(usual, {0, 0, 10000, 10000}, {0, 0, 1, 1600}, {0, 0, 86400000, 300000});
}

/* Those told the same Retry-After are kept apart by chance, up to their own step: 1,600 the second time. */
TEST_CASE(those_told_the_same_retry_after_do_not_come_back_together)
{
	ASSERT_WAITS(usual, {0, 7, 10000, 10007});
	ASSERT_WAITS(usual, {0, 700, 10000, 10700}, {0, UINT32_MAX, 10000, 11600});
}

/* The pace can be said, wholly or in part, and becomes another one while one waits. */
TEST_CASE(the_pace_can_be_said)
{
	struct virtual_clock c;
	struct backoff b = {.pace = {.first_ms = 100, .max_ms = 350, .reset_ms = 1000}};

	ASSERT_WAITS(b, {0, 0, 0, 100}, {0, 0, 0, 200}, {0, 0, 0, 350}, {0, 0, 0, 350}, {1000, 0, 0, 350},
		     {1001, 0, 0, 100});
	virtual_clock_init(&c);
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
