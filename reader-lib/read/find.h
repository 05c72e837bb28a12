/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What informer_find() shares with pod.c, which finds present objects, and with copies.
 */
#ifndef READER_LIB_READ_FIND_H
#define READER_LIB_READ_FIND_H

#include "reader-lib/informer.h"
#include "shm-layout/value.h"

/* When an object was deleted, from its tombstone in the object's snapshot; 0: not known (any more). */
uint64_t object_deleted_wall_ns(const struct informer_object *object);

/* Whether a pod shares the node's addresses. */
bool pod_on_host_network(struct value pod);
/* The newest pod that has this address as its own, finished pods included. As informer_pod_by_ip(). */
int pod_newest_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *ip,
		     size_t length, struct informer_object *ret_object);
/* Cut the scheme off an id: "containerd://x" becomes "x". */
void container_id_strip(const char **id, size_t *length);

/*
 * Visit the deleted pods that had a container whose ID begins so, in no order. The prefix is at least as long
 * as that of the index (index_def.h): informer_by_index_prefix() has accepted it.
 *
 * Returns 0; the first non-zero result of each(); or negative, as informer_find()
 */
int deleted_each_of_container_prefix(const struct informer_snapshot *snapshot, struct informer_resource *pods,
				     const char *prefix, size_t length,
				     int (*each)(void *context, const struct informer_object *object),
				     void *context);

#endif
