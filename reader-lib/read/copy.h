/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of objects. A copy is one piece of private memory: a small arena with its own private home
 * (private_home.h). Every function on objects and values works in a copy as in the daemon's arena.
 *
 *   +-------------+----------------------------+-----------------+
 *   | struct copy | names and shapes, once each | the object      |
 *   +-------------+----------------------------+-----------------+
 *
 * Values that objects share in the daemon's arena stand in the copied body itself. A copied shape keeps the
 * tag of its source, a hash of the names (value_memo). So a compiled path that knows the source's shape knows
 * the copy's.
 *
 * The source is input. A damaged source gives INFORMER_E_CORRUPT, or a copy that is equally wrong.
 *
 * Threads  a copy is immutable
 * Owner    the caller: a copy outlives snapshot and handle, and a forked child may read and free its own
 */
#ifndef READER_LIB_READ_COPY_H
#define READER_LIB_READ_COPY_H

#include "reader-lib/read/path_set.h"
#include "reader-lib/read/private_home.h"

/* loan: the allocator of the copy, and its link in a snapshot's list if the snapshot owns the copy. */
struct copy {
	struct snapshot_loan loan;
	struct private_home home;
};

/*
 * Copy what a set wants (NULL: all) of an object. Free the copy with informer_object_free().
 *
 * ret_copy  may be the object itself
 * Returns   as informer_object_copy()
 */
int object_copy_filtered(struct informer *inf, const struct informer_object *object,
			 const struct path_set *set, struct informer_object *ret_copy);

/*
 * As object_copy_filtered(), but the object's snapshot owns the copy and frees it at its end.
 * informer_object_free() does nothing to such a copy. -EINVAL: the object has no snapshot.
 */
int object_copy_lent(struct informer *inf, const struct informer_object *object, const struct path_set *set,
		     struct informer_object *ret_copy);

#endif
