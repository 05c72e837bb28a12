/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster that lives: a thread that changes objects at a given rate. Most
 * changes are pods' status updates; pods come (as another replica of one that
 * is there, Pending, then Running) and go (first with a deletionTimestamp), and
 * some are heartbeats of nodes and endpoints that turn ready or not.
 */
#ifndef TOOLS_INFORMER_SIM_CHURN_H
#define TOOLS_INFORMER_SIM_CHURN_H

#include "tools/informer-sim/object_store.h"

struct sim_churn;

struct sim_churn_stats {
	double rate;        /* changes a second asked for; 0: stopped */
	uint64_t done;      /* since the start of the process */
	uint64_t remaining; /* of a counted run; 0 when it is over, or endless */
	bool running;
};

struct sim_churn *
sim_churn_new(const struct api_registry *registry, struct sim_store *store, uint64_t seed);
/* Stops it first. NULL is fine. */
void
sim_churn_free(struct sim_churn *churn);
/* Change at `rate` a second; count 0: until told otherwise. rate 0 stops. Replaces what ran before. */
void
sim_churn_set(struct sim_churn *churn, double rate, uint64_t count);
struct sim_churn_stats
sim_churn_stats(struct sim_churn *churn);

#endif
