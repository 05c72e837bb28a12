/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait after a failure. */
#include "tests/room.h"
#include "tests/support/virtual_clock.h"
#include "writer/base/backoff.h"

/* Failures of one backoff, in order, one a row. */
struct failure {
	uint64_t pass_ms; /* passes before the failure */
	uint32_t chance;
	uint64_t retry_after_ms;
	uint64_t wait_ms; /* the expected wait */
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

/* Waits are 0.8 s, 1.6 s, …, at most 30 s. */
TEST_CASE(waits_double_up_to_thirty_seconds)
{
	ASSERT_WAITS(usual, {0, 0, 0, 800}, {0, 0, 0, 1600}, {0, 0, 0, 3200}, {0, 0, 0, 6400},
		     {0, 0, 0, 12800}, {0, 0, 0, 25600}, {0, 0, 0, 30000}, {0, 0, 0, 30000});
}

TEST_CASE(chance_adds_up_to_as_much_again)
{
	ASSERT_WAITS(usual, {0, UINT32_MAX, 0, 1600}, {0, 7, 0, 1607});
}

/* Two minutes without a failure reset the wait; a shorter time does not. */
TEST_CASE(two_quiet_minutes_begin_anew)
{
	ASSERT_WAITS(usual, {0, 0, 0, 800}, {120000, 0, 0, 1600}, {120001, 0, 0, 800});
}

/* A Retry-After up to five minutes is honoured. A longer own wait stays. */
TEST_CASE(retry_after_is_a_lower_bound)
{
	ASSERT_WAITS(usual, {0, 0, 10000, 10000}, {0, 0, 1, 1600}, {0, 0, 86400000, 300000});
}

/* Clients with the same Retry-After add a random wait of up to their own step: 1,600 ms the second time. */
TEST_CASE(clients_with_one_retry_after_do_not_come_back_together)
{
	ASSERT_WAITS(usual, {0, 7, 10000, 10007});
	ASSERT_WAITS(usual, {0, 700, 10000, 10700}, {0, UINT32_MAX, 10000, 11600});
}

/* The limits can be set, all or some, also while a client waits. */
TEST_CASE(the_limits_can_be_set)
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

/* A long wait does not reset the backoff: the quiet time grows with the longest wait. */
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
