/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an open snapshot is too expensive.
 */
#include "tests/room.h"
#include "writer/daemon/snapshot_limit.h"

static const struct snapshot_limit limits = {1000, 60};

/* An old snapshot that holds little back, and a young one that holds much, are both fine. */
TEST_CASE(only_both_together_are_too_much)
{
	assert_int_equal(snapshot_limit_ask(&limits, 10, 1000000), SNAPSHOT_LIMIT_FINE);
	assert_int_equal(snapshot_limit_ask(&limits, 1000000, 10), SNAPSHOT_LIMIT_FINE);
	assert_int_equal(snapshot_limit_ask(&limits, 0, 0), SNAPSHOT_LIMIT_FINE);
}

/* It is said before it is done. */
TEST_CASE(a_warning_comes_at_half_the_limits)
{
	assert_int_equal(snapshot_limit_ask(&limits, 500, 30), SNAPSHOT_LIMIT_WORN);
	assert_int_equal(snapshot_limit_ask(&limits, 999, 60), SNAPSHOT_LIMIT_WORN);
	assert_int_equal(snapshot_limit_ask(&limits, 1000, 60), SNAPSHOT_LIMIT_OVER);
}
