/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that fail. For programs linked with --wrap=malloc,--wrap=realloc,--wrap=calloc,
 * --wrap=reallocarray.
 */
#ifndef TESTS_SUPPORT_ALLOCATIONS_H
#define TESTS_SUPPORT_ALLOCATIONS_H

#include <stdint.h>

/*
 * This many allocations succeed, then one fails, then all succeed. UINT64_MAX, the value at first and after
 * the failure: none fails. A call that lacked memory may succeed all the same.
 */
extern uint64_t allocations_left;

#endif
