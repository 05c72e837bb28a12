/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal hashes of names and values: in a program that is linked with
 * --wrap=index_value_hash,--wrap=object_key_hash these answer with some of their bits only, so that what is
 * filed by them collides.
 */
#ifndef TESTS_SUPPORT_SHORT_HASH_H
#define TESTS_SUPPORT_SHORT_HASH_H

#include <stdint.h>

/* The bits that count; all of them at first. */
extern uint64_t short_hash_mask;

#endif
