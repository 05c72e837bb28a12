/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleted object: answers a GET by name for some time after its object was deleted (`--deleted-for`). It is
 * for log agents that read a pod's last lines after the pod's end. LIST and WATCH never return it.
 *
 * Threads   the snapshot's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_DELETED_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_ARENA_DELETED_OBJECT_H

#include "reader-lib/informer.h"

/*
 * Find the last state of an object that was deleted at most within_ns ago.
 *
 * namespace_  NULL: cluster-wide
 * now_ns      CLOCK_REALTIME
 * Returns     0; INFORMER_E_NOT_FOUND: no such deletion, too old, or the object exists again; other errors of
 *             informer_find()
 */
int gw_deleted_object(const struct informer_snapshot *snapshot, struct informer_resource *resource,
		      const char *namespace_, const char *name, uint64_t within_ns, uint64_t now_ns,
		      struct informer_object *ret_object);

#endif
