/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates the pages of an arena's file as it grows, for arena.c, in huge pages where the system allows;
 * how much may still grow is memory_limit.c's to say.
 */
#include "writer/arena/arena_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm-layout/huge_map.h"
#include "writer/arena/memory_limit.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* glibc does not know it yet */
#endif

/* What must stay free under a memory cgroup's limit for the writer itself. */
#define LIMIT_RESERVE (8ull * 1024 * 1024)

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
 * Each whole 2 MiB, as long as the kernel goes along: what it refuses now it mostly refuses again, and
 * looking for memory takes its time. It makes a huge page of a small one and the holes around it, not of
 * holes alone.
 */
static void
make_huge(int fd, uint8_t *base, uint64_t from, uint64_t to)
{
	uint64_t at = (from + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;

	while (at + HUGE_PAGE_BYTES <= to && allocate(fd, at, at + 1) == 0 && arena_pages_gather(base + at))
		at += HUGE_PAGE_BYTES;
}

int
arena_pages_extend(int fd, void *base, uint64_t from, uint64_t bytes)
{
	uint64_t more = bytes - from, left = memory_limit_left();
	int r;

	if (left < more + LIMIT_RESERVE)
		return -ENOSPC;
	if (ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	make_huge(fd, base, from, bytes);
	r = allocate(fd, from, bytes); /* the rest, or nothing */
	if (r < 0) {
		(void)!ftruncate(fd, (off_t)from);
		return r;
	}
	/*
	 * one call instead of a page fault every 4 KiB; where the kernel does not know it, the faults do the
	 * same
	 */
	madvise((uint8_t *)base + from, more, MADV_POPULATE_WRITE);
	return 0;
}
