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
 * What it finds is what index_def_each() finds of each index, in another order.
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

/*
 * Every value of an object, and in the how manieth index it has it; duplicates included. The bytes are lent
 * for the duration of the call. A non-zero result of each stops and is returned; else 0, or -EBADMSG.
 */
int index_plan_each(struct index_plan *plan, struct value body,
		    int (*each)(unsigned index, const char *data, size_t length, void *context),
		    void *context);

#endif
