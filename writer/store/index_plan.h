/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All paths of a resource's indexes as one tree of steps, so that an object's values in all of them are found
 * in one walk: what lies on the way of several is entered once, and its fields are passed in their order.
 *
 *	metadata ── uid                   of index 3
 *	    │  └─── labels                of index 4
 *	    └────── ownerReferences ─ [*] ─ uid
 *	status ──── podIP
 *
 * What it finds is what index_def_each() finds of each index, in another order. Two states of one object are
 * walked side by side first: an index has the same values of both where every field on its ways has the same
 * bytes, and is then left out of the walk.
 *
 * A step remembers where its fields stand in the shapes that it has met. Threads: one.
 */
#ifndef WRITER_STORE_INDEX_PLAN_H
#define WRITER_STORE_INDEX_PLAN_H

#include <stddef.h>

#include "shm-layout/index_def.h"

struct index_plan;

/* defs' rules are borrowed until it is freed, defs itself is not. NULL: no memory. */
struct index_plan *index_plan_new(const struct index_def *defs, unsigned count);
void index_plan_free(struct index_plan *plan); /* plan may be NULL */

/* Some of the indexes, a bit each; the last bit stands for all from INDEX_MASK_LAST on. */
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
 * the same arena. Cost: the bytes of the fields that lead to what differs.
 */
index_mask index_plan_compare(struct index_plan *plan, struct value before, struct value after);

/*
 * Every value of an object in the indexes of `wanted`, and in the how manieth index it has it; duplicates
 * included. The bytes are lent for the duration of the call. A non-zero result of each stops and is returned;
 * else 0, or -EBADMSG.
 */
int index_plan_each(struct index_plan *plan, struct value body, index_mask wanted,
		    int (*each)(unsigned index, const char *data, size_t length, void *context),
		    void *context);

#endif
