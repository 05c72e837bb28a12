/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps at a multiple of 2 MiB: reserves more than needed, maps within the reservation, unmaps the rest.
 */
#include "shm-layout/huge_map.h"

#include <stdint.h>
#include <sys/mman.h>

#include "shm-layout/page_size.h"

void *
huge_map(size_t bytes, int protection, int flags, int fd)
{
	size_t whole = page_round_up(bytes), room = whole + HUGE_PAGE_BYTES;
	uint8_t *reserved, *start;
	void *p;

	if (room < bytes)
		return MAP_FAILED;
	reserved = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED)
		return MAP_FAILED;
	start = (uint8_t *)(((uintptr_t)reserved + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1));
	p = mmap(start, bytes, protection, flags | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED) {
		munmap(reserved, room);
		return MAP_FAILED;
	}
	if (start > reserved)
		munmap(reserved, (size_t)(start - reserved));
	if (reserved + room > start + whole)
		munmap(start + whole, (size_t)(reserved + room - (start + whole)));
	return p;
}
