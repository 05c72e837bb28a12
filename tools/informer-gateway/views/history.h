/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History before the log: what changed while nobody listened, as far as the arena can prove that it has all
 * of it. A gateway that was started anew goes on with the watches of the one before.
 *
 *	             F                     floor                told
 *	  forgotten  │ objects, deletions  │ changes            │
 *	─────────────┴─────────────────────┴────────────────────┴──▶ RV
 *	              ◀── put in front ────
 *
 * Objects are there in their newest state: states between are skipped, as upstream's watch cache may. All
 * deletions above F are there, F being the lower of two:
 * - the RV of the first list, as long as none was forgotten since, and none only found out about by another
 *   list (complete_from);
 * - the RV of the oldest remembered one that informerd was told of by its watch, the oldest being forgotten
 *   first; deletions that it only found out about by a list have no RV, and F is that of the first one behind
 *   the last of these.
 * Without either there is no proof, and no history.
 *
 * Cost     a walk over the resource's objects, and the making of those that changed; once in a log's life
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_HISTORY_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_HISTORY_H

#include "tools/informer-gateway/arena/arena_resources.h"

/*
 * Put what the arena has in front of an entry's log, up to half of the log's bytes.
 *
 * Returns 0: the log's floor is lower now; -EAGAIN: informerd is ahead of what was taken in: try again soon;
 * -ESTALE: there is nothing that can be proven, or it was done before
 */
int gw_history_extend(struct gw_entry *entry);

#endif
