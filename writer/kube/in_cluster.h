/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-cluster: the service account that the kubelet mounts into a pod.
 *
 * Source    client-go rest.InClusterConfig(): variables, paths, a missing CA is the system's bundle
 */
#ifndef WRITER_KUBE_IN_CLUSTER_H
#define WRITER_KUBE_IN_CLUSTER_H

#include "writer/kube/client_config.h"

/*
 * host, port  KUBERNETES_SERVICE_HOST and _PORT; port may be NULL
 * root        "" normally; in tests a folder that stands for / of the account's files
 * config      zeroed; what was filled in is the caller's on failure, too
 * Returns     0, or a negative errno with message (no token: -ENOENT), -ENOMEM
 */
int in_cluster_read(const char *host, const char *port, const char *root, struct kube_client_config *config,
		    char **ret_error);

#endif
