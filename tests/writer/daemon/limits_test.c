/* SPDX-License-Identifier: Apache-2.0 */
/* When a snapshot costs too much. */
#include "tests/room.h"
#include "writer/daemon/limits.h"

#define MIB (UINT64_C(1) << 20)

static const struct snapshot_limit limits = {1000, 60};

/* An old snapshot that holds few bytes, and a young snapshot that holds many, are within limits. */
TEST_CASE(only_both_together_are_too_much)
{
	assert_false(snapshot_limit_is_over(&limits, 10, 1000000));
	assert_false(snapshot_limit_is_over(&limits, 1000000, 10));
	assert_false(snapshot_limit_is_over(&limits, 999, 60));
	assert_true(snapshot_limit_is_over(&limits, 1000, 60));
}

/* Both limits of a snapshot can be reached in an arena of any size. */
TEST_CASE(a_snapshot_may_hold_a_quarter)
{
	struct config config = {0};

	assert_int_equal(limits_of_snapshots(&config, 40 * MIB).bytes, 10 * MIB);
	assert_int_equal(limits_of_snapshots(&config, 4096 * MIB).bytes, SNAPSHOT_LIMIT_DEFAULT_BYTES);
	config.hold_bytes = 3 * MIB;
	assert_int_equal(limits_of_snapshots(&config, 40 * MIB).bytes, 3 * MIB);
	config.hold_bytes = 500 * MIB;
	assert_int_equal(limits_of_snapshots(&config, 64 * MIB).bytes, 16 * MIB);
}
