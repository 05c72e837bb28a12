/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What informer_find() shares with the lookups of what is present (pod.c), and with copies.
 */
#ifndef READER_LIB_READ_FIND_H
#define READER_LIB_READ_FIND_H

#include "reader-lib/informer.h"
#include "shm-layout/value.h"

/*
 * When a deleted object was deleted, by its tombstone in the object's snapshot; 0: that is not, or not any
 * more, known.
 */
uint64_t object_deleted_wall_ns(const struct informer_object *object);

/* A pod that shares the node's addresses. */
bool pod_on_host_network(struct value pod);
/* Of all pods that have an address of their own that is this one, finished or not, the one that came last. */
int pod_newest_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *ip,
		     size_t length, struct informer_object *ret_object);
/* "containerd://x" becomes "x". */
void container_id_strip(const char **id, size_t *length);

#endif
