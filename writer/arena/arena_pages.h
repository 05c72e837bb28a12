/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and frees the pages of an arena's file. A file that grows gets all its pages at once, so that no
 * later access finds that memory is missing (SIGBUS). Pages are huge where possible: allocated at once, they
 * cost a third of small ones. In a large arena, following links spends much of its time on address
 * translation.
 *
 * Linux 6.1 and later make a huge page of 2 MiB of a file on request, whatever the tmpfs setting. Elsewhere
 * pages stay small.
 */
#ifndef WRITER_ARENA_ARENA_PAGES_H
#define WRITER_ARENA_ARENA_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Extend the file from `from` to `bytes` bytes, and allocate and map all new pages.
 *
 * base     where huge_map() put it, at least `bytes` wide
 * Returns  0; -ENOSPC tmpfs full, or a memory cgroup's limit would be exceeded; other negative errno. After
 *          a failure the file has its old length.
 */
int arena_pages_extend(int fd, void *base, uint64_t from, uint64_t bytes);

/* Allocate and map the pages in [from, to), which have no memory. After a failure they still have none. */
int arena_pages_fill(int fd, void *base, uint64_t from, uint64_t to);

/*
 * Free the memory of the pages in [from, to); a later read there sees zeros. 0, or negative errno. Takes a
 * few microseconds, plus less than one for each page; for a part of a huge page some dozens more.
 */
int arena_pages_punch(int fd, uint64_t from, uint64_t to);

/* Bytes of memory that the file takes; 0: unknown. */
uint64_t arena_pages_taken(int fd);

/* Bytes that stay free under a memory cgroup's limit for the writer itself. */
#define ARENA_PAGES_GROUP_RESERVE (8ull * 1024 * 1024)

/*
 * Make one huge page of these 2 MiB, which have memory. Takes some milliseconds and does not disturb
 * readers. False: they stay small pages.
 */
bool arena_pages_gather(void *region);

#endif
