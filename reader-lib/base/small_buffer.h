/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small buffer: memory that grows as it is filled. No allocation while the first memory suffices.
 */
#ifndef READER_LIB_BASE_SMALL_BUFFER_H
#define READER_LIB_BASE_SMALL_BUFFER_H

#include <stdint.h>
#include <string.h>

#include "reader-lib/base/allocator.h"
#include "reader-lib/base/likely.h"

#define SMALL_BUFFER_MAX ((size_t)1 << 28) /* bytes in total: no block has more */

/* data points at the caller's first memory, or at own. */
struct small_buffer {
	const struct allocator *memory;
	void *own; /* allocated memory; NULL: none yet */
	uint8_t *data;
	size_t used;
	size_t size;
};

static inline void
small_buffer_init(struct small_buffer *p, const struct allocator *memory, void *first, size_t size)
{
	*p = (struct small_buffer){memory, NULL, first, 0, size};
}

static inline void
small_buffer_done(struct small_buffer *p)
{
	allocator_put(p->memory, p->own);
}

/* Make room for `more` bytes. 0, -ENOMEM, or -EBADMSG: above SMALL_BUFFER_MAX. */
int small_buffer_grow(struct small_buffer *p, size_t more);

static inline int
small_buffer_room(struct small_buffer *p, size_t more)
{
	return likely(more <= p->size - p->used) ? 0 : small_buffer_grow(p, more);
}

static inline int
small_buffer_add(struct small_buffer *p, const void *bytes, size_t length)
{
	int r = small_buffer_room(p, length);

	if (likely(r == 0)) {
		memcpy(p->data + p->used, bytes, length);
		p->used += length;
	}
	return r;
}

#endif
