/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the content of one arena file into another. Offsets stay valid: each block keeps its offset. Where
 * the source has no memory (a hole), the new file has a hole.
 *
 *	arena_create() ──▶ copy: all, or nothing ──▶ the books (arena_books_begin() ...), holes are absent
 *
 * The source is read, not mapped: on a full tmpfs, touching a mapped hole raises SIGBUS.
 */
#ifndef WRITER_ARENA_ARENA_COPY_H
#define WRITER_ARENA_ARENA_COPY_H

#include "writer/arena/arena.h"

#define ARENA_COPY_PAGE 4096u

/*
 * Find the next run of whole pages with memory in the source, at or after `at`. Returns 1; 0 there is none;
 * negative errno
 */
int arena_source_next(const struct arena_source *source, uint64_t at, uint64_t *ret_from, uint64_t *ret_to);

/*
 * Copy all pages of the source that have memory.
 * Returns  0; -ENOSPC the tmpfs or a memory cgroup has no room for both; other negative errno
 */
int arena_copy_all(struct arena *a, const struct arena_source *source);

#endif
