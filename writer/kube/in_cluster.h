/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the service account that the kubelet mounts into a pod.
 *
 * Source: client-go rest.InClusterConfig(): variables, paths; without a CA the system's bundle is used
 */
#ifndef WRITER_KUBE_IN_CLUSTER_H
#define WRITER_KUBE_IN_CLUSTER_H

#include "writer/kube/client_config.h"

/*
 * host, port  KUBERNETES_SERVICE_HOST and _PORT; port may be NULL
 * root        "" normally; tests name a folder that stands for /
 * config      zeroed by the caller; the caller owns what was filled in, on failure too
 * Returns     0; a negative errno with message (-ENOENT: no token); -ENOMEM
 */
int in_cluster_read(const char *host, const char *port, const char *root, struct kube_client_config *config,
		    char **ret_error);

#endif
