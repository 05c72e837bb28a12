/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's page size: 4 KiB on amd64; 4, 16 or 64 KiB on arm64. An address given to mmap(MAP_FIXED),
 * munmap() or madvise() must be a multiple of it. The arena's format does not depend on it: offsets in files
 * are multiples of 4 KiB.
 *
 * Threads: any, and signal handlers.
 */
#ifndef SHM_LAYOUT_PAGE_SIZE_H
#define SHM_LAYOUT_PAGE_SIZE_H

#include <stddef.h>
#include <unistd.h>

static inline size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* The least number of bytes in whole pages that is not below `bytes`. */
static inline size_t
page_round_up(size_t bytes)
{
	return (bytes + page_size() - 1) & ~(page_size() - 1);
}

#endif
