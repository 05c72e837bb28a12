/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed of one cached resource: a libinformer handler whose changes are ordered (change_staging.h), go into
 * the log (change_log.h), and wake the interested watchers (interest.h).
 *
 *	(nothing) ── first walk and its commit told ──▶ begun ── overflow, RVs out of order ──▶ (nothing)
 *
 * Objects told before the feed has begun are the initial state, not changes. The log receives a commit as a
 * whole or not at all: gw_feed_advance() compares the handler's cursor with a snapshot. If the handler has
 * been told all of that snapshot, `told` becomes the snapshot's RV.
 *
 *	all of a snapshot told      release all staged changes, with the snapshot's RV
 *	not all of it               remember the snapshot as a mark, until the handler has got there
 *	COALESCED                   no marks; the newest states are told, and belong to the newest RV
 *
 * An update with an unchanged RV is left out: informerd's own drop: made it, not the API server.
 *
 * Threads  one: the thread that dispatches the handle
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_FEED_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_FEED_H

#include "tools/informer-gateway/history/arena_object.h"
#include "tools/informer-gateway/history/change_staging.h"

/* What a snapshot says of a resource. */
struct gw_standing {
	uint8_t lineage[16];
	bool synced;
	uint64_t changed_seq, forgotten_seq, complete_from, rv, age_ns;
};

struct gw_feed_stats {
	uint64_t changes, resets; /* resets: the order was lost, every watch ended */
};

struct gw_feed {
	struct informer_handler *handler; /* NULL: not open */
	struct gw_object_maker *maker;    /* the entry's */
	struct gw_change_log log;
	struct gw_interests interests;
	struct gw_staging staging;
	bool begun;
	bool walking;    /* the initial state is being told */
	bool coalescing; /* newest states are being told */
	bool marked;
	uint64_t mark_seq, mark_rv;
	struct informer_cursor last; /* of the last change told */
	struct gw_feed_stats stats;
};

void gw_feed_init(struct gw_feed *feed, const struct gw_log_options *history);
/* No watcher may be left. */
void gw_feed_done(struct gw_feed *feed);

/*
 * Add the handler.
 *
 * informer, maker     borrowed until gw_feed_close()
 * name, namespace_    as in informer_handler_options
 * Returns 0; what informer_add_handler() returns
 */
int gw_feed_open(struct gw_feed *feed, struct informer *informer, struct gw_object_maker *maker,
		 const char *name, const char *namespace_);
/* Remove the handler; the log's watches lose their place. A feed that is not open is fine. */
void gw_feed_close(struct gw_feed *feed);

/* Release complete changes into the log. standing must be of a snapshot begun after the last dispatch. */
void gw_feed_advance(struct gw_feed *feed, const struct gw_standing *standing);

/* Whether the log has exactly the state of this snapshot: all of it, and no later change. */
bool gw_feed_is_at(const struct gw_feed *feed, const struct gw_standing *standing);

#endif
