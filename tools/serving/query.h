/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of LIST, WATCH and deletecollection, checked as the real server
 * checks them: meta/v1 ListOptions.
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
	bool from_now; /* sendInitialEvents=false, and no RV: a watch that begins with the next change */
	bool rv_given; /* resourceVersion is there and not empty */
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
 * The RV that must be reached before the query is answered; 0: none. Who has not reached it waits, as the
 * watch cache does (3 s), and then says so: api_status_too_large_rv().
 */
uint64_t api_query_least_rv(const struct api_query *query);

#endif
