/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to objects in a living cluster, as edits of their documents: a
 * container restarts, a pod becomes ready or starts, a node sends its heartbeat.
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

/* The hosts of the Node objects that are there; made-up ones if there are none. */
void sim_mutate_hosts(struct sim_store *store, const struct api_resource *nodes, struct sim_hosts *ret_hosts,
		      struct sim_rng *rng);

/*
 * The three updates return whether there was anything to change.
 *
 * pod    a Pending pod starts, a running one turns ready or not, or restarts a container
 * node   its heartbeat
 * slice  an endpoint turns ready, or not
 */
bool
sim_mutate_pod(struct api_doc *pod, struct sim_mutation *mutation);
bool
sim_mutate_node(struct api_doc *node, struct sim_mutation *mutation);
bool
sim_mutate_slice(struct api_doc *slice, struct sim_mutation *mutation);
/* A replica becomes a pod that was just created: Pending, without addresses. */
void
sim_mutate_fresh(struct api_doc *pod, struct sim_mutation *mutation);
/* Give it a deletionTimestamp. Returns false if it has one. */
bool
sim_mutate_terminating(struct api_doc *pod, struct sim_mutation *mutation);

#endif
