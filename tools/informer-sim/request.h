/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request from its arrival to its answer: what it asks for, and the settings of faults and handlers.
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
	bool logged; /* written to the journal: a request to the API */

	const char *verb; /* for the metrics: "LIST", ...; NULL: not counted */
	unsigned page;    /* of a LIST, from 1 */

	struct sim_fault fault; /* for the answer's body, or for the watch */
	uint64_t stale;         /* answer with a state this many RVs old */
	uint64_t paginate;      /* a list: items per page; 0: as requested */
	bool plain;             /* a watch: ignore sendInitialEvents */
	bool as_json;           /* always answer in JSON */
	bool unencodable;       /* protobuf is chosen, but encoding fails */
	bool newer;             /* objects have a field unknown to the client */
	bool gzip;              /* the body is compressed */
	char etag[24];          /* of the answer, in quotes; "": none */
	struct api_buf note;    /* for the journal, after the code: " rv=20 items=3" */
};

/* The connection's socket, or -1. */
int sim_request_socket(const struct api_request *request);

/* Its name in the journal: "LIST", "WATCHLIST", "DISCOVERY", ... */
const char *sim_request_verb(const struct api_request *request);

/* Append its text: "LIST pods in NS rv=0 limit=500". */
void
sim_request_print(const struct sim_request *request, struct api_buf *buf);

/*
 * Wait until an RV is reached, as the watch cache does: at most options.await_ms (3 s). Returns 0, or -EINVAL
 * with the status "Too large resource version".
 */
int
sim_request_await(struct sim_request *request, uint64_t rv);

#endif
