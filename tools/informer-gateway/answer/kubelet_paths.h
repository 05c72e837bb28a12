/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet paths: answers the paths under which agents read the kubelet's pods.
 *
 *	GET /pods         becomes the LIST of the node's pods: /api/v1/pods?fieldSelector=spec.nodeName=NODE.
 *	                  Parameters and Accept of the client are ignored: the kubelet ignores them
 *	GET /runningpods  501: the kubelet asks its container runtime here, and the arena does not have that
 *	other methods     405
 *
 * A slash may follow. The list has the kubelet's form: JSON, and metadata without a resourceVersion.
 *
 * Source    k8s.io/kubernetes/pkg/kubelet/server (getPods, encodePods)
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_KUBELET_PATHS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_KUBELET_PATHS_H

#include <stdbool.h>

struct gw_exchange;

/*
 * Handle the request if its path is one of these. x->route is set, and the path is not parsed yet.
 *
 * Returns  true   the request is refused
 *          false  route it: GET /pods is now a LIST and has x->node; other requests are unchanged
 */
bool gw_kubelet_path(struct gw_exchange *x);

#endif
