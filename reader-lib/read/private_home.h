/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private homes: stand in for a snapshot, for objects in this process's own memory.
 *
 * Every object and value asks its snapshot whether it may be read. A private home always allows reading: its
 * objects never expire, need no verification, and are readable in a forked child. A private home has no
 * resources, so lookups in it return -EINVAL. informer_end() does nothing to it.
 */
#ifndef READER_LIB_READ_PRIVATE_HOME_H
#define READER_LIB_READ_PRIVATE_HOME_H

#include "reader-lib/attach/snapshot.h"

/*
 * snapshot         comes first, because objects point at it. Its view covers memory that this process wrote
 * deleted_wall_ns  when the object here was deleted (CLOCK_REALTIME); 0: not known
 */
struct private_home {
	struct snapshot snapshot;
	uint64_t deleted_wall_ns;
};

/* Fill a home. base, bytes: the memory from which refs count; NULL and 0: none. */
void private_home_set(struct private_home *home, const void *base, uint64_t bytes);

/* Whether a snapshot is a private home. */
bool is_private_home(const struct snapshot *s);

static inline const struct private_home *
private_home_of(const struct snapshot *s)
{
	return (const struct private_home *)(const void *)s;
}

#endif
