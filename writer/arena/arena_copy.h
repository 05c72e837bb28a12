/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the content of one arena file into another. Offsets stay valid: what stands at an offset stands at
 * the same one again, and where the source has no memory (a hole), the new file has a hole.
 *
 *	arena_create() ──▶ copy: all, or nothing ──▶ the books (arena_books_begin() ...), holes are absent
 *
 * The source is read, never mapped: on a full tmpfs to touch a hole would be a SIGBUS.
 */
#ifndef WRITER_ARENA_ARENA_COPY_H
#define WRITER_ARENA_ARENA_COPY_H

#include "writer/arena/arena.h"

#define ARENA_COPY_PAGE 4096u

/*
 * The next run of whole pages of the source at or behind `at` that have memory. Returns 1; 0 there is none;
 * negative errno
 */
int arena_source_next(const struct arena_source *source, uint64_t at, uint64_t *ret_from, uint64_t *ret_to);

/*
 * Copy what has memory in the source.
 * Returns  0; -ENOSPC the tmpfs or a memory cgroup has no room for both; other negative errno
 */
int arena_copy_all(struct arena *a, const struct arena_source *source);

#endif
