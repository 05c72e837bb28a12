/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster: generates nodes, namespaces, workloads with their owners, pods, services and endpoints, with the
 * sizes and the variety of real ones.
 */
#ifndef TOOLS_INFORMER_SIM_CLUSTER_H
#define TOOLS_INFORMER_SIM_CLUSTER_H

#include "tools/informer-sim/replica.h"
#include "tools/informer-sim/object_store.h"

/* Generate hosts->count nodes with pods_per_node pods each, and the objects that belong to them. */
void sim_cluster_generate(struct api_registry *registry, struct sim_store *store,
			  const struct sim_hosts *hosts, unsigned pods_per_node, int64_t now,
			  struct sim_rng *rng);

/* Add the Namespace and Node objects that stored objects refer to and that were not loaded. */
void sim_cluster_complete(struct api_registry *registry, struct sim_store *store, int64_t now,
			  struct sim_rng *rng);

#endif
