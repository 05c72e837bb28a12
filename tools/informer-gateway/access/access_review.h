/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SubjectAccessReview (authorization.k8s.io/v1): the question to the API server whether somebody may do what
 * he asks, and its answer. Selectors go as they were asked; the API server reads them by its own grammar
 * (AuthorizeWithSelectors), one that does not know of them decides without.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_REVIEW_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_REVIEW_H

#include "tools/informer-gateway/access/identity.h"

#define GW_ACCESS_REVIEW_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"

/* The document to post: allocated; NULL without memory. */
char *gw_access_review_document(const struct gw_identity *identity, const struct gw_attributes *attributes);

/*
 * What the API server answered, with code 200 or 201.
 *
 * ret_allowed  only what says allowed, and not denied, is true
 * ret_reason   allocated: why not, in the API server's words, on one line; "" without. NULL without memory
 * Returns      0, or -EBADMSG with message: it is no answer to that question
 */
int gw_access_review_answer(const char *body, size_t length, bool *ret_allowed, char **ret_reason,
			    char **ret_error);

#endif
