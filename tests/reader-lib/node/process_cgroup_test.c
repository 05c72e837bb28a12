/* SPDX-License-Identifier: Apache-2.0 */
/* A process's cgroups, of a /proc that the test wrote. */
#include "reader-lib/node/process_cgroup.h"
#include "tests/room.h"
#include "tests/support/temp_dir.h"

/* Process 7 has a name that looks like the fields behind it, and began at 4242. */
static int
set_up(void **state)
{
	temp_dir_setup(state);
	temp_file(*state, "7/stat",
		  "7 (a) b (1 2) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99 100 1\n");
	temp_file(*state, "7/cgroup", "0::/kubepods/pod1\n");
	temp_file(*state, "8/stat", "8 (no end");
	temp_file(*state, "8/cgroup", "");
	return setenv("HOST_PROC", *state, 1);
}

#define TEST(name) TEST_CASE_IN(set_up, temp_dir_teardown, name)

static int
read_cgroup(pid_t pid, uint64_t start, char text[32])
{
	size_t length;
	int r = process_cgroup_read(pid, start, text, 31, &length);

	if (r == 0)
		text[length] = '\0';
	return r;
}

TEST(the_cgroup_of_a_process_is_read)
{
	char text[32];

	assert_int_equal(read_cgroup(7, 0, text), 0);
	assert_string_equal(text, "0::/kubepods/pod1\n");
	assert_int_equal(read_cgroup(7, 4242, text), 0);
	assert_string_equal(text, "0::/kubepods/pod1\n");
	assert_int_equal(read_cgroup(8, 0, text), 0);
	assert_string_equal(text, "");
}

/* A pid that another process has now, one that no process has, and a stat that makes no sense. */
TEST(another_process_is_not_the_one_asked_for)
{
	char text[32];

	assert_int_equal(read_cgroup(7, 4241, text), -ESRCH);
	assert_int_equal(read_cgroup(9, 0, text), -ESRCH);
	assert_int_equal(read_cgroup(8, 1, text), -ESRCH);
}

/* Of a text that is too long, what fits is read. */
TEST(a_long_text_is_cut)
{
	char text[32];

	temp_file(*state, "7/cgroup", "0::/0123456789012345678901234567890123456789\n");
	assert_int_equal(read_cgroup(7, 0, text), 0);
	assert_string_equal(text, "0::/012345678901234567890123456");
}

/* Without HOST_PROC, /proc is read: this process is there. */
TEST(the_real_proc_is_the_default)
{
	char text[4096];
	size_t length;

	unsetenv("HOST_PROC");
	assert_int_equal(process_cgroup_read(getpid(), 0, text, sizeof(text), &length), 0);
}
