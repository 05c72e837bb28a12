/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinals that were given back, and from which epoch on each may name another object: one root never has two
 * objects under an ordinal, and none that a reader of an older root still follows changes its meaning there.
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
 * The oldest free one, if it may be used after the published epoch, else *next, which grows.
 * Returns 0, or -ENOSPC when there are no more numbers.
 */
int ordinals_take(struct ordinals *o, uint64_t published, uint64_t *next, uint32_t *ret_ordinal);

/*
 * May be used once `epoch` is published. Where memory is short it is not used again, which costs nothing but
 * a number.
 */
void ordinals_give(struct ordinals *o, uint64_t epoch, uint32_t ordinal);

/* Forget all. */
void ordinals_done(struct ordinals *o);

#endif
