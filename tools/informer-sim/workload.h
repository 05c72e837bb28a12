/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workload: one generated Deployment, DaemonSet, StatefulSet or Job, and the texts of its objects.
 *
 * What all of a workload's pods share is drawn from the workload's own seed. So it is equal in each pod, as
 * with a real pod template.
 */
#ifndef TOOLS_INFORMER_SIM_WORKLOAD_H
#define TOOLS_INFORMER_SIM_WORKLOAD_H

#include "tools/informer-sim/replica.h"

enum sim_workload_kind { SIM_DEPLOYMENT, SIM_DAEMON_SET, SIM_STATEFUL_SET, SIM_JOB };

struct sim_workload {
	enum sim_workload_kind kind;
	char namespace_[48];
	char name[64];
	char image[160];
	unsigned containers;
	unsigned init_containers;
	unsigned envs; /* of the first container; the others have fewer */
	bool host_network;
	const char *priority_class; /* or NULL */
	unsigned replicas;
	uint64_t seed;

	char uid[SIM_UID_SIZE];
	char hash[11];              /* pod-template-hash of a Deployment's ReplicaSet */
	char set_uid[SIM_UID_SIZE]; /* the ReplicaSet's */
	int64_t created;
};

enum sim_pod_state {
	SIM_POD_RUNNING,
	SIM_POD_UNREADY,
	SIM_POD_CRASHING,
	SIM_POD_PENDING, /* not scheduled */
	SIM_POD_STARTING,
	SIM_POD_INIT,
	SIM_POD_TERMINATING,
	SIM_POD_COMPLETED,
	SIM_POD_FAILED,
};

struct sim_pod {
	char name[128];
	char ip[16];
	const struct sim_host *host;
	unsigned ordinal;
	enum sim_pod_state state;
	int64_t created;
};

/* Fill name, address, state and time of a workload's pod on a host. */
void sim_workload_pod(const struct sim_workload *w, unsigned ordinal, const struct sim_host *host,
		      int64_t now, struct sim_rng *rng, struct sim_pod *ret_pod);
/* Append the pod's JSON. */
void sim_workload_pod_text(const struct sim_workload *w, const struct sim_pod *pod, struct sim_rng *rng,
			   struct api_buf *buf);
/* Append the JSON of the Deployment, DaemonSet, StatefulSet or Job; ready: how many of its pods are. */
void
sim_workload_text(const struct sim_workload *w, unsigned ready, struct api_buf *buf);
/* Append the JSON of a Deployment's ReplicaSet. */
void
sim_workload_set_text(const struct sim_workload *w, unsigned ready, struct api_buf *buf);

/* Append "containers", "initContainers" and "volumes" as members, for a template (no node) or a pod. */
void
sim_workload_spec_text(const struct sim_workload *w, bool pod, struct api_buf *buf);
/* Append the labels that the selector selects, as members. */
void
sim_workload_labels_text(const struct sim_workload *w, struct api_buf *buf);

#endif
