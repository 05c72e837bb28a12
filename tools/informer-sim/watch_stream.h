/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch stream: one watch being served; shared by serve_watch.c, which sends lines, and watch_fault.c, which
 * changes them.
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

	struct sim_piece pieces[2]; /* being sent: lines of rules, then the watch's line */
	unsigned piece_count;
	unsigned piece_at;
	size_t piece_offset;
	struct api_buf between;  /* lines that rules send */
	struct api_frame *frame; /* the next line; NULL: none */
	struct api_buf grown;    /* the line with an unknown field */
	bool newer;              /* add an unknown field */
	struct api_buf spoiled;  /* the bytes as a fault has changed them */
	bool unencodable;        /* encoding of objects fails */

	uint64_t opened_ms;
	uint64_t sent;   /* lines, including bookmarks */
	const char *end; /* why it ends, for the journal */

	char *name;       /* its name in the journal: "WATCH pods rv=20" */
	const char *verb; /* WATCH or WATCHLIST */
	char *namespace_; /* or NULL */
	char *asked_rv;   /* resourceVersion as given, or NULL */
	struct sim_fault_seen seen;
	unsigned rules;         /* version of the rules at the last check */
	struct sim_fault fault; /* for the next line, or slows all lines */
	bool ended;
	bool broken; /* close the connection without ending the stream */
	bool frozen; /* freeze before the next byte */
};

#endif
