/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleted object: what a GET by name is answered with for a while after its object is gone, for log agents
 * whose lines come later than the pod's end (`--deleted-for`). LIST and WATCH never have it.
 *
 * Threads   the snapshot's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_DELETED_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_ARENA_DELETED_OBJECT_H

#include "reader-lib/informer.h"

/*
 * The last state of what was deleted, at most so long ago.
 *
 * namespace_  NULL: it has none
 * within_ns   how long ago; now_ns: CLOCK_REALTIME
 * Returns     0; INFORMER_E_NOT_FOUND: none was, or too long ago, or there is an object of that name; what
 *             informer_find() returns otherwise
 */
int gw_deleted_object(const struct informer_snapshot *snapshot, struct informer_resource *resource,
		      const char *namespace_, const char *name, uint64_t within_ns, uint64_t now_ns,
		      struct informer_object *ret_object);

#endif
