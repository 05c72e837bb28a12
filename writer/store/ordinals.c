/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives out and takes back ordinals for a resource of the store. The ordinal freed first is given out first:
 * its epoch is the oldest.
 */
#include "writer/store/ordinals.h"

#include <errno.h>

#define ORDINAL_MAX 0x7ffffffeu

struct free_ordinal {
	uint64_t epoch;
	uint32_t ordinal;
};

int
ordinals_take(struct ordinals *o, uint64_t published, uint64_t *next, uint32_t *ret_ordinal)
{
	const struct free_ordinal *oldest =
		o->free.count > 0 ? fifo_ring_at(&o->free, sizeof(*oldest), 0) : NULL;

	if (oldest && oldest->epoch <= published) {
		*ret_ordinal = oldest->ordinal;
		fifo_ring_pop(&o->free);
		return 0;
	}
	if (*next > ORDINAL_MAX)
		return -ENOSPC;
	*ret_ordinal = (uint32_t)(*next)++;
	return 0;
}

void
ordinals_give(struct ordinals *o, uint64_t epoch, uint32_t ordinal)
{
	struct free_ordinal *last;

	if (fifo_ring_reserve(&o->free, sizeof(*last), 1) < 0)
		return;
	last = fifo_ring_push(&o->free, sizeof(*last));
	*last = (struct free_ordinal){epoch, ordinal};
}

void
ordinals_done(struct ordinals *o)
{
	fifo_ring_done(&o->free);
}
