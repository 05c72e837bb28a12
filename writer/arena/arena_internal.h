/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the arena's own files know of it beside its contract (arena.h).
 *
 *	arena.c		the file is made; blocks
 *	arena_copy.c	another one's content comes into it
 *	arena_memory.c	room for them: the file grows, its pages get memory and lose it
 */
#ifndef WRITER_ARENA_ARENA_INTERNAL_H
#define WRITER_ARENA_ARENA_INTERNAL_H

#include "writer/arena/arena.h"
#include "writer/arena/arena_books.h"

/* What belongs to the books and is not part of the contract. */
struct arena_private {
	struct arena_books *books;
	uint64_t blocks;
	uint64_t budget;
	uint64_t odd_bytes;  /* that the file took beyond what it should when it was punched anew */
	uint64_t huge_bytes; /* so far the file was offered to the kernel as huge pages */
	uint64_t working_epoch;
	uint64_t retired_since_bytes;
	uint64_t leaked_blocks;
	uint64_t fail_after;
	bool reserve_open;
	bool refused;
	bool (*make_room)(void *context);
	void *make_room_context;
};

/* Would units more leave the reserve alone? */
static inline bool
arena_has_room(const struct arena *a, uint64_t units)
{
	return a->private->reserve_open ||
	       books_free_units(a->private->books) >= units + ARENA_RESERVE / REF_UNIT;
}

/* arena_create() in this empty file, which is the arena's from then on; on failure it stays the caller's. */
int arena_make(struct arena *a, int fd, uint64_t generation, uint64_t max_bytes,
	       const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source);

/* Bytes of the file that have memory. */
uint64_t arena_present_bytes(const struct arena *a);

#endif
