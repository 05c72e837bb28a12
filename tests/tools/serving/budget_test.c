/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: what each share may hold, and all shares together. */
#include "tests/room.h"
#include "tools/serving/budget.h"

/* A share is limited by its own limit and by what other shares leave. */
TEST_CASE(shares_are_bounded_by_each_other)
{
	struct api_budget all = {.most = 100};
	struct api_share a = {.whole = &all, .most = 80}, b = {.whole = &all, .most = 80};

	assert_true(api_share_take(&a, 70));
	assert_int_equal(api_share_room(&a), 10);
	assert_int_equal(api_share_room(&b), 30);
	assert_false(api_share_take(&a, 11));
	assert_false(api_share_take(&b, 31));
	assert_int_equal(a.refused, 1);
	assert_int_equal(b.refused, 1);
	assert_true(api_share_take(&b, 30));
	assert_true(api_share_take(&b, 0));
	api_share_give_back(&a, 70);
	assert_int_equal(api_share_room(&b), 50);
	assert_int_equal(all.held, 30);
}

/* Memory beyond the limit is counted too, and leaves no room until it is given back. */
TEST_CASE(more_than_the_limit_is_counted)
{
	struct api_share alone = {.most = 10};

	api_share_add(&alone, 25);
	assert_int_equal(api_share_room(&alone), 0);
	assert_false(api_share_take(&alone, 1));
	api_share_give_back(&alone, 16);
	assert_true(api_share_take(&alone, 1));
	assert_int_equal(alone.held, 10);
}
