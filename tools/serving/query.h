/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query: the parameters of LIST, WATCH and deletecollection, checked as the real server checks meta/v1
 * ListOptions.
 */
#ifndef TOOLS_SERVING_QUERY_H
#define TOOLS_SERVING_QUERY_H

#include "tools/serving/api_request.h"
#include "tools/serving/selector.h"

enum api_match { API_MATCH_UNSET, API_MATCH_EXACT, API_MATCH_NOT_OLDER };

struct api_query {
	struct api_selector *labels; /* NULL: all */
	struct api_selector *fields;
	bool watch;
	bool bookmarks;
	bool initial;  /* sendInitialEvents=true */
	bool from_now; /* sendInitialEvents=false without RV: a watch that begins with the next change */
	bool rv_given; /* resourceVersion is present and not empty */
	uint64_t rv;
	enum api_match match;
	uint64_t limit;         /* 0: none */
	unsigned timeout;       /* seconds, 0: not given */
	const char *next_token; /* continue, or NULL */
};

/* Returns 0, or -EINVAL with request->status set. */
int api_query_parse(struct api_request *request, struct api_query *ret_query);
/* Cleanup function. */
void api_query_done(struct api_query *query);
bool api_query_matches(const struct api_query *query, const struct api_object *object);

/*
 * The RV to reach before the query is answered; 0: none. Wait for it up to 3 s, as the watch cache does; then
 * fail with api_status_too_large_rv().
 */
uint64_t api_query_least_rv(const struct api_query *query);

#endif
