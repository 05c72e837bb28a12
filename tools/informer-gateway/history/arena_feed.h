/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feed of one cached resource: a handler of libinformer's whose changes go into the log (change_log.h),
 * ordered (change_staging.h), and wake those whom they concern (interest.h).
 *
 *	(nothing) ── walk told, and all of a commit ──▶ begun ── overflow, RVs out of order ──▶ (nothing)
 *
 * What is told before it has begun is what is there, and no change. A commit is in the log as a whole or not
 * at all: gw_feed_advance() compares where the handler stands with what a snapshot says, and only then `told`
 * becomes the RV of that snapshot.
 *
 *	told everything of a snapshot       its RV, and all that is staged
 *	not everything                      the snapshot is kept in mind as a mark, for when the handler is
 * there COALESCED                           no marks: the newest states are told, and belong to the newest RV
 *	RESYNC                              the log begins anew, its watches end with 410
 *
 * An update that changes no RV is none of upstream's (informerd was told to drop other fields): it is left
 * out.
 *
 * Threads  one, which dispatches the handle
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
	uint64_t changes, resyncs;
};

struct gw_feed {
	struct informer_handler *handler; /* NULL: it is not open */
	struct gw_object_maker *maker;    /* the entry's */
	struct gw_change_log log;
	struct gw_interests interests;
	struct gw_staging staging;
	bool begun;
	bool walking;    /* what is there is being told: no change */
	bool coalescing; /* newest states are being told */
	bool marked;
	uint64_t mark_seq, mark_rv;
	uint64_t last_seq; /* of the last change that was told */
	struct gw_feed_stats stats;
};

void gw_feed_init(struct gw_feed *feed, const struct gw_log_options *history);
/* No watcher is left. */
void gw_feed_done(struct gw_feed *feed);

/*
 * Add the handler.
 *
 * informer, maker     borrowed until gw_feed_close()
 * name, namespace_    as informer_handler_options has them
 * Returns 0; what informer_add_handler() returns
 */
int gw_feed_open(struct gw_feed *feed, struct informer *informer, struct gw_object_maker *maker,
		 const char *name, const char *namespace_);
/* Remove it; the log's watches have lost their place. One that is not open is fine. */
void gw_feed_close(struct gw_feed *feed);

/* Take over into the log what is whole, by a snapshot that was begun after the last dispatch. */
void gw_feed_advance(struct gw_feed *feed, const struct gw_standing *standing);

/* Whether the log has everything that this snapshot shows, and nothing beyond it. */
bool gw_feed_is_at(const struct gw_feed *feed, const struct gw_standing *standing);

#endif
