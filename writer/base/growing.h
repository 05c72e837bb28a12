/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow: of bytes, and of refs. Zeroed is empty. Clearing frees an array larger than
 * GROWING_KEEP, so that one huge document does not stay in memory.
 */
#ifndef WRITER_BASE_GROWING_H
#define WRITER_BASE_GROWING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROWING_KEEP (1u << 20)

struct bytes {
	uint8_t *data;
	size_t length;
	size_t capacity;
};

/* Slow path of bytes_room(). */
static inline int
bytes_grow(struct bytes *b, size_t more)
{
	size_t capacity = b->capacity ? b->capacity : 1024;
	uint8_t *bigger;

	if (more > SIZE_MAX / 4 - b->length)
		return -ENOMEM;
	while (capacity - b->length < more)
		capacity *= 2;
	bigger = realloc(b->data, capacity);
	if (!bigger)
		return -ENOMEM;
	b->data = bigger;
	b->capacity = capacity;
	return 0;
}

/* Make room for `more` bytes at the end. 0 or -ENOMEM. */
static inline int
bytes_room(struct bytes *b, size_t more)
{
	return b->capacity - b->length >= more ? 0 : bytes_grow(b, more);
}

static inline int
bytes_append(struct bytes *b, const void *data, size_t length)
{
	int r = bytes_room(b, length);

	if (r == 0 && length > 0) {
		memcpy(b->data + b->length, data, length);
		b->length += length;
	}
	return r;
}

static inline void
bytes_done(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

static inline void
bytes_clear(struct bytes *b)
{
	b->length = 0;
	if (b->capacity > GROWING_KEEP)
		bytes_done(b);
}

struct refs {
	uint32_t *at;
	uint32_t count;
	uint32_t capacity;
};

static inline int
refs_grow(struct refs *r)
{
	uint32_t capacity = r->capacity ? r->capacity * 2 : 256;
	uint32_t *bigger = capacity > r->capacity ? realloc(r->at, capacity * sizeof(*bigger)) : NULL;

	if (!bigger)
		return -ENOMEM;
	r->at = bigger;
	r->capacity = capacity;
	return 0;
}

/* 0, or -ENOMEM and the ref was not added. */
static inline int
refs_push(struct refs *r, uint32_t ref)
{
	if (r->count == r->capacity && refs_grow(r) < 0)
		return -ENOMEM;
	r->at[r->count++] = ref;
	return 0;
}

static inline void
refs_done(struct refs *r)
{
	free(r->at);
	*r = (struct refs){0};
}

static inline void
refs_clear(struct refs *r)
{
	r->count = 0;
	if (r->capacity > GROWING_KEEP / sizeof(r->at[0]))
		refs_done(r);
}

#endif
