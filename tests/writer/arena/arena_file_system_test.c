/* SPDX-License-Identifier: Apache-2.0 */
/* Which file systems keep an arena in memory. */
#include <sys/vfs.h>

#include "tests/room.h"
#include "writer/arena/arena_file_system.h"

TEST_CASE(memory_is_told_from_disks)
{
	struct statfs shm, proc;

	assert_null(arena_file_system_not_memory(0x01021994)); /* tmpfs */
	assert_null(arena_file_system_not_memory(0x958458f6)); /* hugetlbfs */
	assert_null(arena_file_system_not_memory(0x858458f6)); /* ramfs */
	assert_string_equal(arena_file_system_not_memory(0xef53), "ext4");
	assert_string_equal(arena_file_system_not_memory(0x58465342), "xfs");
	assert_string_equal(arena_file_system_not_memory(0x794c7630), "overlay");
	assert_string_equal(arena_file_system_not_memory(1), "another file system");
	assert_int_equal(statfs("/dev/shm", &shm), 0);
	assert_null(arena_file_system_not_memory(shm.f_type));
	assert_int_equal(statfs("/proc", &proc), 0);
	assert_non_null(arena_file_system_not_memory(proc.f_type));
}
