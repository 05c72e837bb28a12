/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's size, by what configuration, file system and memory allow. */
#include <fcntl.h>
#include <unistd.h>

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

/* A tmpfs may be larger than the memory: by default half of that is left to others. */
TEST_CASE(by_default_at_most_half_of_the_memory)
{
	struct arena_means m = {.system = 64 * MIB,
				.system_left = 64 * MIB,
				.memory = 100 * MIB,
				.group_left = UINT64_MAX};

	assert_int_equal(arena_budget_wanted(&m), 50 * MIB);
	assert_int_equal(arena_budget_now(&m), 50 * MIB);
	m.system = 0;
	assert_int_equal(arena_budget_wanted(&m), 50 * MIB);
	m.system = 40 * MIB;
	assert_int_equal(arena_budget_wanted(&m), 40 * MIB);
	m.configured = 60 * MIB;
	assert_int_equal(arena_budget_wanted(&m), 60 * MIB);
}

/* Other programs use /dev/shm: by default a quarter of it is left to them. */
TEST_CASE(by_default_at_most_three_quarters_of_a_shared_file_system)
{
	struct arena_means m = {.system = 64 * MIB,
				.system_left = 60 * MIB,
				.memory = 128 * MIB,
				.group_left = UINT64_MAX,
				.shared = true};

	assert_int_equal(arena_budget_wanted(&m), 48 * MIB);
	assert_int_equal(arena_budget_now(&m), 48 * MIB);
	m.memory = 80 * MIB;
	assert_int_equal(arena_budget_wanted(&m), 40 * MIB);
	m.configured = 64 * MIB;
	assert_int_equal(arena_budget_wanted(&m), 64 * MIB);
	m = (struct arena_means){.memory = 128 * MIB, .group_left = UINT64_MAX, .shared = true};
	assert_int_equal(arena_budget_wanted(&m), 64 * MIB); /* a file system without a size */
}

/* What is looked at is there: the figures of this machine. */
TEST_CASE(the_means_are_looked_at)
{
	struct arena_means m = {0};
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	arena_means_look(&m, fd);
	close(fd);
	assert_true(m.memory > 0 &&
		    m.memory <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_true(m.system >= m.system_left);
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

/* What snapshots hold back matters when a copy of the arena fits without it only, also a little before. */
TEST_CASE(what_is_held_back_keeps_a_copy_out)
{
	struct arena_means m = {
		.system = 64 * MIB, .system_left = 24 * MIB, .group_left = UINT64_MAX, .present = 40 * MIB};

	assert_true(arena_budget_is_held_up(&m, 10 * MIB));
	assert_false(arena_budget_is_held_up(&m, 7 * MIB)); /* no copy fits without it either */
	assert_false(arena_budget_is_held_up(&m, 0));
	assert_true(arena_budget_is_held_up(&m, UINT64_MAX));
	m.group_left = 44 * MIB;
	m.system = 0;
	assert_true(arena_budget_is_held_up(&m, 2 * MIB)); /* the cgroup's reserve counts */
	m.group_left = UINT64_MAX;
	assert_false(arena_budget_is_held_up(&m, 10 * MIB));
	m = (struct arena_means){
		.system = 64 * MIB, .system_left = 35 * MIB, .group_left = UINT64_MAX, .present = 29 * MIB};
	assert_true(arena_budget_is_held_up(&m, 1));
	m.present = 28 * MIB;
	m.system_left = 36 * MIB;
	assert_false(arena_budget_is_held_up(&m, 20 * MIB));
}

static void
assert_explained(const struct arena_means *m, const char *expected)
{
	char text[512];

	arena_budget_explain(m, "/dev/shm", text, sizeof(text));
	if (!strstr(text, expected))
		fail_msg("'%s' is not in '%s'", expected, text);
}

/* The message names the limit that counts, its size, and what to change. */
TEST_CASE(the_limit_that_counts_is_explained)
{
	struct arena_means m = {.system = 64 * MIB,
				.system_left = 64 * MIB,
				.memory = 1000 * MIB,
				.group_left = UINT64_MAX};

	assert_explained(&m, "/dev/shm has 64 MiB, 64 MiB of it free: mount it larger "
			     "(mount -o remount,size=SIZE /dev/shm)");
	m.configured = 32 * MIB;
	assert_explained(&m, "arena.maxBytes (--arena-max) is 32 MiB: raise it");
	m.system_left = MIB / 2;
	assert_explained(&m, "/dev/shm has 64 MiB, 512 KiB of it free");
	m.group_left = ARENA_PAGES_GROUP_RESERVE;
	m.system_left = MIB;
	assert_explained(&m, "the memory cgroup leaves 8 MiB, of which 8 MiB are kept free: raise");
	m = (struct arena_means){.memory = 1000 * MIB, .group_left = UINT64_MAX};
	assert_explained(&m, "half of the memory at most, 500 MiB: set a larger arena.maxBytes");
	m = (struct arena_means){.system = 64 * MIB, .system_left = 16 * MIB, .present = 48 * MIB,
				 .group_left = UINT64_MAX, .shared = true};
	assert_explained(&m, "by default the arena takes three quarters of /dev/shm, 48 MiB of 64 MiB: set a "
			     "larger arena.maxBytes (--arena-max), or mount it larger");
	m.present = m.system_left;
	assert_explained(&m, "/dev/shm has 64 MiB, 16 MiB of it free: mount it larger");
	m = (struct arena_means){.configured = 2 * ARENA_BYTES_LIMIT, .group_left = UINT64_MAX};
	assert_explained(&m, "no arena has more than 32768 MiB");
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
