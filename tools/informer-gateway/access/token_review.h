/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TokenReview (authentication.k8s.io/v1): the question to the API server whose a bearer token is, and its
 * answer.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_TOKEN_REVIEW_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_TOKEN_REVIEW_H

#include "tools/informer-gateway/access/identity.h"
#include "tools/informer-gateway/http/request_form.h"

#define GW_TOKEN_REVIEW_PATH "/apis/authentication.k8s.io/v1/tokenreviews"

/*
 * The document to post. It holds the token: wipe it (file_wipe()) when it is sent.
 *
 * audiences  for which the token must be; none: for the API server itself
 * Returns    an allocated string, NULL without memory
 */
char *gw_token_review_document(const char *token, const struct gw_texts *audiences);

/*
 * What the API server answered, with code 200 or 201.
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
 * When a token ends by what it says itself (the claim `exp` of a JWT), in seconds since 1970; UINT64_MAX
 * where it says nothing that can be read. Nothing proves that claim but a TokenReview that accepted the
 * token.
 */
uint64_t gw_token_expiry(const char *token, size_t length);

#endif
