/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring that grows: items of one size are pushed at the end and taken from the front. Zeroed is empty.
 *
 *	taken ◀── [ 0 | 1 | 2 | … | count - 1 ] ◀── pushed
 *
 * The owner passes the item size to every call, and gives the items their type. The ring keeps its memory
 * until fifo_ring_done().
 */
#ifndef WRITER_BASE_FIFO_RING_H
#define WRITER_BASE_FIFO_RING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIFO_RING_FIRST 64u

struct fifo_ring {
	uint8_t *items;
	size_t head, count;
	size_t capacity;	/* 0 or a power of two */
};

/* Item i, counted from the oldest. Lent until the next reserve. */
static inline void *
fifo_ring_at(const struct fifo_ring *r, size_t size, size_t i)
{
	return r->items + ((r->head + i) & (r->capacity - 1)) * size;
}

/* Slow path of fifo_ring_reserve(). */
static inline int
fifo_ring_grow(struct fifo_ring *r, size_t size, size_t more)
{
	size_t wider = r->capacity ? r->capacity : FIFO_RING_FIRST, in_front;
	uint8_t *items;

	while (wider - r->count < more) {
		if (wider > SIZE_MAX / size / 2)
			return -ENOMEM;
		wider *= 2;
	}
	items = malloc(wider * size);
	if (!items)
		return -ENOMEM;
	in_front = r->count < r->capacity - r->head ? r->count : r->capacity - r->head;
	if (r->count > 0) {
		memcpy(items, r->items + r->head * size, in_front * size);
		memcpy(items + in_front * size, r->items, (r->count - in_front) * size);
	}
	free(r->items);
	r->items = items;
	r->capacity = wider;
	r->head = 0;
	return 0;
}

/* Reserve memory for the next `more` pushes. 0, or -ENOMEM and nothing has changed. */
static inline int
fifo_ring_reserve(struct fifo_ring *r, size_t size, size_t more)
{
	return r->capacity - r->count >= more ? 0 : fifo_ring_grow(r, size, more);
}

/* Add an item at the end, for the caller to fill. Its memory must have been reserved. */
static inline void *
fifo_ring_push(struct fifo_ring *r, size_t size)
{
	return fifo_ring_at(r, size, r->count++);
}

/* Remove the oldest item. The ring must not be empty. */
static inline void
fifo_ring_pop(struct fifo_ring *r)
{
	r->head = (r->head + 1) & (r->capacity - 1);
	r->count--;
}

static inline void
fifo_ring_done(struct fifo_ring *r)
{
	free(r->items);
	*r = (struct fifo_ring){0};
}

#endif
