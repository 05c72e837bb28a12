/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews: the two questions to the API server, and its answers. TokenReview (authentication.k8s.io/v1):
 * whose is a bearer token? SubjectAccessReview (authorization.k8s.io/v1): may somebody do what he asks?
 * Selectors go as they were asked; the API server reads them by its own grammar (AuthorizeWithSelectors), one
 * that does not know of them decides without.
 *
 * An answer longer than GW_REVIEW_ANSWER_MAX is none; neither is one with a NUL in a text, which would end
 * there for us, and be another's name.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H

#include "tools/informer-gateway/access/identity.h"
#include "tools/informer-gateway/http/request_form.h"

#define GW_TOKEN_REVIEW_PATH "/apis/authentication.k8s.io/v1/tokenreviews"
#define GW_ACCESS_REVIEW_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define GW_REVIEW_ANSWER_MAX 262144 /* bytes */

/*
 * The document to post, allocated. It holds the token: wipe it (file_wipe()) when it is sent.
 *
 * audiences  for which the token must be; none: for the API server itself
 */
char *gw_token_review_document(const char *token, const struct gw_texts *audiences);
char *gw_access_review_document(const struct gw_identity *identity, const struct gw_attributes *attributes);

/*
 * What the API server answered, with code 200 or 201, whose a token is.
 *
 * audiences     those that were asked for
 * ret_identity  on success alone, one reference, not sealed
 * Returns       0
 *               -EACCES  it is nobody's token, or for others than these
 *               -EBADMSG it is no answer to that question; with message
 */
int gw_token_review_answer(const char *body, size_t length, const struct gw_texts *audiences,
			   struct gw_identity **ret_identity, char **ret_error);

/*
 * The same, whether somebody may.
 *
 * ret_allowed  only what says allowed, and not denied, is true
 * ret_reason   allocated: why not, in the API server's words, on one line; "" without
 * Returns      0, or -EBADMSG with message: it is no answer to that question
 */
int gw_access_review_answer(const char *body, size_t length, bool *ret_allowed, char **ret_reason,
			    char **ret_error);

/*
 * When a token ends by what it says itself (the claim `exp` of a JWT), in seconds since 1970; UINT64_MAX
 * where it says nothing that can be read. Nothing proves that claim but a TokenReview that accepted the
 * token.
 */
uint64_t gw_token_expiry(const char *token, size_t length);

#endif
