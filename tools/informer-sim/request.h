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

#include "tools/informer-sim/shape.h"
#include "tools/informer-sim/sim_server.h"
#include "tools/informer-sim/status_document.h"

struct sim_request {
	struct sim_server *server;
	struct MHD_Connection *connection;
	const char *method;
	const char *url;
	struct sim_buf body;
	bool too_large;
	bool logged; /* in the journal: it is one of the API's */

	const char *verb; /* for the metrics: "LIST", ...; NULL: not counted */
	const struct sim_resource *resource;
	const char *namespace_; /* NULL: all of them, or a cluster-wide resource */
	const char *name;	/* NULL: the collection */
	const char *subresource;
	unsigned page; /* of a LIST, from 1 */
	struct sim_shape shape; /* of the objects in the answer */
	struct sim_status status;

	struct sim_fault fault; /* of the answer's body, or of the watch */
	uint64_t stale;		/* answer as of so many RVs ago */
	uint64_t paginate;	/* a list: in pages of so many items; 0: as it was asked for */
	bool plain;		/* a watch: as if sendInitialEvents had not been asked for */
	bool no_protobuf;	/* it is served as by a server that has JSON alone */
	bool as_json;		/* JSON, whatever was asked for */
	bool unencodable;	/* protobuf is chosen, and cannot be written */
	bool newer;		/* objects have a field that the client cannot know */
	bool gzip;		/* the body is compressed */
	char etag[24];          /* of the answer, in quotes; "": it has none */
	struct sim_buf note;	/* for the journal, behind the code: " rv=20 items=3" */
};

/* A query parameter, NULL if absent. */
const char *
sim_request_query(const struct sim_request *request, const char *name);
const char *
sim_request_header(const struct sim_request *request, const char *name);

/* A bool parameter as the server converts it: there, and neither "false" nor "0". */
bool
sim_request_flag(const struct sim_request *request, const char *name);
/* Is it a WATCH? (watch=true, watch=1, watch) */
bool
sim_request_is_watch(const struct sim_request *request);

/* What the server can answer it in. */
struct sim_offer
sim_request_offer(const struct sim_request *request);

/* The connection's socket, or -1. */
int
sim_request_socket(const struct sim_request *request);

/* What it is called in the journal and in fault scripts: "LIST", "WATCHLIST", "DISCOVERY", ... */
const char *
sim_request_verb(const struct sim_request *request);
/* Append how it reads: "LIST pods in NS rv=0 limit=500". */
void
sim_request_print(const struct sim_request *request, struct sim_buf *buf);

#endif
