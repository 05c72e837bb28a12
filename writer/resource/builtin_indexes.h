/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in indexes, which every cache has without configuration.
 *
 *	every resource   namespace    the object's namespace
 *	                 uid          metadata.uid; of pods also the annotation kubernetes.io/config.mirror
 *	                              (log paths of static pods carry that one)
 *	                 owner        metadata.ownerReferences[*].uid
 *	                 labels       each label as key=value
 *	pods             nodeName     spec.nodeName
 *	                 podIP        status.podIPs[*].ip
 *	                 containerID  of containers, init and ephemeral ones, without "containerd://"; filed
 *	                              under the first 12 bytes
 *	services         address      cluster IPs (also "None"), external and load balancer's IPs
 *	nodes            address      status.addresses[*].address: IPs and names
 *	endpointslices   targetUID    endpoints[*].targetRef.uid: the Pods behind it
 *	                 address      endpoints[*].addresses[*]: IPs, or names
 */
#ifndef WRITER_RESOURCE_BUILTIN_INDEXES_H
#define WRITER_RESOURCE_BUILTIN_INDEXES_H

#include <cjson/cJSON.h>

#include "writer/kube/resource_name.h"

/*
 * Append the definitions (shm-layout/index_def.h) for this resource to a JSON array. Their order is part of
 * the descriptor, which adoption compares.
 *
 * Returns 0 or -ENOMEM
 */
int builtin_indexes_append(const struct kube_resource *resource, cJSON *indexes);

#endif
