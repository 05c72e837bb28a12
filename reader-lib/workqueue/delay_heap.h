/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that wait for a time each; the first one to be ready stands on top. Of two that are ready at the
 * same time, the one that came first.
 */
#ifndef READER_LIB_WORKQUEUE_DELAY_HEAP_H
#define READER_LIB_WORKQUEUE_DELAY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/base/allocator.h"

/* Stands in the caller's struct. at: its place in the heap plus one; 0: it is in none. */
struct delayed {
	uint64_t ready_ns;
	uint64_t order;
	size_t at;
};

struct delay_heap {
	struct delayed **items;
	size_t count;
	size_t capacity;
	uint64_t order;
};

/* Make sure that one more push cannot fail. Returns 0 or -ENOMEM. */
int delay_heap_reserve(struct delay_heap *h, const struct allocator *memory);
/* After a successful reserve; d is in no heap, its ready_ns is set. */
void delay_heap_push(struct delay_heap *h, struct delayed *d);
/* d is in this heap, and its time becomes an earlier one. */
void delay_heap_advance(struct delay_heap *h, struct delayed *d, uint64_t ready_ns);
/* The first to be ready; NULL: none. */
static inline struct delayed *
delay_heap_top(const struct delay_heap *h)
{
	return h->count ? h->items[0] : NULL;
}

void delay_heap_pop(struct delay_heap *h);
void delay_heap_done(struct delay_heap *h, const struct allocator *memory);

#endif
