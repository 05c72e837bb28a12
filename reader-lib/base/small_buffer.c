/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path of small_buffer.h: moves the content to larger, allocated memory.
 */
#include "reader-lib/base/small_buffer.h"

#include <errno.h>

int
small_buffer_grow(struct small_buffer *p, size_t more)
{
	size_t size = p->size;
	void *bigger;

	if (more > SMALL_BUFFER_MAX - p->used)
		return -EBADMSG;
	while (size < p->used + more)
		size *= 2;
	bigger = allocator_get_raw(p->memory, size);
	if (!bigger)
		return -ENOMEM;
	memcpy(bigger, p->data, p->used);
	allocator_put(p->memory, p->own);
	p->own = p->data = bigger;
	p->size = size;
	return 0;
}
