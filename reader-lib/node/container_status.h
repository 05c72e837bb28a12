/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a container by its ID in a Pod's status.
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

#endif
