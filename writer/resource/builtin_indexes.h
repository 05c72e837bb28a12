/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indexes that every cache has, without being asked.
 *
 *	every resource   namespace    the object's namespace
 *	                 uid          metadata.uid; of pods also the annotation kubernetes.io/config.mirror
 *	                              (log paths of static pods carry that one)
 *	                 owner        metadata.ownerReferences[*].uid
 *	                 labels       each label as key=value
 *	pods             nodeName     spec.nodeName
 *	                 podIP        status.podIPs[*].ip
 *	                 containerID  of containers, init and ephemeral ones, without "containerd://"
 */
#ifndef WRITER_RESOURCE_BUILTIN_INDEXES_H
#define WRITER_RESOURCE_BUILTIN_INDEXES_H

#include <cjson/cJSON.h>

#include "writer/kube/resource_name.h"

/*
 * Append the definitions (shm-layout/index_def.h) for this resource to a JSON array. The order is part of the
 * descriptor, and so of what adoption compares.
 *
 * Returns 0 or -ENOMEM
 */
int builtin_indexes_append(const struct kube_resource *resource, cJSON *indexes);

#endif
