/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change staging: holds changes between the handler and the log (change_log.h). They wait until all of their
 * commit has been told and the resource's RV has reached them. Then they go into the log in order of RVs.
 *
 *	handler ──▶ staged, in order of seq ── gw_staging_release(seq, rv) ──▶ log, in order of RV
 *
 * A watch of informerd brings changes in order. A relist brings deletions first, without RVs of their own,
 * then objects in order of their names. Its changes must be sorted, and released together.
 *
 * A deletion that informerd did not see has no RV. It gets the newest RV told before it. A client that
 * resumes from that RV misses no deletion, wherever it resumes: this log repeats those deletions, upstream
 * and other gateways send the deletions themselves, and a server that has neither answers 410.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_STAGING_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_STAGING_H

#include "tools/informer-gateway/history/interest.h"

/*
 * seq     the change's in the arena
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
/* Drop all staged changes. */
void gw_staging_clear(struct gw_staging *staging);

/* Add a change; calls must be in order of seq. Takes over the references. */
void gw_staging_put(struct gw_staging *staging, struct api_event change, uint64_t seq, bool unseen);

/*
 * All changes up to `seq` have been told, and the resource is at `rv`: move them into the log and note the
 * interested watchers.
 *
 * Returns 0; -EAGAIN: a change has a higher RV; nothing was released;
 *         -ESTALE: the changes do not continue the log; they are dropped
 */
int gw_staging_release(struct gw_staging *staging, uint64_t seq, uint64_t rv, struct gw_change_log *log,
		       struct gw_interests *interests);

#endif
