/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lookups and walks share: from an index value to the objects that have it.
 */
#ifndef READER_LIB_READ_LOOKUP_H
#define READER_LIB_READ_LOOKUP_H

#include "reader-lib/read/resource_open.h"

/*
 * The leaf (for ordinal_first()) of an index value: 1, 0 none, or negative.
 * number  of the index; negative: INFORMER_E_NO_INDEX
 */
int index_leaf(const struct snapshot *s, const struct part *part, const struct resource *r, int number,
	       const char *value, size_t value_length, uint32_t *ret_leaf);
/* How many ordinals a leaf stands for; 0 when damaged. */
uint64_t leaf_count(const struct snapshot *s, uint32_t leaf);

#endif
