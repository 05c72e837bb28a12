/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutate: edits documents as a live cluster does: a container restarts, a pod starts or becomes ready, a node
 * sends its heartbeat.
 */
#ifndef TOOLS_INFORMER_SIM_MUTATE_H
#define TOOLS_INFORMER_SIM_MUTATE_H

#include "tools/informer-sim/replica.h"
#include "tools/informer-sim/object_store.h"

struct sim_mutation {
	struct sim_rng *rng;
	const struct sim_hosts *hosts;
	int64_t now;
};

/* The hosts of the stored Node objects; generated hosts if there are none. */
void sim_mutate_hosts(struct sim_store *store, const struct api_resource *nodes, struct sim_hosts *ret_hosts,
		      struct sim_rng *rng);

/*
 * The three updates return whether anything changed.
 *
 * pod    a Pending pod starts; a running one becomes ready or not, or restarts a container
 * node   a heartbeat
 * slice  an endpoint becomes ready or not
 */
bool
sim_mutate_pod(struct api_doc *pod, struct sim_mutation *mutation);
bool
sim_mutate_node(struct api_doc *node, struct sim_mutation *mutation);
bool
sim_mutate_slice(struct api_doc *slice, struct sim_mutation *mutation);
/* Make a replica a new pod: Pending, without addresses. */
void
sim_mutate_fresh(struct api_doc *pod, struct sim_mutation *mutation);
/* Set a deletionTimestamp. Returns false if there is one. */
bool
sim_mutate_terminating(struct api_doc *pod, struct sim_mutation *mutation);

#endif
