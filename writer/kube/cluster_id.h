/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster id tells which cluster answers at the server's URL. Kubernetes gives a cluster no name. The
 * customary id is the UID of the namespace kube-system, which lives as long as the cluster's etcd. It is read
 * at RV 0, which the API server answers from memory.
 *
 * Right: get on the namespace kube-system; without it the id is hidden.
 */
#ifndef WRITER_KUBE_CLUSTER_ID_H
#define WRITER_KUBE_CLUSTER_ID_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#define CLUSTER_ID_PATH "/api/v1/namespaces/kube-system?resourceVersion=0"
#define CLUSTER_ID_WHAT "namespace kube-system"
#define CLUSTER_ID_MAX 63

/* Put the namespace's id into id. False: it has none. */
bool cluster_id_of(const cJSON *namespace_, char id[static CLUSTER_ID_MAX + 1]);

#endif
