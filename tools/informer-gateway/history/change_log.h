/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of one resource's changes, in order of their RVs, from which watches are served.
 *
 *	   floor                                            told
 *	     │  rv 103    rv 104    rv 104    rv 110         │
 *	     ▼ ┌────────┬─────────┬─────────┬────────┐       ▼
 *	  102  │ change │ change  │ change  │ change │      117
 *	       └────────┴─────────┴─────────┴────────┘
 *	        first                                 next
 *
 * Positions number the changes and only ever grow. The log has every change with an RV above `floor` and up
 * to `told`; a quiet resource's `told` moves on by bookmarks.
 *
 * Invariants
 * - RVs of changes never fall from one to the next, and `told` never falls while the era lasts.
 * - A change (struct api_event) holds what selectors need of the state before: prev is that state where a
 *   selector could tell both apart, `object` itself where none could, NULL where there was none or it is not
 *   known. Its frames are made when somebody first wants them.
 * - It is bounded by bytes and time: the oldest go first, and whoever has not read them is told so (-ESTALE).
 * - Where the order is lost (everything is told anew, RVs fell), the log begins anew: another era, in which
 * no position of before is valid.
 *
 * A deletion of which informerd only found out by a list has no RV of its own. It is shown at the newest RV
 * that was told before it: whoever comes back with that RV is told of it (again), and here only
 *(change_staging.h).
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_LOG_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_CHANGE_LOG_H

#include "tools/serving/api_store.h"

/*
 * bytes   of the objects of this log's changes. Older ones than GW_FRESH_MS are dropped for it; younger ones
 *         stay: a client that comes back finds its place. The newest change stays whatever its size
 * share   counts the objects of all logs, and the frames of their changes; who owns it makes room in it
 * now_ms  the clock, monotonic
 */
struct gw_log_options {
	size_t bytes;
	struct api_share *share;
	uint64_t (*now_ms)(void);
};

#define GW_FRESH_MS 75000u /* as upstream's watch cache */

struct gw_logged {
	struct api_event change;
	uint64_t at_ms; /* when it was put; 0: in front */
};

struct gw_change_log {
	struct gw_log_options options;
	struct gw_logged *ring;
	size_t capacity; /* a power of two, or 0 */
	uint64_t first, next;
	size_t bytes; /* of objects */
	uint64_t floor, told;
	bool floor_open; /* not all with the RV `floor` are in the log, or known elsewhere */
	/* between these RVs objects may have come and gone of which the log says nothing: no watch begins
	 * there */
	uint64_t gap_from, gap_to;
	bool extended; /* in this era older changes were put in front, or there were none */
	uint64_t era;
};

void gw_change_log_init(struct gw_change_log *log, const struct gw_log_options *options);
void gw_change_log_done(struct gw_change_log *log);

/* Begin, or begin anew: everything up to rv is known elsewhere, nothing is in the log. */
void gw_change_log_begin(struct gw_change_log *log, uint64_t rv);
/* The order is lost, and what comes next is not known yet: no position is valid. */
void gw_change_log_break(struct gw_change_log *log);

/*
 * Append. The references are the log's from now on.
 *
 * Returns its position; the RV must not be below the last one's, nor below `told`
 */
uint64_t gw_change_log_put(struct gw_change_log *log, struct api_event change);
/*
 * Older changes are put in front, the newest first, all at or below `floor`, which is lowered behind them.
 * The references are the log's from now on. Before that, what each name's first change followed becomes
 * unknown: a watch from down there has not been told of it.
 */
void gw_change_log_forget_before(struct gw_change_log *log);
void gw_change_log_prepend(struct gw_change_log *log, struct api_event change);
void gw_change_log_lower(struct gw_change_log *log, uint64_t floor);
/* Drop the oldest until so many bytes are left, however young they are; never the newest. */
void gw_change_log_trim(struct gw_change_log *log, size_t bytes);
/* Everything up to rv is in the log. Lower ones than before change nothing. */
void gw_change_log_tell(struct gw_change_log *log, uint64_t rv);

/*
 * Between these RVs, both excluded, states were skipped and with them objects that came and went: a watch
 * that begins there (somebody else told it of them) could miss a deletion, and is refused. Others go on.
 */
void gw_change_log_gap(struct gw_change_log *log, uint64_t from, uint64_t to);

/* The change at a position, first <= position < next. Lent until the next put. */
struct api_event *gw_change_log_at(const struct gw_change_log *log, uint64_t position);

/*
 * Where a watch from an RV goes on: at the first change above it, or at the first that is to be told again.
 *
 * Returns 0; -ESTALE: changes above it are no longer in the log, or it has not begun, or it lies in a gap
 */
int gw_change_log_position(const struct gw_change_log *log, uint64_t rv, uint64_t *ret_position);

/*
 * Fill in an event from a change: its references are the caller's, to be given back by api_events_done().
 */
void gw_change_log_event(struct gw_change_log *log, uint64_t position, struct api_event *ret_event);

#endif
