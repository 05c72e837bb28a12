/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the content of one arena file into another. Offsets stay valid: what stands at an offset stands at
 * the same one again, and where the source has no memory (a hole), the new file has a hole.
 *
 *	create ──▶ copy: all, or nothing ──▶ the books (arena_books_begin() ...), holes are absent there
 *
 * The source is read, never mapped: on a full tmpfs to touch a hole would be a SIGBUS.
 */
#ifndef WRITER_ARENA_ARENA_COPY_H
#define WRITER_ARENA_ARENA_COPY_H

#include "writer/arena/arena.h"

#define ARENA_COPY_PAGE 4096u

/* The file that is copied from. */
struct arena_source {
	int fd;
	const struct header *header; /* or a copy of it */
	uint64_t bytes;              /* committed: a multiple of 4096 */
};

/*
 * The next run of whole pages of the source at or behind `at` that have memory. Returns 1; 0 there is none;
 * negative errno
 */
int arena_source_next(const struct arena_source *source, uint64_t at, uint64_t *ret_from, uint64_t *ret_to);

/*
 * Make the new file, INCOMPLETE and with a header only, of which the root is that of the source: an identity
 * of its own (generation, incarnation; hash_key is kept, for the index tries depend on it), and the same
 * length. Other parameters and errors  as arena_create()
 */
int arena_copy_create(struct arena *ret, int directory, const char *name, uint64_t generation,
		      uint64_t max_bytes, const uint8_t master[TAG_MASTER_BYTES],
		      const struct arena_source *source);

/*
 * Copy what has memory in the source.
 * Returns  0; -ENOSPC the tmpfs or a memory cgroup has no room for both; other negative errno
 */
int arena_copy_all(struct arena *a, const struct arena_source *source);

/* The books of the new file know what has no memory; between arena_books_begin() and the first mark. 0,
 * -errno. */
int arena_copy_books(struct arena *a);

#endif
