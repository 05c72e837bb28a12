/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History before the log: prepends changes from before the gateway's start, as far as the arena proves them
 * complete. So a restarted gateway can continue the watches of its predecessor.
 *
 *	             F                     floor                told
 *	  forgotten  │ objects, deletions  │ changes            │
 *	─────────────┴─────────────────────┴────────────────────┴──▶ RV
 *	              ◀── prepended ───────
 *
 * Objects appear in their newest state. Earlier states are skipped, as upstream's watch cache may do. All
 * deletions above F are included. F is the lower of two RVs:
 * - complete_from: the RV of the first list, valid while no deletion was forgotten and none was found only by
 *   a relist;
 * - the RV of the oldest remembered deletion that informerd's watch saw; the oldest is forgotten first.
 *   Deletions found only by a list have no RV. If there are any, F is the RV of the first seen deletion after
 *   the last of them.
 * With neither RV nothing is proven, and nothing is prepended.
 *
 * Cost     one walk over the resource's objects, and making those that changed; once in an era of the log
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_HISTORY_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_HISTORY_H

#include "tools/informer-gateway/arena/arena_resources.h"

/*
 * Prepend the arena's history to an entry's log, up to half of the log's byte limit.
 *
 * Returns 0: the log's floor is lower now; -EAGAIN: informerd is ahead of the log: try again soon; -ESTALE:
 * nothing can be proven, or it was done before
 */
int gw_history_extend(struct gw_entry *entry);

#endif
