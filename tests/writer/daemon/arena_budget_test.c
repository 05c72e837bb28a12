/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's size, by what configuration, file system and memory allow. */
#include "tests/room.h"
#include "writer/arena/arena.h"
#include "writer/arena/arena_pages.h"
#include "writer/daemon/arena_budget.h"

#define MIB (UINT64_C(1) << 20)

/* Without a configured size the arena is as large as the file system or as refs reach. */
TEST_CASE(as_large_as_configured_else_as_the_file_system)
{
	struct arena_means m = {.system = 64 * MIB, .system_left = 64 * MIB, .group_left = UINT64_MAX};

	assert_int_equal(arena_budget_wanted(&m), 64 * MIB);
	m.configured = 1024 * MIB;
	assert_int_equal(arena_budget_wanted(&m), 1024 * MIB);
	m = (struct arena_means){.group_left = UINT64_MAX};
	assert_true(arena_budget_wanted(&m) == ARENA_BYTES_LIMIT);
	assert_true(arena_budget_now(&m) == ARENA_BYTES_LIMIT);
	m.configured = 1;
	assert_int_equal(arena_budget_wanted(&m), ARENA_BYTES_MIN);
}

/* The arena's own memory counts as available. A cgroup keeps a reserve. The tightest limit counts. */
TEST_CASE(no_more_than_there_is)
{
	struct arena_means m = {
		.system = 64 * MIB, .system_left = 20 * MIB, .group_left = UINT64_MAX, .present = 30 * MIB};

	assert_int_equal(arena_budget_now(&m), 50 * MIB);
	m.group_left = 18 * MIB;
	assert_int_equal(arena_budget_now(&m), 48 * MIB - ARENA_PAGES_GROUP_RESERVE);
	m.configured = 35 * MIB;
	assert_int_equal(arena_budget_now(&m), 35 * MIB);
	m.group_left = m.system_left = 0;
	assert_int_equal(arena_budget_now(&m), 30 * MIB);
	m.system = 0; /* the file system gives no limit */
	m.group_left = UINT64_MAX;
	assert_int_equal(arena_budget_now(&m), 35 * MIB);
}

/* Addresses are several times the memory, as far as refs reach. */
TEST_CASE(there_is_more_address_space_than_memory)
{
	assert_true(arena_address_range(64 * MIB) >= 256 * MIB);
	assert_true(arena_address_range(ARENA_BYTES_LIMIT / 2) == ARENA_BYTES_LIMIT);
	assert_true(arena_address_range(UINT64_MAX) == ARENA_BYTES_LIMIT);
	for (uint64_t budget = ARENA_BYTES_MIN; budget < ARENA_BYTES_LIMIT; budget = budget * 3 / 2 + 4095)
		assert_true(arena_address_range(budget) >= budget && arena_address_range(budget) % 4096 == 0);
}
