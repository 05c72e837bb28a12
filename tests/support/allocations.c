/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces libc's allocation in programs that are linked to wrap it. */
#include "tests/support/allocations.h"

#include <stdbool.h>
#include <stddef.h>

uint64_t allocations_left = UINT64_MAX;

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);

static bool
refused(void)
{
	return allocations_left != UINT64_MAX && allocations_left-- == 0;
}

void *
__wrap_malloc(size_t size)
{
	return refused() ? NULL : __real_malloc(size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return refused() ? NULL : __real_realloc(p, size);
}

void *
__wrap_reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) || refused() ? NULL : __real_realloc(p, bytes);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return refused() ? NULL : __real_calloc(count, size);
}
