/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's internals: structs and functions that only its own files use (contract: arena.h).
 *
 *	arena.c		makes the file; blocks
 *	arena_copy.c	copies another arena's content into it
 *	arena_memory.c	grows the file; allocates and frees its pages
 */
#ifndef WRITER_ARENA_ARENA_INTERNAL_H
#define WRITER_ARENA_ARENA_INTERNAL_H

#include "writer/arena/arena.h"
#include "writer/arena/arena_books.h"

/* Books, budget and counters. */
struct arena_private {
	struct arena_books *books;
	uint64_t blocks;
	uint64_t budget;
	uint64_t excess_bytes;  /* memory beyond arena_present_bytes() after the last arena_punch_again() */
	uint64_t huge_bytes; /* arena_gather_pages() has come up to here */
	uint64_t working_epoch;
	uint64_t retired_since_bytes;
	uint64_t leaked_blocks;
	uint64_t fail_after;
	bool reserve_open;
	bool refused;
	bool (*make_room)(void *context);
	void *make_room_context;
};

/* Would `units` more leave the reserve untouched? */
static inline bool
arena_has_room(const struct arena *a, uint64_t units)
{
	return a->private->reserve_open ||
	       books_free_units(a->private->books) >= units + ARENA_RESERVE / REF_UNIT;
}

/* As arena_create(), in this empty file. The arena takes fd on success; on failure the caller keeps it. */
int arena_make(struct arena *a, int fd, uint64_t generation, uint64_t max_bytes,
	       const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source);

/* Bytes of the file with memory, by the books. */
uint64_t arena_present_bytes(const struct arena *a);

#endif
