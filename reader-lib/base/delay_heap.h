/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of items that each wait for a time; the first to be ready is on top. Of two items with the same
 * time, the one pushed first comes first.
 */
#ifndef READER_LIB_BASE_DELAY_HEAP_H
#define READER_LIB_BASE_DELAY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/base/allocator.h"

/* Part of the caller's struct. at: index in the heap plus one; 0: not in a heap. */
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

/* Make sure that the next push cannot fail. Returns 0 or -ENOMEM. */
int delay_heap_reserve(struct delay_heap *h, const struct allocator *memory);
/* Push after a successful reserve. d is in no heap, and its ready_ns is set. */
void delay_heap_push(struct delay_heap *h, struct delayed *d);
/* Set an earlier time for d, which is in this heap. */
void delay_heap_advance(struct delay_heap *h, struct delayed *d, uint64_t ready_ns);
/* The first item to be ready; NULL: the heap is empty. */
static inline struct delayed *
delay_heap_top(const struct delay_heap *h)
{
	return h->count ? h->items[0] : NULL;
}

void delay_heap_pop(struct delay_heap *h);
void delay_heap_done(struct delay_heap *h, const struct allocator *memory);

#endif
