/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that cgroups of both versions still allow, read from made-up hierarchies. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/arena/memory_limit.h"

static uint64_t
left(const char *dir)
{
	return memory_limit_left_at(temp_path(dir, "cgroup"), temp_path(dir, "fs"));
}

#define T(name) TEST_CASE_OF(const char *dir, temp_dir_setup, temp_dir_teardown, name)

/* Without a group, or with groups without a limit, memory is unlimited. */
T(without_a_limit_memory_is_unlimited)
{
	assert_true(left(dir) == UINT64_MAX);
	temp_file(dir, "cgroup", "0::/a/b\n");
	assert_true(left(dir) == UINT64_MAX);
	temp_file(dir, "fs/a/b/memory.max", "max\n");
	temp_file(dir, "fs/a/b/memory.current", "5000\n");
	assert_true(left(dir) == UINT64_MAX);
}

/* The tightest limit of a group and its ancestors counts. */
T(the_tightest_group_counts)
{
	temp_file(dir, "cgroup", "0::/a/b\n");
	temp_file(dir, "fs/a/b/memory.max", "9000\n");
	temp_file(dir, "fs/a/b/memory.current", "1000\n");
	assert_int_equal(left(dir), 8000);
	temp_file(dir, "fs/a/memory.max", "9000\n");
	temp_file(dir, "fs/a/memory.current", "6000\n");
	assert_int_equal(left(dir), 3000);
	/* in a container the group's own files may be at the top */
	temp_file(dir, "fs/memory.max", "4000\n");
	temp_file(dir, "fs/memory.current", "2000\n");
	assert_int_equal(left(dir), 2000);
	temp_file(dir, "fs/memory.current", "7000\n");
	assert_int_equal(left(dir), 0);
}

/* Page cache that the kernel drops before it kills counts as free; tmpfs counts as used. */
T(page_cache_is_free_memory)
{
	temp_file(dir, "cgroup", "0::/a\n");
	temp_file(dir, "fs/a/memory.max", "9000\n");
	temp_file(dir, "fs/a/memory.current", "8000\n");
	temp_file(dir, "fs/a/memory.stat",
		  "anon 1000\nfile 7000\nshmem 4000\ninactive_file 2000\nactive_file 1000\n");
	assert_int_equal(left(dir), 4000);
}

/* Version 1 has a hierarchy for memory, beside others. */
T(version_1_is_understood)
{
	temp_file(dir, "cgroup", "12:cpu,cpuacct:/x\n5:memory:/pod/c\n1:name=systemd:/y\n");
	temp_file(dir, "fs/memory/pod/c/memory.limit_in_bytes", "9000\n");
	temp_file(dir, "fs/memory/pod/c/memory.usage_in_bytes", "2500\n");
	assert_int_equal(left(dir), 6500);
}

/* The limit itself is the tightest one, used or not; the machine's memory counts where it is less. */
T(the_limit_is_the_tightest_or_the_machine)
{
	const char *groups = temp_path(dir, "cgroup"), *root = temp_path(dir, "fs");

	assert_int_equal(memory_limit_total_at(groups, root, 9000), 9000);
	temp_file(dir, "cgroup", "5:memory:/c\n0::/a/b\n");
	temp_file(dir, "fs/a/b/memory.max", "max\n");
	assert_int_equal(memory_limit_total_at(groups, root, 9000), 9000);
	temp_file(dir, "fs/a/memory.max", "8000\n");
	temp_file(dir, "fs/a/memory.current", "7000\n");
	assert_int_equal(memory_limit_total_at(groups, root, 9000), 8000);
	temp_file(dir, "fs/memory/c/memory.limit_in_bytes", "6000\n");
	assert_int_equal(memory_limit_total_at(groups, root, 9000), 6000);
	assert_int_equal(memory_limit_total_at(groups, root, 5000), 5000);
}

/* Lines that name no group are skipped. */
T(nonsense_is_passed_over)
{
	temp_file(dir, "cgroup", "\n:\nx:memory\n0::/a\n");
	temp_file(dir, "fs/a/memory.max", "many\n");
	temp_file(dir, "fs/a/memory.current", "-\n");
	assert_true(left(dir) == UINT64_MAX);
	temp_file(dir, "fs/a/memory.max", "100\n");
	temp_file(dir, "fs/a/memory.current", "40\n");
	assert_int_equal(left(dir), 60);
}
