/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index plan is one tree of steps for all paths of a resource's indexes. One walk finds an object's
 * values in all of them: a step that several paths share is entered once, and fields are passed in their
 * order.
 *
 *	metadata ── uid                   of index 3
 *	    │  └─── labels                of index 4
 *	    └────── ownerReferences ─ [*] ─ uid
 *	status ──── podIP
 *
 * It finds the same filed values as index_def_each_filed() for each index, in another order.
 * index_plan_compare() walks two states of an object side by side. An index whose fields all have equal bytes
 * has equal values and can be left out of the walk.
 *
 * A step remembers the place of its fields in the shapes that it has met. Threads: one.
 */
#ifndef WRITER_STORE_INDEX_PLAN_H
#define WRITER_STORE_INDEX_PLAN_H

#include <stddef.h>

#include "shm-layout/index_def.h"

struct index_plan;

/* defs' rules are borrowed until the plan is freed; the array itself is read only here. NULL: no memory. */
struct index_plan *index_plan_new(const struct index_def *defs, unsigned count);
void index_plan_free(struct index_plan *plan); /* plan may be NULL */

/* A set of indexes, one bit each; the last bit stands for all from INDEX_MASK_LAST on. */
typedef uint64_t index_mask;
#define INDEX_MASK_LAST 63u
#define INDEX_MASK_ALL UINT64_MAX

static inline index_mask
index_mask_of(unsigned index)
{
	return 1ull << (index < INDEX_MASK_LAST ? index : INDEX_MASK_LAST);
}

/*
 * The indexes in which two states of one object (of one UID) may have different values. Both bodies lie in
 * the same arena. Cost: proportional to the bytes of the fields on the way to the differences
 */
index_mask index_plan_compare(struct index_plan *plan, struct value before, struct value after);

/*
 * Call each() for every filed value of an object in the indexes of `wanted`, with the number of its index.
 * Duplicates are included. The bytes are lent for the call. A non-zero result of each() stops the walk and
 * is returned; else 0, or -EBADMSG.
 */
int index_plan_each(struct index_plan *plan, struct value body, index_mask wanted,
		    int (*each)(unsigned index, const char *data, size_t length, void *context),
		    void *context);

#endif
