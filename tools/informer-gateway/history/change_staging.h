/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes on their way from a handler into the log (change_log.h): they wait until everything of their commit
 * was told and the resource's RV reaches them, and go into the log in order of their RVs.
 *
 *	handler ──▶ staged, in order of seq ── gw_staging_release(seq, rv) ──▶ log, in order of RV
 *
 * A watch of informerd's brings changes in order. A list that it makes anew brings deletions first, without
 * an RV of their own, and then objects by their names: what came of one list has to be ordered, and may be
 * told only as a whole.
 *
 * RVs are upstream's. A deletion that informerd did not see itself has none: it is shown at the newest RV
 * that was told before it. A client that goes on from there has all of them before it, wherever it was cut
 * off: this log tells them again, upstream and others tell the deletions themselves, and who knows neither
 * says 410.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_STAGING_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_STAGING_H

#include "tools/informer-gateway/history/interest.h"

/*
 * seq     of the change in the arena
 * unseen  a deletion without an RV of its own
 */
struct gw_staged {
	struct api_event change;
	uint64_t seq;
	bool unseen;
};

/* Zeroed is empty. */
struct gw_staging {
	struct gw_staged *items;
	size_t count, capacity;
	size_t bytes;
};

void gw_staging_done(struct gw_staging *staging);
/* Forget what is staged. */
void gw_staging_clear(struct gw_staging *staging);

/* In order of seq. The references are the staging's from now on. */
void gw_staging_put(struct gw_staging *staging, struct api_event change, uint64_t seq, bool unseen);

/*
 * Everything up to `seq` was told, and belongs to the RV: put it into the log and note whom it concerns.
 *
 * Returns 0; -EAGAIN: the RV has not reached all of it yet, nothing was released;
 *         -ESTALE: it does not follow what is in the log; what was to be released is dropped
 */
int gw_staging_release(struct gw_staging *staging, uint64_t seq, uint64_t rv, struct gw_change_log *log,
		       struct gw_interests *interests);

#endif
