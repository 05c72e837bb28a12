/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scale: the subresource .../scale of Deployments, ReplicaSets, StatefulSets and ReplicationControllers, and
 * of custom resources whose definition has one. A Scale of autoscaling/v1 represents spec.replicas, or the
 * field that specReplicasPath names.
 */
#ifndef TOOLS_INFORMER_SIM_SCALE_H
#define TOOLS_INFORMER_SIM_SCALE_H

#include "tools/informer-sim/request.h"

bool
sim_is_scale(const struct sim_request *request);
/*
 * Turn an object's document into its Scale. Returns 0, or -EINVAL with the status: a custom object without a
 * replica count has no Scale.
 */
int
sim_scale_of(struct sim_request *request, struct api_doc *doc);
/*
 * Turn a changed Scale's document into the object's, with the new replicas. Returns 0, or -EINVAL with the
 * status.
 */
int
sim_scale_apply(struct sim_request *request, const struct api_object *object, struct api_doc *doc);
/* Answer with the object's scale. */
enum MHD_Result
sim_scale_reply(struct sim_request *request, const struct api_object *object);

#endif
