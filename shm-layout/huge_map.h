/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapping an arena so that the processor can use huge pages for it: at a multiple of 2 MiB, as the file's
 * offset 0 is one.
 */
#ifndef SHM_LAYOUT_HUGE_MAP_H
#define SHM_LAYOUT_HUGE_MAP_H

#include <stddef.h>

#define HUGE_PAGE_BYTES (2ull << 20)

/* mmap() of fd from offset 0 at such an address. MAP_FAILED with errno. Unmap with munmap(address, bytes). */
void *huge_map(size_t bytes, int protection, int flags, int fd);

#endif
