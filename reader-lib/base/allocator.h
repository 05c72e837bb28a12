/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the library takes its memory from: the caller's functions, or malloc(). A handle has one; what is
 * freed without a handle, or made without one, has a copy of its own.
 */
#ifndef READER_LIB_BASE_ALLOCATOR_H
#define READER_LIB_BASE_ALLOCATOR_H

#include <stddef.h>

struct allocator {
	void *(*allocate)(void *context, size_t size);
	void (*release)(void *context, void *memory);
	void *context;
};

/* Both functions, or neither: then malloc() and free(). Returns 0 or -EINVAL. */
int allocator_init(struct allocator *a, void *(*allocate)(void *context, size_t size),
		   void (*release)(void *context, void *memory), void *context);
/* Zeroed; NULL when there is none. */
void *allocator_get(const struct allocator *a, size_t size);
/* The same, with whatever it holds: for what is written whole. */
void *allocator_get_raw(const struct allocator *a, size_t size);
/* A copy of a text ("" for NULL); NULL when there is no memory. */
char *allocator_text(const struct allocator *a, const char *text);
/* NULL is fine. `a` may lie in the memory. */
void allocator_put(const struct allocator *a, void *memory);

#endif
