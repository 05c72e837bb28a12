/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by the caller's functions, or by malloc().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/base/allocator.h"

static void *
default_allocate(void *context, size_t size)
{
	(void)context;
	return malloc(size);
}

static void
default_release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

int
allocator_init(struct allocator *a, void *(*allocate)(void *context, size_t size),
	       void (*release)(void *context, void *memory), void *context)
{
	if (!allocate != !release)
		return -EINVAL;
	*a = (struct allocator){allocate ? allocate : default_allocate, release ? release : default_release,
				context};
	return 0;
}

void *
allocator_get_raw(const struct allocator *a, size_t size)
{
	return a->allocate(a->context, size);
}

void *
allocator_get(const struct allocator *a, size_t size)
{
	void *memory = allocator_get_raw(a, size);

	return memory ? memset(memory, 0, size) : NULL;
}

char *
allocator_text(const struct allocator *a, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	char *copy = allocator_get(a, length + 1);

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

void
allocator_put(const struct allocator *a, void *memory)
{
	if (memory)
		a->release(a->context, memory);
}
