/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions are kept for a while, and equal questions wait for one answer. */
#include "tests/room.h"
#include "tools/informer-gateway/access/decision_memo.h"

static const uint8_t *
digest(unsigned n)
{
	static uint8_t bytes[GW_DIGEST];

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &n, sizeof(n));
	return bytes;
}

static void
answer(struct gw_memo *memo, unsigned n, enum gw_outcome outcome, uint64_t now, uint64_t until)
{
	gw_memo_answer(memo, digest(n), gw_decision_new(outcome, NULL, "", now), until, now);
}

struct told {
	struct gw_waiter waiter, *leaves;
	struct gw_memo *memo;
	unsigned times, asks_anew;
	enum gw_outcome outcome;
};

static void
tell(void *ctx, const struct gw_decision *decision)
{
	struct told *told = ctx;

	told->times++;
	told->outcome = decision->outcome;
	if (told->leaves)
		gw_waiter_leave(told->leaves);
	if (told->asks_anew > 0 && told->asks_anew--)
		(void)gw_memo_wait(told->memo, digest(1), &told->waiter);
}

static void
told_init(struct told *told, struct gw_memo *memo)
{
	*told = (struct told){.memo = memo, .waiter = {.told = tell}};
	told->waiter.ctx = told;
}

SET_UP(set_up, gw_memo_new(16))
TEAR_DOWN(tear_down, gw_memo_free)

#define TEST(name) TEST_CASE_OF(struct gw_memo *memo, set_up, tear_down, name)

/* A decision is found until it expires, by callers that accept its age. */
TEST(decisions_are_found_until_they_expire)
{
	assert_null(gw_memo_find(memo, digest(1), 0, 0));
	answer(memo, 1, GW_ACCESS_ALLOWED, 100, 200);
	assert_int_equal(gw_memo_find(memo, digest(1), 199, 0)->outcome, GW_ACCESS_ALLOWED);
	assert_non_null(gw_memo_find(memo, digest(1), 199, 100));
	assert_null(gw_memo_find(memo, digest(1), 199, 101));
	assert_null(gw_memo_find(memo, digest(2), 199, 0));
	assert_null(gw_memo_find(memo, digest(1), 200, 0));
	assert_int_equal(gw_memo_count(memo), 0);
}

/* A newer decision replaces the older one, even if it is not to be kept. A failed review replaces nothing. */
TEST(the_newest_decision_counts)
{
	answer(memo, 1, GW_ACCESS_ALLOWED, 100, 900);
	answer(memo, 1, GW_ACCESS_UNAVAILABLE, 150, 900);
	assert_int_equal(gw_memo_find(memo, digest(1), 200, 0)->outcome, GW_ACCESS_ALLOWED);
	answer(memo, 1, GW_ACCESS_FORBIDDEN, 200, 900);
	assert_int_equal(gw_memo_find(memo, digest(1), 300, 0)->outcome, GW_ACCESS_FORBIDDEN);
	answer(memo, 1, GW_ACCESS_ALLOWED, 300, 900);
	answer(memo, 1, GW_ACCESS_FORBIDDEN, 400, 0);
	assert_null(gw_memo_find(memo, digest(1), 400, 0));
}

/* The first question is asked and the rest wait. Each waiter that has not left is answered once. */
TEST(all_waiters_are_answered)
{
	struct told told[4];

	for (unsigned i = 0; i < 4; i++) {
		told_init(&told[i], memo);
		assert_int_equal(gw_memo_wait(memo, digest(1), &told[i].waiter), i > 0);
	}
	gw_waiter_leave(&told[1].waiter);
	gw_waiter_leave(&told[1].waiter);
	told[3].leaves = &told[2].waiter; /* the last is answered first */
	answer(memo, 1, GW_ACCESS_FORBIDDEN, 1, 10);
	assert_int_equal(told[0].times, 1);
	assert_int_equal(told[0].outcome, GW_ACCESS_FORBIDDEN);
	assert_int_equal(told[1].times, 0);
	assert_int_equal(told[2].times, 0);
	assert_int_equal(told[3].times, 1);
}

/* A waiter that asks again in its callback waits for the next answer. */
TEST(asking_anew_waits_for_the_next)
{
	struct told told;

	told_init(&told, memo);
	told.asks_anew = 1;
	assert_false(gw_memo_wait(memo, digest(1), &told.waiter));
	answer(memo, 1, GW_ACCESS_UNAVAILABLE, 1, 0);
	assert_int_equal(told.times, 1);
	answer(memo, 1, GW_ACCESS_ALLOWED, 2, 10);
	assert_int_equal(told.times, 2);
}

/* The number of decisions is limited. The least used go first, and refusals push out refusals alone. */
TEST(memory_is_bounded)
{
	for (unsigned i = 0; i < 12; i++)
		answer(memo, i, GW_ACCESS_ALLOWED, 1, 1000);
	assert_non_null(gw_memo_find(memo, digest(0), 2, 0)); /* used */
	for (unsigned i = 100; i < 1000; i++)
		answer(memo, i, GW_ACCESS_FORBIDDEN, 1, 1000);
	assert_int_equal(gw_memo_count(memo), 16);
	for (unsigned i = 0; i < 12; i++)
		assert_non_null(gw_memo_find(memo, digest(i), 2, 0));
	assert_non_null(gw_memo_find(memo, digest(999), 2, 0));
	assert_null(gw_memo_find(memo, digest(100), 2, 0));
	assert_non_null(gw_memo_find(memo, digest(0), 2, 0));
	answer(memo, 50, GW_ACCESS_ALLOWED, 1, 1000);
	assert_non_null(gw_memo_find(memo, digest(0), 2, 0));
	assert_null(gw_memo_find(memo, digest(1), 2, 0));
	assert_int_equal(gw_memo_count(memo), 16);
}
