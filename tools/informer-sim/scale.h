/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .../scale of Deployments, ReplicaSets, StatefulSets and ReplicationControllers, and of custom resources
 * whose definition says so: a Scale of autoscaling/v1, which stands for spec.replicas, or for what
 * specReplicasPath names.
 */
#ifndef TOOLS_INFORMER_SIM_SCALE_H
#define TOOLS_INFORMER_SIM_SCALE_H

#include "tools/informer-sim/request.h"

bool
sim_is_scale(const struct sim_request *request);
/*
 * Make the object's document the one of its scale. Returns 0, or -EINVAL with the status: a custom object
 * that does not say how many replicas it wants has none.
 */
int
sim_scale_of(struct sim_request *request, struct api_doc *doc);
/*
 * Make the document of a changed Scale the one of the object, with its replicas. Returns 0, or -EINVAL with
 * the status.
 */
int
sim_scale_apply(struct sim_request *request, const struct api_object *object, struct api_doc *doc);
/* Answer with the object's scale. */
enum MHD_Result
sim_scale_reply(struct sim_request *request, const struct api_object *object);

#endif
