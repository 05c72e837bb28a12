/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private memory that runs out: in a program that is linked with --wrap=malloc,--wrap=realloc,--wrap=calloc,
 * --wrap=reallocarray one of these calls fails.
 */
#ifndef TESTS_SUPPORT_ALLOCATIONS_H
#define TESTS_SUPPORT_ALLOCATIONS_H

#include <stdint.h>

/* So many succeed, then one fails, then all succeed. UINT64_MAX, as at first and after one failed: none
 * fails. A call that lacked one may succeed all the same. */
extern uint64_t allocations_left;

#endif
