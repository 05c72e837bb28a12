/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's allocator: the caller's functions, or malloc() and free(). A handle has an allocator. An
 * object that is made or freed without a handle keeps its own copy of one.
 */
#ifndef READER_LIB_BASE_ALLOCATOR_H
#define READER_LIB_BASE_ALLOCATOR_H

#include <stddef.h>

struct allocator {
	void *(*allocate)(void *context, size_t size);
	void (*release)(void *context, void *memory);
	void *context;
};

/* Set both functions, or neither for malloc() and free(). Returns 0 or -EINVAL. */
int allocator_init(struct allocator *a, void *(*allocate)(void *context, size_t size),
		   void (*release)(void *context, void *memory), void *context);
/* Zeroed memory; NULL: out of memory. */
void *allocator_get(const struct allocator *a, size_t size);
/* As allocator_get(), but not zeroed: for memory that the caller fills completely. */
void *allocator_get_raw(const struct allocator *a, size_t size);
/* A copy of a text ("" for NULL); NULL: out of memory. */
char *allocator_text(const struct allocator *a, const char *text);
/* Free memory; NULL is allowed. `a` may lie within the memory. */
void allocator_put(const struct allocator *a, void *memory);

#endif
