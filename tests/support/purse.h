/* SPDX-License-Identifier: Apache-2.0 */
/* A handle's allocator that counts and can fail, for tests without memory, and of memory kept. */
#ifndef TESTS_SUPPORT_PURSE_H
#define TESTS_SUPPORT_PURSE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "reader-lib/informer.h"

/*
 * out     allocations that were not released
 * left    allocations that succeed from now on; SIZE_MAX: all
 * fails   how many fail after these; SIZE_MAX: all
 * failed  how many failed
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

/* Attach with this allocator, under the name "test". */
struct informer *purse_attach(struct purse *purse, const char *socket_path);

#endif
