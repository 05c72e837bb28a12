/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continue token of a paged LIST: base64url, without padding, of
 *
 *   {"v":"meta.k8s.io/v1","rv":9,"start":"/default/web-0\u0000"}
 *
 * start is the key after which the next page begins, relative to the list's namespace. rv -1: continue with
 * the current state.
 */
#ifndef TOOLS_SERVING_PAGE_H
#define TOOLS_SERVING_PAGE_H

#include <stdint.h>

#include "tools/serving/api_request.h"

struct api_page {
	char *start; /* full key */
	bool after;  /* begin after start, not at it */
	int64_t rv;
};

/* Read a token. Returns 0, or -EINVAL with request->status. */
int api_page_decode(struct api_request *request, const char *token, struct api_page *ret_page);
/*
 * Append the token for the page after `last`. slash: begin the key with a slash, as upstream's storage does.
 */
void api_page_encode(int64_t rv, const char *last, bool slash, struct api_buf *buf);
/* Fill 410 with a token that continues at the current state. Returns -EINVAL. */
int api_page_expired(struct api_request *request, const struct api_page *page);
/* Cleanup function. */
void api_page_done(struct api_page *page);

#endif
