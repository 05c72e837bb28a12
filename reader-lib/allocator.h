/*
 * Where a part of the library takes its memory from when it has no handle to ask: the caller's functions, or malloc().
 */
#ifndef READER_LIB_ALLOCATOR_H
#define READER_LIB_ALLOCATOR_H

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
/* NULL is fine. */
void allocator_put(const struct allocator *a, void *memory);

#endif
