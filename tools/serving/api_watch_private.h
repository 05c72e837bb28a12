/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watch is to api_watch.c, and to informer-sim, which has it go wrong.
 */
#ifndef TOOLS_SERVING_API_WATCH_PRIVATE_H
#define TOOLS_SERVING_API_WATCH_PRIVATE_H

#include "tools/serving/api_watch.h"

/* Few, so that an idle watch is small: what is in hand is told before more is fetched. */
#define WATCH_BATCH 4u
#define WATCH_BEFORE_END_MS 2000u /* a bookmark comes so long before the end */

struct api_watch {
	const struct api_store *store;
	struct api_form form;
	struct api_query query;
	char *namespace_; /* NULL: all */
	size_t namespace_len;
	struct api_view *view; /* still to be told; NULL: live */
	uint64_t position;     /* of the store, behind the batch */
	uint64_t after_rv; /* changes up to here are not told: the client has them, or asks from the future */
	uint64_t told_rv;  /* everything up to here was */
	uint64_t interval_ms;
	uint64_t bookmark_ms; /* when the next one is due */
	uint64_t deadline_ms;
	struct api_event batch[WATCH_BATCH];
	unsigned count, at;
	struct api_status *failure; /* an ERROR line's, once there is one */
	const char *end;            /* why it ends or is about to */
	bool placed;                /* the view is ready, and stands where it begins */
	bool end_mark;              /* comes behind the view */
	bool headed;                /* a Table's columns were told */
	bool tell_lost;
	bool failing; /* the ERROR line is next */
	bool ending;  /* after what is in hand */
	bool over;
	bool ahead; /* after_rv is not reached: of an RV in the future */
};
_Static_assert(sizeof(struct api_watch) <= 512, "five thousand of them are idle on a node");

/* Give up the changes that are in hand. */
void watch_drop_batch(struct api_watch *w);

#endif
