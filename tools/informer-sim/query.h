/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of LIST, WATCH and deletecollection, checked as the real server
 * checks them: meta/v1 ListOptions.
 */
#ifndef TOOLS_INFORMER_SIM_QUERY_H
#define TOOLS_INFORMER_SIM_QUERY_H

#include "tools/informer-sim/request.h"
#include "tools/informer-sim/selector.h"

enum sim_match { SIM_MATCH_UNSET, SIM_MATCH_EXACT, SIM_MATCH_NOT_OLDER };

struct sim_query {
	struct sim_selector *labels; /* NULL: all */
	struct sim_selector *fields;
	bool watch;
	bool bookmarks;
	bool initial;  /* sendInitialEvents=true */
	bool rv_given; /* resourceVersion is there and not empty */
	uint64_t rv;
	enum sim_match match;
	uint64_t limit; /* 0: none */
	unsigned timeout; /* seconds, 0: not given */
	const char *next_token; /* continue, or NULL */
};

/* Returns 0, or -EINVAL with request->status set. */
int
sim_query_parse(struct sim_request *request, struct sim_query *ret_query);
/* Cleanup function. */
void
sim_query_done(struct sim_query *query);
bool
sim_query_matches(const struct sim_query *query, const struct sim_object *object);

/*
 * Wait for a resourceVersion that is not reached yet, as the watch cache does: options.await_ms (3 s).
 * Returns 0, or -EINVAL with the status "Too large resource version".
 */
int
sim_query_await(struct sim_request *request, uint64_t rv);

#endif
