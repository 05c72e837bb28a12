/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One watch being served: what serve_watch.c, which says what comes next, watch_line.c, which writes it, and
 * watch_fault.c, which spoils it, all see.
 */
#ifndef TOOLS_INFORMER_SIM_WATCH_STREAM_H
#define TOOLS_INFORMER_SIM_WATCH_STREAM_H

#include "tools/serving/query.h"
#include "tools/informer-sim/slow_watches.h"

#define SIM_WATCH_BATCH 64

struct sim_piece {
	const char *bytes;
	size_t len;
};

struct sim_stream {
	struct sim_watch watch;
	struct sim_server *server;
	const struct api_resource *resource;
	struct api_query query;
	struct api_shape shape;
	bool headed; /* a Table's columns were sent: the first line has them, the others do not */
	/* what an object begins with: {"kind":"Pod",... or the same for metadata alone */
	struct api_buf head;
	char *prefix; /* "namespace/", or "" */
	size_t prefix_len;

	bool initial;  /* the view is still being sent */
	bool end_mark; /* and then the bookmark that says so */
	bool error;    /* own holds an ERROR line: send it and end */
	bool ended;
	struct sim_view view;
	uint64_t position;
	uint64_t after_rv; /* events up to here are not sent: the client asked from a future RV */
	uint64_t deadline_ms;
	uint64_t bookmark_ms; /* when the next one is due */
	uint64_t told_rv;     /* while nothing is left to send: the RV up to which everything was */

	struct sim_event events[SIM_WATCH_BATCH];
	unsigned event_count;
	unsigned event_at;

	struct sim_piece pieces[8]; /* the line being sent; before it one that a rule says */
	unsigned piece_count;
	unsigned piece_at;
	size_t piece_offset;
	struct api_buf own;     /* bytes of the line that are no object's */
	struct api_buf between; /* lines that rules say, before it */
	struct api_buf message; /* in protobuf: a message that no object has ready */
	/* in protobuf: the object that the line shows, and how; NULL: none */
	struct api_object *shown;
	enum sim_change shown_change;
	struct api_object *bare; /* the object being sent, without its managedFields; the stream's own */
	uint64_t shown_rv;
	bool newer;       /* objects have a field that the client cannot know */
	bool unencodable; /* no object can be written */
	char rv[24];

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
	bool broken;            /* ends with the connection, not with the stream */
	bool frozen;            /* before the next byte */
};

#endif
