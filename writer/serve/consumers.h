/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of named consumers: readers whose cursor the arena keeps across restarts (shm-layout/consumer.h).
 *
 *	slot.acknowledged ──poll, clamp──▶ table ──store_set_consumers()──▶ arena ──adoption──▶ table
 *
 * A cursor is accepted when it grows within its lineage and is at most the newest published seq. The number
 * of names per user is limited. At the limit a new name replaces the user's oldest absent name. A name that
 * never acknowledged anything is kept only while its reader is attached.
 *
 * A name ages only while a daemon runs. Wall time in which no daemon ran (the machine was off or asleep, or
 * the clock was set) is added to each last_seen_wall_ns. So the clock minus last_seen_wall_ns is the time
 * that a daemon ran without the name.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_SERVE_CONSUMERS_H
#define WRITER_SERVE_CONSUMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "writer/store/store.h"

struct consumers;
struct consumer_seat; /* a name's place for an attached reader, which reads as that consumer */

struct consumers_limits {
	uint32_t per_uid;	/* [64] */
	uint32_t total;		/* [1,024] */
	uint64_t age_ns;        /* [7 days] a name absent for this much daemon run time is forgotten */
};
#define CONSUMERS_LIMITS ((struct consumers_limits){64, 1024, 7ull * 24 * 3600 * 1000000000u})

/*
 * Make the table from the consumers in the store. Their ages go on from the last commit of the daemon before.
 * store is borrowed. Returns 0 or -ENOMEM.
 */
int consumers_new(struct store *store, struct consumers_limits limits, struct consumers **ret_consumers);
void consumers_free(struct consumers *c);

/*
 * A reader attaches as this consumer. cursor: in the reader's slot, borrowed, hostile.
 * Returns 1: the name is known, and its position is set; 0: the name is new; -EBUSY: another reader has the
 * name; -EUSERS: the user has too many names; -ENOMEM
 */
int consumers_sit(struct consumers *c, uid_t uid, const char *name, size_t length,
		  const struct queue_cursor *cursor, struct consumer_seat **ret_seat, uint8_t ret_lineage[16],
		  uint64_t *ret_seq);
/* The reader leaves the seat. Its last acknowledgement is taken. */
void consumers_leave(struct consumer_seat *r);	/* NULL is fine */

/*
 * Take acknowledgements, forget names over age_ns, and hand changes to the store. Returns whether a commit
 * has something to keep; the caller commits. Called once a second, and before the last commit.
 *
 * lived_ns  CLOCK_MONOTONIC, which stands while the machine sleeps. A step over a minute counts as a minute:
 *           the daemon was stopped
 */
bool consumers_poll(struct consumers *c, uint64_t now_wall_ns, uint64_t lived_ns);

/* [{"name","uid","seq","lag","attached":bool,"lastSeen"}] for the report. NULL: no memory. */
struct cJSON;
struct cJSON *consumers_json(struct consumers *c);

#endif
