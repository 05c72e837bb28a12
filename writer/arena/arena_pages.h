/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of an arena's file. A file that grows gets all its pages at once, so that nobody who touches them
 * later finds that there is no memory (SIGBUS); and in huge pages as far as may be: made at once they cost a
 * third of small ones, and whoever follows links through a large arena, writer and readers, spends much of
 * the time on address translation.
 *
 * Linux 6.1 makes a huge page of what stands in 2 MiB of a file on request, whatever the system's setting for
 * tmpfs is. Where it cannot, small pages serve as well.
 */
#ifndef WRITER_ARENA_ARENA_PAGES_H
#define WRITER_ARENA_ARENA_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Let the file, which is `from` bytes long, have `bytes` bytes, with all their pages, mapped already.
 *
 * base     where huge_map() put it, at least `bytes` wide
 * Returns  0; -ENOSPC tmpfs full, or a memory cgroup's limit would be passed;
 *          other negative errno. After a failure the file is as long as before.
 */
int arena_pages_extend(int fd, void *base, uint64_t from, uint64_t bytes);

/*
 * The same for pages in [from, to) of the file that have no memory. After a failure they have none as before.
 */
int arena_pages_fill(int fd, void *base, uint64_t from, uint64_t to);

/*
 * Take the memory of the pages in [from, to): whoever looks there sees zeros. 0, or negative errno. A few
 * microseconds, and less than one for each page; for a part of a huge page some dozens more.
 */
int arena_pages_punch(int fd, uint64_t from, uint64_t to);

/* Bytes of memory that the file takes; 0 when that cannot be had. */
uint64_t arena_pages_taken(int fd);

/* What must stay free under a memory cgroup's limit for the writer itself. */
#define ARENA_PAGES_GROUP_RESERVE (8ull * 1024 * 1024)

/*
 * Make one huge page of these 2 MiB, which are there. Some milliseconds; readers are not disturbed. False: it
 * is none.
 */
bool arena_pages_gather(void *region);

#endif
