/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The continue token of a paged LIST: base64url, without padding, of
 *
 *   {"v":"meta.k8s.io/v1","rv":9,"start":"/default/web-0\u0000"}
 *
 * start is the key behind which the next page begins, relative to the list's
 * namespace; rv -1 means "go on with whatever is there now".
 */
#ifndef TOOLS_SERVING_PAGE_H
#define TOOLS_SERVING_PAGE_H

#include <stdint.h>

#include "tools/serving/api_request.h"

struct api_page {
	char *start; /* full key */
	bool after;  /* begin behind start, not with it */
	int64_t rv;
};

/* Read a token. Returns 0, or -EINVAL with request->status. */
int api_page_decode(struct api_request *request, const char *token, struct api_page *ret_page);
/* Append the token for the page behind `last`; slash: start with one, as storage does. */
void api_page_encode(int64_t rv, const char *last, bool slash, struct api_buf *buf);
/* 410 with a token that goes on inconsistently. Returns -EINVAL. */
int api_page_expired(struct api_request *request, const struct api_page *page);
/* Cleanup function. */
void api_page_done(struct api_page *page);

#endif
