/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free ordinals: a ring, oldest first.
 */
#include "writer/store/ordinals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ORDINAL_MAX 0x7ffffffeu

struct free_ordinal {
	uint64_t epoch;
	uint32_t ordinal;
};

int
ordinals_take(struct ordinals *o, uint64_t published, uint64_t *next, uint32_t *ret_ordinal)
{
	if (o->count > 0 && o->ring[o->head].epoch <= published) {
		*ret_ordinal = o->ring[o->head].ordinal;
		o->head = (o->head + 1) % o->capacity;
		o->count--;
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
	if (o->count == o->capacity) {
		size_t wider = o->capacity ? o->capacity * 2 : 64;
		struct free_ordinal *ring = malloc(wider * sizeof(*ring));

		if (!ring)
			return;
		for (size_t i = 0; i < o->count; i++)
			ring[i] = o->ring[(o->head + i) % o->capacity];
		free(o->ring);
		o->ring = ring;
		o->capacity = wider;
		o->head = 0;
	}
	o->ring[(o->head + o->count++) % o->capacity] = (struct free_ordinal){epoch, ordinal};
}

void
ordinals_done(struct ordinals *o)
{
	free(o->ring);
	memset(o, 0, sizeof(*o));
}
