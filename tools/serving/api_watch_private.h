/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a watch, for api_watch.c and for informer-sim, which injects faults. */
#ifndef TOOLS_SERVING_API_WATCH_PRIVATE_H
#define TOOLS_SERVING_API_WATCH_PRIVATE_H

#include "tools/serving/api_watch.h"

/* Few, so that an idle watch is small. A batch is sent before the next is fetched. */
#define WATCH_BATCH 4u
#define WATCH_BEFORE_END_MS 2000u /* a bookmark is sent this long before the end */

struct api_watch {
	const struct api_store *store;
	struct api_form form;
	struct api_query query;
	char *namespace_; /* NULL: all */
	size_t namespace_len;
	struct api_view *view; /* initial objects to send; NULL: live */
	uint64_t position;     /* of the store, after the batch */
	uint64_t after_rv;     /* changes up to here are not sent: the client has them, or its RV is ahead */
	uint64_t told_rv;      /* all changes up to here were sent */
	uint64_t interval_ms;
	uint64_t bookmark_ms; /* when the next one is due */
	uint64_t deadline_ms;
	struct api_event batch[WATCH_BATCH];
	unsigned count, at;
	struct api_status *failure; /* for the ERROR line, if any */
	const char *end;            /* why the watch ends */
	bool placed;                /* the view is ready, and at its first key */
	bool end_mark;              /* send an end mark after the view */
	bool headed;                /* a Table's columns were sent */
	bool tell_lost;
	bool failing; /* the ERROR line is next */
	bool ending;  /* after the batch */
	bool over;
	bool ahead; /* after_rv is a future RV, not reached yet */
};
_Static_assert(sizeof(struct api_watch) <= 512, "five thousand of them are idle on a node");

/* Release the fetched changes. */
void watch_drop_batch(struct api_watch *w);

#endif
