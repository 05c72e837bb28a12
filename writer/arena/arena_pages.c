/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates the pages of an arena's file, as huge pages where the system allows it. memory_limit.c tells how
 * much memory may still be allocated.
 */
#include "writer/arena/arena_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/huge_map.h"
#include "writer/arena/memory_limit.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* glibc does not know it yet */
#endif

bool
arena_pages_gather(void *region)
{
	return madvise(region, HUGE_PAGE_BYTES, MADV_COLLAPSE) == 0;
}

static int
allocate(int fd, uint64_t from, uint64_t to)
{
	int r;

	do
		r = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
	while (r == EINTR);
	return -r;
}

/*
 * Make each whole 2 MiB a huge page, if the kernel can. The kernel needs a small page there; holes alone are
 * not enough. One call covers all: each call waits until every processor has flushed its list of new pages,
 * which takes milliseconds on a busy machine.
 */
static void
make_huge(int fd, uint8_t *base, uint64_t from, uint64_t to)
{
	uint64_t first = (from + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES, end = first;

	while (end + HUGE_PAGE_BYTES <= to && allocate(fd, end, end + 1) == 0)
		end += HUGE_PAGE_BYTES;
	if (end > first)
		(void)!madvise(base + first, end - first, MADV_COLLAPSE);
}

/* True if the memory cgroup allows so many more bytes. The file system's limit shows at allocation. */
static bool
has_memory(uint64_t more)
{
	return memory_limit_left() >= more + ARENA_PAGES_GROUP_RESERVE;
}

/*
 * Allocate memory for [from, to), which has none: huge pages first, then the rest. On failure a part may have
 * got memory.
 */
static int
provide(int fd, uint8_t *base, uint64_t from, uint64_t to)
{
	int r;

	make_huge(fd, base, from, to);
	r = allocate(fd, from, to);
	if (r < 0)
		return r;
	/*
	 * one call instead of a page fault every 4 KiB; where the kernel does not know it, the faults follow
	 * later
	 */
	madvise(base + from, to - from, MADV_POPULATE_WRITE);
	return 0;
}

int
arena_pages_extend(int fd, void *base, uint64_t from, uint64_t bytes)
{
	int r;

	if (!has_memory(bytes - from))
		return -ENOSPC;
	if (ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	r = provide(fd, base, from, bytes);
	if (r < 0)
		(void)!ftruncate(fd, (off_t)from);
	return r;
}

int
arena_pages_fill(int fd, void *base, uint64_t from, uint64_t to)
{
	int r;

	if (!has_memory(to - from))
		return -ENOSPC;
	r = provide(fd, base, from, to);
	if (r < 0)
		arena_pages_punch(fd, from, to);
	return r;
}

int
arena_pages_punch(int fd, uint64_t from, uint64_t to)
{
	int r;

	do
		r = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			      (off_t)(to - from));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

uint64_t
arena_pages_taken(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}
