/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap in an array; each item knows its place, so that its time can be changed.
 */
#include <errno.h>
#include <string.h>

#include "reader-lib/base/delay_heap.h"

#define FIRST_CAPACITY 64u

int
delay_heap_reserve(struct delay_heap *h, const struct allocator *memory)
{
	size_t capacity = h->capacity ? h->capacity * 2 : FIRST_CAPACITY;
	struct delayed **items;

	if (h->count < h->capacity)
		return 0;
	items = allocator_get(memory, capacity * sizeof(items[0]));
	if (!items)
		return -ENOMEM;
	if (h->items)
		memcpy(items, h->items, h->count * sizeof(items[0]));
	allocator_put(memory, h->items);
	h->items = items;
	h->capacity = capacity;
	return 0;
}

static bool
before(const struct delayed *a, const struct delayed *b)
{
	return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->order < b->order;
}

static void
put(struct delay_heap *h, size_t i, struct delayed *d)
{
	h->items[i] = d;
	d->at = i + 1;
}

static void
rise(struct delay_heap *h, size_t i, struct delayed *d)
{
	while (i > 0 && before(d, h->items[(i - 1) / 2])) {
		put(h, i, h->items[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(h, i, d);
}

void
delay_heap_push(struct delay_heap *h, struct delayed *d)
{
	d->order = h->order++;
	rise(h, h->count++, d);
}

void
delay_heap_advance(struct delay_heap *h, struct delayed *d, uint64_t ready_ns)
{
	d->ready_ns = ready_ns;
	rise(h, d->at - 1, d);
}

void
delay_heap_pop(struct delay_heap *h)
{
	struct delayed *last = h->items[--h->count];
	size_t i = 0;

	h->items[0]->at = 0;
	if (h->count == 0)
		return;
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < h->count && before(h->items[child + 1], h->items[child]))
			child++;
		if (child >= h->count || !before(h->items[child], last))
			break;
		put(h, i, h->items[child]);
		i = child;
	}
	put(h, i, last);
}

void
delay_heap_done(struct delay_heap *h, const struct allocator *memory)
{
	allocator_put(memory, h->items);
	*h = (struct delay_heap){0};
}
