/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a container by its ID in a Pod's status, and IDs by their beginning.
 */
#ifndef READER_LIB_NODE_CONTAINER_STATUS_H
#define READER_LIB_NODE_CONTAINER_STATUS_H

#include "reader-lib/informer-node.h"
#include "shm-layout/value.h"

/*
 * Set the fields of c from its kind on, by c->id. Without such a container c->kind is UNKNOWN.
 *
 * Cost  a walk over the container statuses; a second one, over their last states, if no status has the ID
 */
void container_status_find(struct value pod, struct informer_container *c);

/*
 * Different container IDs, without schemes, that begin with a prefix.
 *
 * count  0, 1, or 2: two or more, of which ids has the first two
 */
struct container_ids {
	const char *prefix;
	size_t length;
	unsigned count;
	char ids[2][INFORMER_CONTAINER_ID_MAX + 1];
};

/* Add a Pod's container IDs that begin so; last runs do not count. */
void container_status_collect(struct value pod, struct container_ids *ids);

#endif
