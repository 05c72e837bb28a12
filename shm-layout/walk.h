/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk everything that a root reaches. Readers and tools verify an arena by it; the writer rebuilds its list
 * of used blocks when it takes over an arena.
 *
 * The walk calls the visitor for each reference. The visitor decides whether the walk goes on below the
 * block, so a shared block is walked once while each reference to it is counted.
 */
#ifndef SHM_LAYOUT_WALK_H
#define SHM_LAYOUT_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/block.h"

struct walk_visitor {
	/*
	 * A reference to the block at ref, which lies within bounds and has an expected type.
	 * Returns 1: walk what the block refers to; 0: do not, it was walked before; negative: end the walk
	 * with this result.
	 */
	int (*block)(void *context, uint32_t ref, const struct block *b);
	void *context;
};

/* Damage that ended a walk. */
struct walk_damage {
	uint32_t ref;		/* the damaged block, or the block with a bad reference */
	const char *why;	/* a constant sentence */
};

/*
 * Walk from the root block at this offset.
 *
 * Returns  0; -EBADMSG with *ret_damage set; or the visitor's negative result
 * Cost     each reachable block is touched. The format bounds recursion: tries are 11 deep, values 128
 */
int walk_root(const struct arena_view *view, uint64_t root_offset, const struct walk_visitor *visitor,
	      struct walk_damage *ret_damage);

/*
 * A visitor's set of refs: one bit for each ref. Address space is reserved at once, memory is used on demand.
 */
struct walk_seen {
	uint64_t *bits;
	uint64_t bytes;
};
/* 0, or -ENOMEM. */
int walk_seen_init(struct walk_seen *seen, uint64_t arena_bytes);
void walk_seen_done(struct walk_seen *seen);

/* Add a ref. 1 if the set did not have it, else 0. */
static inline int
walk_seen_first(struct walk_seen *seen, uint32_t ref)
{
	uint64_t mask = 1ull << (ref % 64);
	int first = !(seen->bits[ref / 64] & mask);

	seen->bits[ref / 64] |= mask;
	return first;
}

#endif
