/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replica: turns a pod into another pod of the same workload, with its own name, UID, addresses, container
 * ids, node and times. What real replicas share (labels, owner, containers, volumes, ...) stays equal.
 */
#ifndef TOOLS_INFORMER_SIM_REPLICA_H
#define TOOLS_INFORMER_SIM_REPLICA_H

#include "tools/serving/doc.h"
#include "tools/informer-sim/rng.h"

struct sim_host {
	char name[64];
	char ip[16];
};

/* The nodes for pods. */
struct sim_hosts {
	struct sim_host *items;
	unsigned count;
};

/* Generate `count` hosts; up to 60,000 have different names and addresses. */
void
sim_hosts_init(struct sim_hosts *hosts, unsigned count, struct sim_rng *rng);
void
sim_hosts_done(struct sim_hosts *hosts);

/* An address from the pods' network. */
void
sim_pod_ip(struct sim_rng *rng, char out[16]);

/* Turn a pod's document into a replica. All times move back by the same amount, 0 to 30 days. */
void
sim_replica_make(struct api_doc *pod, const struct sim_hosts *hosts, struct sim_rng *rng);

#endif
