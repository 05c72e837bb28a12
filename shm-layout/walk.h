/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking everything that a root reaches: for verification by readers and tools, and for the writer that
 * rebuilds its books.
 *
 * The walk goes along every reference; the visitor says whether to go on below a block, so a block that many
 * refer to is walked once, and the references to it are still counted.
 */
#ifndef SHM_LAYOUT_WALK_H
#define SHM_LAYOUT_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/block.h"

struct walk_visitor {
	/*
	 * One reference to the block at ref, which lies within bounds and has a type that may stand there.
	 * Returns 1: walk what it refers to; 0: not (it was walked before); negative: stop with that.
	 */
	int (*block)(void *context, uint32_t ref, const struct block *b);
	void *context;
};

/* Where a walk met something wrong. */
struct walk_damage {
	uint32_t ref;		/* the block that is damaged, or holds a bad reference */
	const char *why;	/* a constant sentence */
};

/*
 * Walk from the root block at this offset.
 * Returns 0; -EBADMSG, and *ret_damage says where and why; or what the visitor returned.
 * Cost: every reachable block is touched; recursion is bounded by the format (tries 11, values 128 deep).
 */
int walk_root(const struct arena_view *view, uint64_t root_offset, const struct walk_visitor *visitor,
	      struct walk_damage *ret_damage);

/* A visitor's memory of which blocks it saw: one bit a ref, reserved at once, touched as needed. */
struct walk_seen {
	uint64_t *bits;
	uint64_t bytes;
};
int walk_seen_init(struct walk_seen *seen, uint64_t arena_bytes);
void walk_seen_done(struct walk_seen *seen);

/* True the first time it is asked for a ref. */
static inline int
walk_seen_first(struct walk_seen *seen, uint32_t ref)
{
	uint64_t mask = 1ull << (ref % 64);
	int first = !(seen->bits[ref / 64] & mask);

	seen->bits[ref / 64] |= mask;
	return first;
}

#endif
