/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals: the Status documents for refused requests, in the words of k8s.io/apiserver. They are the same
 * whether the requested object exists or not.
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_REFUSAL_H
#define TOOLS_INFORMER_GATEWAY_GATE_REFUSAL_H

#include "tools/informer-gateway/access/decision_memo.h"
#include "tools/serving/status_document.h"

/* Fill 401, or 429 and 503 with Retry-After 1 s. */
void gw_refuse(struct api_status *status, enum gw_outcome outcome);
/*
 * Fill 403: `pods "x" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace
 * "y"`, followed by the reason if there is one. The status borrows from the attributes.
 */
void gw_refuse_forbidden(struct api_status *status, const struct gw_attributes *attributes, const char *user,
			 const char *reason);
/*
 * Fill 403 for GET /pods in the kubelet's words: `Forbidden (user=u, verb=get, resource=nodes,
 * subresource(s)=[pods proxy])`, followed by the reason if there is one.
 */
void gw_refuse_pods_of_node(struct api_status *status, const char *user, const char *reason);

#endif
