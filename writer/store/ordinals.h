/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free ordinals of a resource, each with the epoch from which it may name another object. No root has two
 * objects under one ordinal. An ordinal that a reader of an older root still follows keeps its meaning.
 */
#ifndef WRITER_STORE_ORDINALS_H
#define WRITER_STORE_ORDINALS_H

#include <stdint.h>

#include "writer/base/fifo_ring.h"

/* Zeroed is empty. */
struct ordinals {
	struct fifo_ring free;		/* oldest first */
};

/*
 * Take the oldest free ordinal if it may be used after the published epoch; else take *next and increment
 * it.
 * Returns 0, or -ENOSPC when there are no more numbers.
 */
int ordinals_take(struct ordinals *o, uint64_t published, uint64_t *next, uint32_t *ret_ordinal);

/*
 * Free an ordinal: it may be used once `epoch` is published. Without memory it is never used again; that
 * wastes one number.
 */
void ordinals_give(struct ordinals *o, uint64_t epoch, uint32_t ordinal);

/* Forget all. */
void ordinals_done(struct ordinals *o);

#endif
