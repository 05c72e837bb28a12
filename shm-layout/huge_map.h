/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Map an arena at a multiple of 2 MiB, so that the processor can use huge pages for it. Writer and readers
 * use it.
 */
#ifndef SHM_LAYOUT_HUGE_MAP_H
#define SHM_LAYOUT_HUGE_MAP_H

#include <stddef.h>

#define HUGE_PAGE_BYTES (2ull << 20)

/* As mmap() of fd from offset 0. Returns MAP_FAILED with errno set. Unmap with munmap(address, bytes). */
void *huge_map(size_t bytes, int protection, int flags, int fd);

#endif
