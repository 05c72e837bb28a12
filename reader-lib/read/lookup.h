/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lookups, walks and by-seq share: from an ordinal or an index value to objects.
 */
#ifndef READER_LIB_READ_LOOKUP_H
#define READER_LIB_READ_LOOKUP_H

#include "reader-lib/read/resource_open.h"
#include "shm-layout/object.h"

/* The object of an ordinal, checked: 1, 0 none, -EBADMSG. */
int object_of_ordinal(const struct snapshot *s, const struct resource *r, uint32_t ordinal, uint32_t *ret_ref,
		      const struct object **ret_object);
/*
 * The leaf (for ordinal_first()) of an index value: 1, 0 none, or negative.
 * number  of the index; negative: INFORMER_E_NO_INDEX
 */
int index_leaf(const struct snapshot *s, const struct part *part, const struct resource *r, int number,
	       const char *value, size_t value_length, uint32_t *ret_leaf);
/* How many ordinals a leaf stands for; 0 when damaged. */
uint64_t leaf_count(const struct snapshot *s, uint32_t leaf);

#endif
