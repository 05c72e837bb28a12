/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of an arena's file. */
#include <sched.h>

#include "shm-layout/huge_map.h"
#include "tests/room.h"
#include "tests/support/full_tmpfs.h"
#include "writer/arena/arena_pages.h"

#define ROOM (16 * HUGE_PAGE_BYTES)

struct world {
	int fd;
	uint8_t *base;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fd = memfd_create("arena-pages", MFD_CLOEXEC);
	assert_true(w->fd >= 0);
	w->base = huge_map(ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, w->fd);
	assert_ptr_not_equal(w->base, MAP_FAILED);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	munmap(w->base, ROOM);
	close(w->fd);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

static void
assert_no_holes(const struct world *w, uint64_t bytes)
{
	struct stat st;

	assert_int_equal(fstat(w->fd, &st), 0);
	assert_int_equal(st.st_size, bytes);
	assert_true((uint64_t)st.st_blocks * 512 >= bytes);
}

/* KiB of the mapping that are in huge pages. */
static unsigned long
huge_kib(const struct world *w)
{
	char line[256];
	bool ours = false;
	unsigned long kib = 0;
	FILE *f = fopen("/proc/self/smaps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *end;
		unsigned long from = strtoul(line, &end, 16);

		if (*end == '-')
			ours = from == (uintptr_t)w->base;
		else if (ours && strncmp(line, "ShmemPmdMapped:", 15) == 0)
			kib = strtoul(line + 15, NULL, 10);
	}
	fclose(f);
	return kib;
}

/* All pages of a file that grows have memory at once, and are zero. */
TEST(a_file_that_grows_has_all_its_pages)
{
	static const uint64_t lengths[] = {
		4096, 12288, HUGE_PAGE_BYTES - 4096, HUGE_PAGE_BYTES + 8192, 5 * HUGE_PAGE_BYTES, ROOM};
	uint64_t from = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_int_equal(arena_pages_extend(w->fd, w->base, from, lengths[i]), 0);
		assert_no_holes(w, lengths[i]);
		for (uint64_t at = from; at < lengths[i]; at += 4096)
			assert_int_equal(w->base[at], 0);
		from = lengths[i];
	}
}

/* Content stays when the file grows next to it, and when its pages become a huge page. */
TEST(content_stays_when_the_file_grows)
{
	assert_int_equal(arena_pages_extend(w->fd, w->base, 0, HUGE_PAGE_BYTES / 2), 0);
	memset(w->base, 0xa5, HUGE_PAGE_BYTES / 2);
	assert_int_equal(arena_pages_extend(w->fd, w->base, HUGE_PAGE_BYTES / 2, 3 * HUGE_PAGE_BYTES), 0);
	arena_pages_gather(w->base);
	for (size_t i = 0; i < HUGE_PAGE_BYTES; i++)
		assert_int_equal(w->base[i], i < HUGE_PAGE_BYTES / 2 ? 0xa5 : 0);
}

/* Each whole 2 MiB that is added is a huge page at once. */
TEST(whole_regions_are_huge_pages_at_once)
{
	assert_int_equal(arena_pages_extend(w->fd, w->base, 0, HUGE_PAGE_BYTES - 4096), 0);
	assert_int_equal(huge_kib(w), 0);
	assert_int_equal(arena_pages_extend(w->fd, w->base, HUGE_PAGE_BYTES - 4096, HUGE_PAGE_BYTES), 0);
	if (!arena_pages_gather(w->base)) {
		print_message(
			"SKIP: this kernel makes no huge pages of a file, or has no memory for one\n");
		skip();
	}
	assert_int_equal(arena_pages_extend(w->fd, w->base, HUGE_PAGE_BYTES, 4 * HUGE_PAGE_BYTES + 4096), 0);
	assert_int_equal(huge_kib(w), 4 * HUGE_PAGE_BYTES / 1024);
}

/* Without room the file keeps its size, and what it took of the room is free again. */
TEST_CASE(a_file_that_cannot_grow_is_unchanged)
{
	struct stat st;
	int directory, fd;
	uint8_t *base;

	if (geteuid() != 0)
		(void)unshare(CLONE_NEWNS | CLONE_NEWUSER); /* allows mount() where user namespaces do */
	directory = small_tmpfs("size=5m");
	if (directory < 0) {
		print_message("SKIP: a small tmpfs cannot be mounted here\n");
		skip();
	}
	fd = openat(directory, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	base = huge_map(ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
	assert_ptr_not_equal(base, MAP_FAILED);
	assert_int_equal(arena_pages_extend(fd, base, 0, 4096), 0);
	assert_int_equal(arena_pages_extend(fd, base, 4096, ROOM), -ENOSPC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 4096);
	assert_int_equal(st.st_blocks * 512, 4096);
	assert_int_equal(arena_pages_extend(fd, base, 4096, 2 * HUGE_PAGE_BYTES), 0);
	munmap(base, ROOM);
	close(fd);
	close(directory);
}

/* A punched range has no memory and reads as zeros. A fill gives it memory; its neighbours stay. */
TEST(a_punched_range_is_filled_again)
{
	assert_int_equal(arena_pages_extend(w->fd, w->base, 0, 2 * HUGE_PAGE_BYTES), 0);
	memset(w->base, 0xa5, 2 * HUGE_PAGE_BYTES);
	assert_int_equal(arena_pages_taken(w->fd), 2 * HUGE_PAGE_BYTES);
	assert_int_equal(arena_pages_punch(w->fd, 8192, HUGE_PAGE_BYTES + 4096), 0);
	assert_int_equal(arena_pages_taken(w->fd), HUGE_PAGE_BYTES + 4096);
	assert_int_equal(arena_pages_fill(w->fd, w->base, 8192, HUGE_PAGE_BYTES + 4096), 0);
	assert_int_equal(arena_pages_taken(w->fd), 2 * HUGE_PAGE_BYTES);
	for (size_t i = 0; i < 2 * HUGE_PAGE_BYTES; i++)
		assert_int_equal(w->base[i], i < 8192 || i >= HUGE_PAGE_BYTES + 4096 ? 0xa5 : 0);
}
