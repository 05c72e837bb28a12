/* SPDX-License-Identifier: Apache-2.0 */
/* Which arenas are left over: none that somebody uses, or that was written to a short while ago. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/header.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informerctl/leftovers.h"

/* The tests need a machine that is up for longer. */
#define LONG_AGO (LEFTOVERS_QUIET_NS + UINT64_C(1000000000))

#define TEST(name) TEST_CASE_OF(char *dir, temp_dir_setup, temp_dir_teardown, name)

static const char *
arena(const char *dir, const char *name, uint64_t magic, uint64_t quiet_ns)
{
	const char *path = temp_path(dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	static struct header h;

	assert_true(fd >= 0);
	h.magic = magic;
	h.created_boot_ns = 0;
	atomic_store(&h.heartbeat_boot_ns, time_ns(CLOCK_BOOTTIME) - quiet_ns);
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
	close(fd);
	return path;
}

struct count {
	unsigned found, failed;
	char last[256];
};

static void
on_leftover(void *context, const struct leftover *found)
{
	struct count *count = context;

	count->found++;
	count->failed += found->result < 0;
	assert_true(found->bytes >= HEADER_BYTES && found->quiet_ns >= LEFTOVERS_QUIET_NS);
	snprintf(count->last, sizeof(count->last), "%s", found->path);
}

static unsigned
find(const char *dir, bool remove, struct count *ret)
{
	*ret = (struct count){0};
	assert_int_equal(leftovers_find(dir, remove, on_leftover, ret), 0);
	assert_int_equal(ret->failed, 0);
	return ret->found;
}

TEST(a_quiet_arena_that_nobody_uses_is_listed_and_then_removed)
{
	const char *path = arena(dir, "informer.3", HEADER_MAGIC, LONG_AGO);
	struct count count;

	assert_int_equal(find(dir, false, &count), 1);
	assert_string_equal(count.last, path);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(find(dir, true, &count), 1);
	assert_true(access(path, F_OK) < 0);
	assert_int_equal(find(dir, true, &count), 0);
	arena(dir, "informer.bad", HEADER_MAGIC, LONG_AGO);
	assert_int_equal(find(dir, true, &count), 1);
}

/* Open for reading, open for writing, or only mapped. */
TEST(an_arena_that_somebody_uses_stays)
{
	const char *path = arena(dir, "informer.1", HEADER_MAGIC, LONG_AGO);
	static const int flags[] = {O_RDONLY, O_RDWR};
	struct count count;
	void *mapped = NULL;

	for (size_t i = 0; i < 2; i++) {
		int fd = open(path, flags[i] | O_CLOEXEC);

		assert_int_equal(find(dir, true, &count), 0);
		mapped = mmap(NULL, HEADER_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(mapped, MAP_FAILED);
		close(fd);
		assert_int_equal(find(dir, true, &count), 0);
		munmap(mapped, HEADER_BYTES);
	}
	assert_int_equal(find(dir, true, &count), 1);
}

TEST(an_arena_of_a_short_while_ago_stays)
{
	struct count count;

	arena(dir, "informer.1", HEADER_MAGIC, LEFTOVERS_QUIET_NS / 2);
	assert_int_equal(find(dir, true, &count), 0);
}

TEST(other_files_stay)
{
	static const char *const names[] = {"informer", "informer.", "informer.1x", "informer.key", ".1"};
	struct count count;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		arena(dir, names[i], HEADER_MAGIC, LONG_AGO);
	arena(dir, "other.1", HEADER_MAGIC + 1, LONG_AGO);
	temp_file(dir, "short.1", "INFARENA");
	assert_int_equal(mkdir(temp_path(dir, "directory.1"), 0700), 0);
	assert_int_equal(mkfifo(temp_path(dir, "fifo.1"), 0600), 0);
	assert_int_equal(symlink("informer", temp_path(dir, "link.1")), 0);
	assert_int_equal(link(temp_path(dir, "informer"), temp_path(dir, "linked.1")), 0);
	assert_int_equal(find(dir, true, &count), 0);
	assert_int_equal(access(temp_path(dir, "other.1"), F_OK), 0);
	assert_int_equal(access(temp_path(dir, "linked.1"), F_OK), 0);
}

TEST(a_directory_that_is_not_there_is_refused)
{
	struct count count;

	assert_true(leftovers_find(temp_path(dir, "none"), true, on_leftover, &count) < 0);
}
