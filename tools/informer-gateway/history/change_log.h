/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change log: the changes of one resource in order of their RVs, from which watches are served.
 *
 *	   floor                                            told
 *	     │  rv 103    rv 104    rv 104    rv 110         │
 *	     ▼ ┌────────┬─────────┬─────────┬────────┐       ▼
 *	  102  │ change │ change  │ change  │ change │      117
 *	       └────────┴─────────┴─────────┴────────┘
 *	        first                                 next
 *
 * Positions number the changes and only grow. The log has every change with an RV above `floor` and up to
 * `told`. On a quiet resource bookmarks raise `told`.
 *
 * Invariants
 * - Within an era neither the changes' RVs nor `told` decrease.
 * - A change (struct api_event) holds what selectors need of the previous state. prev is that state if a
 *   selector could distinguish both; it is `object` itself if none could, and NULL if there was none or it is
 *   unknown. A change's frames are made at first use.
 * - Size and age bound the log: the oldest changes are dropped first. A watch that has not read them gets
 *   -ESTALE.
 * - When the order is lost (RVs decrease, or memory ran out), a new era begins; no earlier position is
 *   valid in it.
 *
 * A deletion that informerd found only through a list has no RV of its own. It gets the newest RV told before
 * it. A client that resumes at that RV is told of the deletion, possibly a second time. No other changes are
 * repeated (change_staging.h).
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_LOG_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_LOG_H

#include "tools/serving/api_store.h"

/*
 * bytes   limit for the objects of this log. Only changes older than GW_FRESH_MS are dropped for it, so that
 *         a client that reconnects finds its place. The newest change always stays
 * share   counts the objects and frames of all logs; its owner makes room in it
 * now_ms  monotonic clock
 */
struct gw_log_options {
	size_t bytes;
	struct api_share *share;
	uint64_t (*now_ms)(void);
};

#define GW_FRESH_MS 75000u /* as upstream's watch cache */

struct gw_logged {
	struct api_event change;
	uint64_t at_ms; /* when it was appended; 0: prepended */
};

struct gw_change_log {
	struct gw_log_options options;
	struct gw_logged *ring;
	size_t capacity; /* a power of two, or 0 */
	uint64_t first, next;
	size_t bytes; /* of objects */
	uint64_t floor, told;
	bool floor_open; /* some changes with the RV `floor` are missing */
	/* between these RVs changes are missing: no watch may begin there */
	uint64_t gap_from, gap_to;
	bool extended; /* gw_history_extend() has run in this era */
	uint64_t era;
};

void gw_change_log_init(struct gw_change_log *log, const struct gw_log_options *options);
void gw_change_log_done(struct gw_change_log *log);

/* Begin a new era with an empty log, which takes the changes after rv. */
void gw_change_log_begin(struct gw_change_log *log, uint64_t rv);
/*
 * End the era: the order is lost, no position is valid, and no watch can begin until gw_change_log_begin().
 */
void gw_change_log_break(struct gw_change_log *log);

/*
 * Append. Takes over the references.
 *
 * Returns its position; the RV must not be below the last change's RV, nor below `told`
 */
uint64_t gw_change_log_put(struct gw_change_log *log, struct api_event change);
/*
 * Prepend older changes: first call forget_before, then prepend each change, newest first, all at or below
 * `floor`; last call lower. Takes over the references. forget_before marks the previous state of each
 * object's first change as unknown, because a watch that begins before it was not told that state.
 */
void gw_change_log_forget_before(struct gw_change_log *log);
void gw_change_log_prepend(struct gw_change_log *log, struct api_event change);
void gw_change_log_lower(struct gw_change_log *log, uint64_t floor);
/* Drop the oldest changes, of any age but never the newest, until at most `bytes` are left. */
void gw_change_log_trim(struct gw_change_log *log, size_t bytes);
/* All changes up to rv are in the log. A lower rv than before has no effect. */
void gw_change_log_tell(struct gw_change_log *log, uint64_t rv);

/*
 * Mark that states between these RVs (both excluded) were skipped, and with them possibly whole objects. A
 * watch that begins there could miss a deletion and is refused; open watches continue.
 */
void gw_change_log_gap(struct gw_change_log *log, uint64_t from, uint64_t to);

/* The change at a position, first <= position < next. Borrowed until the next put. */
struct api_event *gw_change_log_at(const struct gw_change_log *log, uint64_t position);

/*
 * Find where a watch from an RV continues: at the first change above it, or at the first repeated deletion
 * with that RV.
 *
 * Returns 0; -ESTALE: changes above it are no longer in the log, the log has not begun, or the RV is in a gap
 */
int gw_change_log_position(const struct gw_change_log *log, uint64_t rv, uint64_t *ret_position);

/* Make an event from a change. The caller gives the references back with api_events_done(). */
void gw_change_log_event(struct gw_change_log *log, uint64_t position, struct api_event *ret_event);

#endif
