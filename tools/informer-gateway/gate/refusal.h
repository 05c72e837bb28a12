/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals: the Status documents of what may not be, in the words of k8s.io/apiserver. They come before
 * anybody has looked whether what was asked for exists.
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_REFUSAL_H
#define TOOLS_INFORMER_GATEWAY_GATE_REFUSAL_H

#include "tools/informer-gateway/access/decision_memo.h"
#include "tools/serving/status_document.h"

/* 401; 429 and 503, to be tried again in a second. */
void gw_refuse(struct api_status *status, enum gw_outcome outcome);
/*
 * 403: `pods "x" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "y"`, and
 * the reason behind that, if there is one. The status borrows from the attributes.
 */
void gw_refuse_forbidden(struct api_status *status, const struct gw_attributes *attributes, const char *user,
			 const char *reason);

#endif
