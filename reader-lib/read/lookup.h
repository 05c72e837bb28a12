/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lookups and walks share: the step from an index value to its objects.
 */
#ifndef READER_LIB_READ_LOOKUP_H
#define READER_LIB_READ_LOOKUP_H

#include "reader-lib/read/resource_open.h"

/* What an index is asked for: objects that have this value or, if `begins`, a value that begins with it. */
struct index_question {
	const char *value;
	size_t length;
	bool begins;
};

/*
 * The leaf (for ordinal_first()) with the objects that answer. Where values are filed under a prefix
 * (shm-layout/index_def.h), the leaf also has objects of other values.
 *
 * number      of the index; a negative number gives INFORMER_E_NO_INDEX
 * ret_filter  NULL: all objects of the leaf answer; else those do for which index_question_fits() with this
 *             definition. May be NULL if the caller compares the objects itself
 * Returns     1; 0: no object answers; or negative. With `begins`, and with a sentence: INFORMER_E_NO_INDEX:
 *             the index has no prefix; -EINVAL: the value is shorter than the prefix
 */
int index_leaf(const struct snapshot *s, const struct part *part, const struct resource *r, int number,
	       const struct index_question *q, uint32_t *ret_leaf, const struct index_def **ret_filter);
/* Whether an object answers: 1, 0, or -EBADMSG. */
int index_question_fits(const struct index_question *q, const struct index_def *def, struct value body);
/*
 * Get by key in one entry of the root. ns_length 0: cluster-scoped.
 * Returns 0, INFORMER_E_NOT_FOUND, -EBADMSG
 */
int object_at_key(const struct snapshot *s, uint32_t position, const char *ns, size_t ns_length,
		  const char *name, size_t name_length, struct informer_object *ret_object);
/* The number of ordinals that a leaf stands for; 0: damaged. */
uint64_t leaf_count(const struct snapshot *s, uint32_t leaf);

#endif
