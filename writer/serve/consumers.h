/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named consumers: whose cursor the arena remembers (shm-layout/consumer.h).
 *
 *	slot.acknowledged ──poll, clamp──▶ table ──store_set_consumers()──▶ arena ──adoption──▶ table
 *
 * A cursor counts only when it grows within its lineage and is not beyond a published seq. Names are capped a
 * user; the oldest absent one of a user gives way to a new one. A name that never acknowledged anything is
 * remembered only while it is attached.
 *
 * A name grows old only while it could have come: in time that a daemon lived through. What the wall clock
 * went on otherwise (the machine was off or asleep, nobody ran, somebody set it) is added to the names'
 * last_seen_wall_ns, so that clock minus that is always time lived without it.
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
struct consumer_seat;	/* of a name; an attached reader that reads as that consumer sits there */

struct consumers_limits {
	uint32_t per_uid;	/* [64] */
	uint32_t total;		/* [1,024] */
	uint64_t age_ns;	/* [7 days] not seen for so long, while there was a daemon: forgotten */
};
#define CONSUMERS_LIMITS ((struct consumers_limits){64, 1024, 7ull * 24 * 3600 * 1000000000u})

/*
 * store is borrowed; what it shows is taken over, and is as old as it was when the daemon before us committed
 * last.
 */
int consumers_new(struct store *store, struct consumers_limits limits, struct consumers **ret_consumers);
void consumers_free(struct consumers *c);

/*
 * A reader comes as this consumer. cursor: in its slot, borrowed, hostile.
 * Returns 1 and where it had got to; 0 the name is new; -EBUSY another one sits there; -EUSERS the user has
 * too many names; -ENOMEM
 */
int consumers_sit(struct consumers *c, uid_t uid, const char *name, size_t length,
		  const struct queue_cursor *cursor, struct consumer_seat **ret_seat, uint8_t ret_lineage[16],
		  uint64_t *ret_seq);
/* It goes: its last acknowledgement is taken. */
void consumers_leave(struct consumer_seat *r);	/* NULL is fine */

/*
 * Take acknowledgements, forget who is too old, and hand what changed to the store. True when there is
 * something for a commit to keep. Called once a second, and before the last commit; the caller commits.
 * lived_ns  a clock that nobody sets, and that stands while the machine sleeps (CLOCK_MONOTONIC); of a step
 *           of it a minute counts at most, so that a daemon that was stopped did not live through that
 */
bool consumers_poll(struct consumers *c, uint64_t now_wall_ns, uint64_t lived_ns);

/* [{"name","uid","seq","lag","attached":bool,"lastSeen"}] for the report. NULL: no memory. */
struct cJSON;
struct cJSON *consumers_json(struct consumers *c);

#endif
