/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One watch being served: what serve_watch.c, which sends what comes next, and watch_fault.c, which spoils
 * it, both see.
 */
#ifndef TOOLS_INFORMER_SIM_WATCH_STREAM_H
#define TOOLS_INFORMER_SIM_WATCH_STREAM_H

#include "tools/informer-sim/slow_watches.h"
#include "tools/serving/api_watch.h"

struct sim_piece {
	const char *bytes;
	size_t len;
};

struct sim_stream {
	struct sim_watch watch;
	struct sim_server *server;
	const struct api_resource *resource;
	struct api_watch *api; /* what comes next */

	struct sim_piece pieces[2]; /* what is being sent: what a rule says, then the line */
	unsigned piece_count;
	unsigned piece_at;
	size_t piece_offset;
	struct api_buf between;  /* lines that rules say */
	struct api_frame *frame; /* the line that is next; NULL: there is none */
	struct api_buf grown;    /* the line, with a field that no client knows */
	bool newer;              /* that it has */
	struct api_buf spoiled;  /* or what has become of both */
	bool unencodable;        /* no object can be written */

	uint64_t opened_ms;
	uint64_t sent;   /* lines, bookmarks too */
	const char *end; /* why it ends, for the journal */

	char *name;       /* how the journal calls it: "WATCH pods rv=20" */
	const char *verb; /* WATCH or WATCHLIST */
	char *namespace_; /* or NULL */
	char *asked_rv;   /* resourceVersion as it was given, or NULL */
	struct sim_fault_seen seen;
	unsigned rules;         /* version of the rules, when they were last looked at */
	struct sim_fault fault; /* waits for the next line, or slows all */
	bool ended;
	bool broken; /* ends with the connection, not with the stream */
	bool frozen; /* before the next byte */
};

#endif
