/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private memory of a handle that is counted and can run out. For tests of what a library does without
 * memory, and of what it keeps.
 */
#ifndef TESTS_SUPPORT_PURSE_H
#define TESTS_SUPPORT_PURSE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "reader-lib/informer.h"

/*
 * out     pieces that were not given back
 * left    allocations that succeed from now on; SIZE_MAX: all
 * fails   how many fail after these; SIZE_MAX: all
 * failed  how many did
 */
struct purse {
	_Atomic size_t out, left, fails, failed;
};
#define PURSE                                                                                                \
	{                                                                                                    \
		.left = SIZE_MAX, .fails = SIZE_MAX                                                          \
	}

/* informer_options.allocate and release, with the purse as allocator_context. */
void *purse_allocate(void *purse, size_t size);
void purse_release(void *purse, void *memory);

/* Attach with this memory; its name is "test". */
struct informer *purse_attach(struct purse *purse, const char *socket_path);

#endif
