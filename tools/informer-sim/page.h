/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The continue token of a paged LIST: base64url, without padding, of
 *
 *   {"v":"meta.k8s.io/v1","rv":9,"start":"/default/web-0\u0000"}
 *
 * start is the key behind which the next page begins, relative to the list's
 * namespace; rv -1 means "go on with whatever is there now".
 */
#ifndef TOOLS_INFORMER_SIM_PAGE_H
#define TOOLS_INFORMER_SIM_PAGE_H

#include <stdint.h>

#include "tools/informer-sim/request.h"

struct sim_page {
	char *start; /* full key */
	bool after;  /* begin behind start, not with it */
	int64_t rv;
};

/* Read a token. Returns 0, or -EINVAL with request->status. */
int
sim_page_decode(struct sim_request *request, const char *token, struct sim_page *ret_page);
/* Append the token for the page behind `last`; slash: start with one, as storage does. */
void
sim_page_encode(int64_t rv, const char *last, bool slash, struct sim_buf *buf);
/* 410 with a token that goes on inconsistently. Returns -EINVAL. */
int
sim_page_expired(struct sim_request *request, const struct sim_page *page);
/* Cleanup function. */
void
sim_page_done(struct sim_page *page);

#endif
