/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feed of one handler: the changes of a resource, in order, from a ring and from walks over by-seq
 * (shm-layout/queue.h).
 *
 *	              no cursor (of a consumer: AWAIT, then RESYNC):
 *	(nothing) ───── INITIAL ────▶ WALK ───────── end ────────▶ RING
 *	                              ▲  ▲                          │
 *	                              │  └─── COALESCED ◀───────────┤  overflowed, or (re)opened
 *	                              │                             │  beyond the cursor
 *	                              │       all lists in:         │
 *	                              └───────── RESYNC ◀── AWAIT ◀─┘  other lineage, cursor below
 *	                                                               the floor, RESET
 *
 * Each turn pins the newest root once, for at most FEED_BATCH events:
 *
 *	if (feed_open(f) > 0)
 *		while (feed_next(f, &item) > 0)
 *			tell(item), feed_told(f);
 *	feed_close(f);
 *
 * A walk goes from the cursor to `target`, the seq of the root with which it began. Each turn uses a newer
 * root. An object that changes before the walk reaches it moves beyond the target, and its next event is in
 * the ring. Until all such events were told, the feed is *catching up*: the state told last of an object may
 * not be the one before the next change.
 *
 * Invariants
 * I1  Everything up to the cursor was told or will never be. No change is told twice, except that a walk may
 *     repeat the newest state.
 * I2  Items come in the order of seq. The states told of one object never go back in time.
 * I3  A ring entry's references are followed only if the ring was seen open after the pin was taken (Q1, Q2).
 * I4  A change that is not told from the ring lies in (cursor, target] of a walk. After each opening with
 *     base > cursor, and after each overflow, a walk follows. Its root was pinned after the feed saw that, so
 *     the root has the change.
 * I5  No decision is made from arena bytes before they are validated. If the arena was taken back, the feed
 *     read zeros; it goes on from the same position when another arena has come.
 *
 * When another ring arrives, the old ring is read to its end first, if possible.
 *
 * All bytes are input. If they make no sense the ring is dropped. The feed asks for a new ring 1 second
 * later, and a RESYNC follows.
 *
 * Threads: one at a time: the thread that claimed the handler. `ring` changes with `lock` held.
 */
#ifndef READER_LIB_EVENTS_FEED_H
#define READER_LIB_EVENTS_FEED_H

#include <string.h>

#include "reader-lib/events/subscription.h"
#include "reader-lib/read/by_seq.h"
#include "reader-lib/read/resource_open.h"
#include "shm-layout/object.h"

#define FEED_BATCH 64u

enum feed_kind {
	FEED_BEGIN,     /* a walk begins; f->walk says which */
	FEED_ADDED,     /* ring: new */
	FEED_UPDATED,   /* ring: old, new */
	FEED_DELETED,   /* ring: old */
	FEED_PRESENT,   /* walk: new, in its newest state */
	FEED_GONE,      /* walk: old, a tombstone's last state */
	FEED_STATUS,    /* ring: the VALUE at new_ref */
	FEED_LISTED,    /* ring: a part's first list is complete */
	FEED_CAUGHT_UP, /* the episode that FEED_BEGIN began was told whole */
};

enum feed_walk { WALK_INITIAL, WALK_COALESCED, WALK_RESYNC };

/*
 * part         index in f->binding
 * created_seq  of the new object; of DELETED and GONE, of the old one. A validated copy: the arena may say
 *              something else later
 * initial      the object was present before its part's list was complete, or when the walk began
 */
struct feed_item {
	enum feed_kind kind;
	uint32_t part;
	uint64_t seq;
	uint64_t created_seq;
	const struct object *old_object, *new_object;
	uint32_t old_ref, new_ref;
	bool initial;
	/*
	 * GONE, DELETED: the final state is unknown. Otherwise new_object is the final state of a DELETED,
	 * old_object of a GONE.
	 */
	bool unseen;
};

enum feed_mode { FEED_MODE_RING, FEED_MODE_WALK, FEED_MODE_AWAIT };

/*
 * What a turn uses of its pinned root: copied, and validated before any decision.
 *
 * newest_seq: of the newest root; no entry in the ring is later.
 */
struct feed_root {
	uint64_t epoch;
	uint64_t seq;
	uint8_t lineage[16];
	uint64_t newest_seq;
};

/*
 * cursor      everything up to it was told; valid when has_cursor
 * mode        where the next items come from
 * walk, from  the episode: its kind, and the cursor with which it began (0: nothing was known)
 * position    WALK: everything up to it was walked
 * target      WALK: the walk's end
 * gone_after  deletions after it must not be missed
 * caught_up   no episode is under way
 * stored      the daemon kept the cursor for a consumer: the first episode starts there even if nothing was
 *             missed
 * unsure      of this episode: more than the cursor says may have been told, and not acknowledged
 * listed      a bit for each part whose first list is complete
 */
struct feed {
	struct informer *inf;
	struct subscription *sub;
	struct ring *ring;
	bool has_cursor;
	struct informer_cursor cursor;
	enum feed_mode mode;
	enum feed_walk walk;
	uint64_t from, position, target, gone_after;
	bool stored;
	bool unsure;
	bool caught_up;
	bool begin;   /* FEED_BEGIN is the next item */
	bool fresh;   /* FEED_BEGIN begins an episode; false: the current one goes on */
	bool again;   /* the turn gave nothing, but the next may */
	bool drained; /* in an episode: nothing was told since the ring's end was reached */
	bool resync;  /* begin a RESYNC, whatever the cursor says */
	uint64_t listed[RESOURCE_MAX / 64];
	uint32_t parts;
	/* this turn */
	struct informer_snapshot snap;
	bool open;
	const struct resource_binding *binding;
	struct feed_root root;
	unsigned count;
	bool walking; /* by_seq was started in this turn */
	bool checked; /* in this turn it was checked what is outstanding */
	bool over;    /* feed_next() has no more items in this turn */
	struct feed_item item;
	struct by_seq by_seq;
	size_t ns_length;	/* of sub->ns */
};

void feed_init(struct feed *f, struct informer *inf, struct subscription *sub);
void feed_done(struct feed *f, bool in_child);

/*
 * Begin a turn. Returns 1: feed_next() may have an item; 0: nothing to do now; negative (INFORMER_E_BUSY,
 * -ENOMEM, …): try again later. Call feed_close() in any case.
 */
int feed_open(struct feed *f);
/* Returns 1: an item, valid until the next call; 0: the turn is over. The next turns recover from errors. */
int feed_next(struct feed *f, const struct feed_item **ret_item);
/* The item from feed_next() was told. */
void feed_told(struct feed *f);
void feed_close(struct feed *f);

/* The handler lost track: begin a RESYNC. Ends the turn. */
void feed_begin_anew(struct feed *f);
/* What was read makes no sense: give up the ring, with a message. Ends the turn. */
void feed_broken(struct feed *f, const char *why);

/* Whether a turn would find something. Cheap; true may be wrong. */
bool feed_due(const struct feed *f);

static inline const struct snapshot *
feed_snapshot(const struct feed *f)
{
	return snapshot_of(&f->snap);
}

/*
 * Whether an object is in the handler's namespace. An object without namespace is in every one. To be
 * validated.
 */
static inline bool
feed_wants(const struct feed *f, const struct object *o)
{
	struct object_extent extent;

	if (f->ns_length == 0)
		return true;
	return object_measure_within(&feed_snapshot(f)->view, o, &extent) &&
	       (extent.namespace_length == 0 || (extent.namespace_length == f->ns_length &&
						 memcmp(object_namespace(o), f->sub->ns, f->ns_length) == 0));
}

/* Whether, by what was told, all parts' lists are complete. */
bool feed_all_listed(const struct feed *f);

/* ---- what feed.c (turns) and feed_next.c (items) share ---- */

/* Change to the ring that arrived. Ends the turn. */
void feed_change_over(struct feed *f);
/* Whether deletions after this seq were forgotten: 1, 0, or why that cannot be known. */
int feed_forgotten_after(const struct feed *f, uint64_t seq);

#endif
