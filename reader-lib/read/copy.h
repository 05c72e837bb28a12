/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of objects, in one piece of private memory each: a little arena with a home of its own
 * (private_home.h), in which every function on objects and values works as in the daemon's.
 *
 *   +-------------+----------------------------+-----------------+
 *   | struct copy | names and shapes, once each | the object      |
 *   +-------------+----------------------------+-----------------+
 *
 * What the daemon shares between objects, and refers to, stands in the copied body itself. Shapes keep the
 * tag of the one they were copied from (as hash of their names, see value_memo), so a compiled path that
 * knows the one knows the other.
 *
 * The source is input: a damaged one gives INFORMER_E_CORRUPT, or a copy that is as wrong.
 *
 * Threads  a copy is immutable. It is nobody's but its holder's: it outlives snapshot and handle, and a
 *          forked child may read and free its own.
 */
#ifndef READER_LIB_READ_COPY_H
#define READER_LIB_READ_COPY_H

#include "reader-lib/read/path_set.h"
#include "reader-lib/read/private_home.h"

/* loan: says whose memory it is, and is in a snapshot's list when the copy goes with it. */
struct copy {
	struct snapshot_loan loan;
	struct private_home home;
};

/*
 * Copy what a set wants of an object (NULL: all). Free it with informer_object_free().
 *
 * ret_copy  may be the object itself
 * Returns   as informer_object_copy()
 */
int object_copy_filtered(struct informer *inf, const struct informer_object *object,
			 const struct path_set *set, struct informer_object *ret_copy);

/*
 * The same as a loan: it is freed with the object's snapshot (informer_object_free() leaves it alone).
 * -EINVAL for one that has none.
 */
int object_copy_lent(struct informer *inf, const struct informer_object *object, const struct path_set *set,
		     struct informer_object *ret_copy);

#endif
