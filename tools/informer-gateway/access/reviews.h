/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews: builds the two review documents and parses the API server's answers. TokenReview
 * (authentication.k8s.io/v1) asks whose a bearer token is. SubjectAccessReview (authorization.k8s.io/v1) asks
 * whether a user may make a request. Selectors are sent as the client wrote them. A server without
 * AuthorizeWithSelectors ignores them.
 *
 * An answer longer than GW_REVIEW_ANSWER_MAX is invalid. So is an answer with a NUL inside a text: as a C
 * string it would be another user's name.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H

#include "tools/informer-gateway/access/identity.h"
#include "tools/informer-gateway/http/request_form.h"

#define GW_TOKEN_REVIEW_PATH "/apis/authentication.k8s.io/v1/tokenreviews"
#define GW_ACCESS_REVIEW_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define GW_REVIEW_ANSWER_MAX 262144 /* bytes */

/*
 * Returns the TokenReview to post, allocated. It holds the token: wipe it with file_wipe() once it is sent.
 *
 * audiences  the token must be meant for one of these; none: for the API server itself
 */
char *gw_token_review_document(const char *token, const struct gw_texts *audiences);
char *gw_access_review_document(const struct gw_identity *identity, const struct gw_attributes *attributes);

/*
 * Parse the answer to a TokenReview (HTTP 200 or 201).
 *
 * audiences     those in the review
 * ret_identity  on success only: one reference, not sealed
 * Returns       0
 *               -EACCES  the token is not valid, or is meant for other audiences
 *               -EBADMSG not an answer to a TokenReview; with message
 */
int gw_token_review_answer(const char *body, size_t length, const struct gw_texts *audiences,
			   struct gw_identity **ret_identity, char **ret_error);

/*
 * Parse the answer to a SubjectAccessReview.
 *
 * ret_allowed  true only if the answer says allowed and does not say denied
 * ret_reason   allocated: the API server's reason for a refusal, on one line; "" if none
 * Returns      0, or -EBADMSG with message: not an answer to a SubjectAccessReview
 */
int gw_access_review_answer(const char *body, size_t length, bool *ret_allowed, char **ret_reason,
			    char **ret_error);

/*
 * Returns the expiry that a token states (claim `exp` of a JWT), in seconds since 1970; UINT64_MAX: none that
 * can be read. The claim is not verified here: use it only for a token that a TokenReview accepted.
 */
uint64_t gw_token_expiry(const char *token, size_t length);

#endif
