/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colliding hashes of names and values: in a program linked with
 * --wrap=index_value_hash,--wrap=object_key_hash both functions return only some of their bits.
 */
#ifndef TESTS_SUPPORT_SHORT_HASH_H
#define TESTS_SUPPORT_SHORT_HASH_H

#include <stdint.h>

/* The bits that are returned; at first all. */
extern uint64_t short_hash_mask;

#endif
