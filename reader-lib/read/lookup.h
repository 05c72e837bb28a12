/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lookups and walks share: the step from an index value to its objects.
 */
#ifndef READER_LIB_READ_LOOKUP_H
#define READER_LIB_READ_LOOKUP_H

#include "reader-lib/read/resource_open.h"

/*
 * The leaf (for ordinal_first()) of an index value. Returns 1, 0: no object has the value, or negative.
 * number  of the index; a negative number gives INFORMER_E_NO_INDEX
 */
int index_leaf(const struct snapshot *s, const struct part *part, const struct resource *r, int number,
	       const char *value, size_t value_length, uint32_t *ret_leaf);
/*
 * Get by key in one entry of the root. ns_length 0: cluster-scoped.
 * Returns 0, INFORMER_E_NOT_FOUND, -EBADMSG
 */
int object_at_key(const struct snapshot *s, uint32_t position, const char *ns, size_t ns_length,
		  const char *name, size_t name_length, struct informer_object *ret_object);
/* The number of ordinals that a leaf stands for; 0: damaged. */
uint64_t leaf_count(const struct snapshot *s, uint32_t leaf);

#endif
