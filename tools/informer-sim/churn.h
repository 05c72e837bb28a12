/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Churn: a thread that changes objects at a given rate, as a live cluster does. Most changes are status
 * updates of pods. Pods are created (as a replica of an existing pod, Pending, then Running) and deleted
 * (first with a deletionTimestamp). The rest are heartbeats of nodes, and endpoints that become ready or not.
 */
#ifndef TOOLS_INFORMER_SIM_CHURN_H
#define TOOLS_INFORMER_SIM_CHURN_H

#include "tools/informer-sim/object_store.h"

struct sim_churn;

struct sim_churn_stats {
	double rate;        /* requested changes per second; 0: stopped */
	uint64_t done;      /* since the start of the process */
	uint64_t remaining; /* of a counted run; 0: done, or unlimited */
	bool running;
};

struct sim_churn *
sim_churn_new(const struct api_registry *registry, struct sim_store *store, uint64_t seed);
/* Stops it first. NULL is fine. */
void
sim_churn_free(struct sim_churn *churn);
/* Change `rate` objects per second; count 0: no limit. rate 0 stops. Replaces the previous run. */
void
sim_churn_set(struct sim_churn *churn, double rate, uint64_t count);
struct sim_churn_stats
sim_churn_stats(struct sim_churn *churn);

#endif
