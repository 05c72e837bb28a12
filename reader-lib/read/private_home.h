/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private homes: what stands where a snapshot would, for objects that lie in this process's own memory and in
 * no arena.
 *
 * Every object and value finds its snapshot, and asks it whether it may be read. A home answers "always":
 * nothing expires, there is nothing to verify, and a forked child has it as its own, like all private memory.
 * It has no resources: the functions that want to know about those find none, and lookups refuse it
 * (-EINVAL). informer_end() leaves it alone.
 */
#ifndef READER_LIB_READ_PRIVATE_HOME_H
#define READER_LIB_READ_PRIVATE_HOME_H

#include "reader-lib/attach/snapshot.h"

/*
 * snapshot         comes first: what lives here points at it. Its view is of memory that this process has
 *                  written
 * deleted_wall_ns  when an object that lives here was deleted; 0: not known
 */
struct private_home {
	struct snapshot snapshot;
	uint64_t deleted_wall_ns;
};

/* base, bytes: the memory that refs are relative to; NULL and 0: there is none. */
void private_home_set(struct private_home *home, const void *base, uint64_t bytes);

/* Whether a snapshot is one of these. */
bool is_private_home(const struct snapshot *s);

static inline const struct private_home *
private_home_of(const struct snapshot *s)
{
	return (const struct private_home *)(const void *)s;
}

#endif
