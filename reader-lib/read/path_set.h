/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of an object are wanted: paths to keep, and paths to drop from that. The daemon's `drop:` as a
 * reader's choice, with the same syntax (shm-layout/path.h; [*] allowed, single elements not).
 *
 * Kept whatever the paths say: apiVersion, kind, metadata.name, .namespace, .uid and .resourceVersion, for an
 * object without them is none. Objects and arrays on the way to a path that is kept stay, with what is kept
 * of them, which may be nothing.
 */
#ifndef READER_LIB_READ_PATH_SET_H
#define READER_LIB_READ_PATH_SET_H

#include "reader-lib/informer.h"

#define PATH_SET_MAX 64u /* of either kind: a place in a set has a bit for each path that leads through it   \
			  */

struct path_set;

/*
 * keep, drop  n_keep and n_drop texts, copied; n_keep 0: keep everything
 * Returns     0; INFORMER_E_SYNTAX (informer_error_text() names the path and the byte); -E2BIG: too many;
 *             -ENOMEM; -EINVAL
 */
int path_set_compile(struct informer *inf, const char *const *keep, size_t n_keep, const char *const *drop,
		     size_t n_drop, struct path_set **ret_set);
void path_set_free(struct informer *inf, struct path_set *set);	/* NULL is fine */

/*
 * A place in an object, as seen by a set: which paths lead through it.
 *
 * whole  it is kept, with everything below that is not dropped
 * must   what stands here or below it is kept in any case
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
 * Go on to a field, or (name NULL) to an element.
 * Returns whether something of it is wanted. Of a scalar, which has nothing below it, only when
 * ret_child->whole.
 */
bool path_set_enter(const struct path_set *set, const struct path_place *place, const char *name,
		    size_t length, struct path_place *ret_child);

/* Everything from here on is wanted. */
static inline bool
path_place_all(const struct path_place *place)
{
	return place->whole && place->drop == 0;
}

#endif
