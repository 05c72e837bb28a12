/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path sets: which parts of an object are wanted. A set has paths to keep, and paths to drop from these. The
 * syntax is that of the daemon's `drop:` (shm-layout/path.h; [*] is allowed, single elements are not).
 *
 * Always kept: apiVersion, kind, metadata.name, .namespace, .uid and .resourceVersion. Objects and arrays on
 * the way to a kept path stay, even if nothing in them is kept.
 */
#ifndef READER_LIB_READ_PATH_SET_H
#define READER_LIB_READ_PATH_SET_H

#include "reader-lib/informer.h"

#define PATH_SET_MAX 64u /* of either kind: a place in a set has a bit for each path that leads through it   \
			  */

struct path_set;

/*
 * Compile a path set. Free it with path_set_free().
 *
 * keep, drop  n_keep and n_drop terminated texts, borrowed for the call; n_keep 0: keep everything
 * Returns     0; INFORMER_E_SYNTAX (informer_error_text() names path and byte); -E2BIG: more than
 *             PATH_SET_MAX of a kind; -ENOMEM; -EINVAL
 */
int path_set_compile(struct informer *inf, const char *const *keep, size_t n_keep, const char *const *drop,
		     size_t n_drop, struct path_set **ret_set);
void path_set_free(struct informer *inf, struct path_set *set); /* NULL is allowed */

/*
 * A place in an object, as a set sees it.
 *
 * keep, drop  one bit for each path that leads through the place
 * depth       steps from the object to the place
 * whole       the place is kept, with everything below it that is not dropped
 * must        what is kept at or below this place whatever the paths say
 */
struct path_place {
	uint64_t keep;
	uint64_t drop;
	unsigned depth;
	bool whole;
	enum { MUST_NOTHING, MUST_OF_OBJECT, MUST_OF_METADATA } must;
};

struct path_place path_set_start(const struct path_set *set);

/*
 * Step from a place to a field or (name NULL) to an element.
 * Returns whether any of it is wanted. A scalar has nothing below it: it is wanted only if ret_child->whole.
 */
bool path_set_enter(const struct path_set *set, const struct path_place *place, const char *name,
		    size_t length, struct path_place *ret_child);

/* Whether everything at and below a place is wanted. */
static inline bool
path_place_all(const struct path_place *place)
{
	return place->whole && place->drop == 0;
}

#endif
