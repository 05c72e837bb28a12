/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request on its way from the daemon to its answer: what was asked, and what faults and handlers have
 * made of it so far.
 *
 * Threads   its connection's
 */
#ifndef TOOLS_INFORMER_SIM_REQUEST_H
#define TOOLS_INFORMER_SIM_REQUEST_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/informer-sim/sim_server.h"
#include "tools/serving/api_request.h"

struct sim_request {
	struct sim_server *server;
	struct api_request api;
	struct api_buf body;
	bool too_large;
	bool logged; /* in the journal: it is one of the API's */

	const char *verb; /* for the metrics: "LIST", ...; NULL: not counted */
	unsigned page;    /* of a LIST, from 1 */

	struct sim_fault fault; /* of the answer's body, or of the watch */
	uint64_t stale;         /* answer as of so many RVs ago */
	uint64_t paginate;      /* a list: in pages of so many items; 0: as it was asked for */
	bool plain;             /* a watch: as if sendInitialEvents had not been asked for */
	bool as_json;           /* whatever is asked for comes in JSON */
	bool unencodable;       /* protobuf is chosen, and cannot be written */
	bool newer;             /* objects have a field that the client cannot know */
	bool gzip;              /* the body is compressed */
	char etag[24];          /* of the answer, in quotes; "": it has none */
	struct api_buf note;    /* for the journal, behind the code: " rv=20 items=3" */
};

/* The connection's socket, or -1. */
int sim_request_socket(const struct api_request *request);

/* What it is called in journals: "LIST", "WATCHLIST", "DISCOVERY", ... */
const char *sim_request_verb(const struct api_request *request);

/* Append how it reads: "LIST pods in NS rv=0 limit=500". */
void
sim_request_print(const struct sim_request *request, struct api_buf *buf);

/*
 * Wait for a resourceVersion that is not reached yet, as the watch cache does: options.await_ms (3 s).
 * Returns 0, or -EINVAL with the status "Too large resource version".
 */
int
sim_request_await(struct sim_request *request, uint64_t rv);

#endif
