/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feed of one handler: what happened to a resource, in order, from a ring and from walks over by-seq
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
 * A walk goes from the cursor to `target`, the seq of the root with which it began, each turn with a newer
 * root. So an object that changes before the walk has come to it moves beyond the target: its next event is
 * in the ring. Until all such have been told, the feed is *catching up*: what was told of an object need not
 *be the state before the change that comes.
 *
 * Invariants
 * I1  Everything up to the cursor was told, or will not be; nothing is told twice, except what a walk says of
 *     the newest state.
 * I2  The order is that of seq. What is told of one object are states that it had, never an older one after a
 *     newer.
 * I3  Nothing is followed that an entry refers to unless the ring was seen open after the pin was taken (Q1,
 *     Q2).
 * I4  A change that is not told from the ring lies in (cursor, target] of a walk: after each opening with
 *     base > cursor, and each overflow, comes a walk whose root was pinned after that was seen, and has it.
 * I5  Nothing is decided by what was read of the arena before it is validated: whose arena was taken back
 *     meanwhile has read zeros, and goes on from where it stood, when another has come.
 *
 * An old ring (another one arrived) is read to its end first, when that is possible.
 *
 * All bytes are input. What makes no sense drops the ring: a new one is asked for, a second later, and a
 * RESYNC follows.
 *
 * Threads: one at a time (the one that claimed the handler). `ring` changes with `lock` held.
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
	FEED_BEGIN,     /* a walk begins: f->walk says which */
	FEED_ADDED,     /* ring: new */
	FEED_UPDATED,   /* ring: old, new */
	FEED_DELETED,   /* ring: old */
	FEED_PRESENT,   /* walk: new, in its newest state */
	FEED_GONE,      /* walk: old, a tombstone's last state */
	FEED_STATUS,    /* ring: the VALUE at new_ref */
	FEED_LISTED,    /* ring: a part's first list is in */
	FEED_CAUGHT_UP, /* the episode that FEED_BEGIN began is over: all of it was told */
};

enum feed_walk { WALK_INITIAL, WALK_COALESCED, WALK_RESYNC };

/*
 * part      of f->binding
 * created_seq  of the object: the new one, of DELETED and GONE the old one. Copied, and validated: what the
 *           arena says of it later may be something else
 * initial   it was there before its part's list was in, or when the walk began
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
	 * GONE, DELETED: the final state is not known. Else new is the final one of a DELETED, old of a
	 * GONE
	 */
	bool unseen;
};

enum feed_mode { FEED_MODE_RING, FEED_MODE_WALK, FEED_MODE_AWAIT };

/*
 * What a turn goes by, of the root that it has pinned: copied, and validated before anything is decided.
 *
 * newest_seq  of the newest root; nothing in the ring can be later
 */
struct feed_root {
	uint64_t epoch;
	uint64_t seq;
	uint8_t lineage[16];
	uint64_t newest_seq;
};

/*
 * cursor      where it stands: everything up to it was told. Valid when has_cursor
 * mode        how it goes on
 * walk, from  the episode: its kind, and the cursor with which it began (0: nothing was known)
 * position    WALK: everything up to it was walked
 * target      WALK: how far
 * gone_after  deletions after it must not be missed
 * caught_up   outside of episodes
 * stored      the cursor is what the daemon had kept for a consumer: the first episode goes on from it, also
 *             where nothing was missed
 * unsure      this episode does: more than the cursor says may have been told, and not acknowledged
 * listed      bit for each part whose first list is in
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
	bool begin;			/* FEED_BEGIN is to be told */
	bool fresh;			/* FEED_BEGIN begins an episode; else the one that is goes on */
	bool again;			/* the turn gave nothing, but another may */
	bool drained;			/* in an episode: nothing was told since the ring was at its end */
	bool resync;			/* whatever the cursor says */
	uint64_t listed[RESOURCE_MAX / 64];
	uint32_t parts;
	/* this turn */
	struct informer_snapshot snap;
	bool open;
	const struct resource_binding *binding;
	struct feed_root root;
	unsigned count;
	bool walking;			/* by_seq was started this turn */
	bool checked;                   /* what is outstanding was looked for this turn */
	bool over;			/* feed_next() has nothing more this turn */
	struct feed_item item;
	struct by_seq by_seq;
	size_t ns_length;	/* of sub->ns */
};

void feed_init(struct feed *f, struct informer *inf, struct subscription *sub);
void feed_done(struct feed *f, bool in_child);

/*
 * Begin a turn. 1: feed_next() may have something; 0 there is nothing to do now; negative: not now
 * (INFORMER_E_BUSY, -ENOMEM, …), try again a little later. feed_close() in any case.
 */
int feed_open(struct feed *f);
/* 1 an item, valid until the next call; 0 the turn is over. What went wrong is mended in the next turns. */
int feed_next(struct feed *f, const struct feed_item **ret_item);
/* The item that feed_next() gave was told. */
void feed_told(struct feed *f);
void feed_close(struct feed *f);

/* Whoever listens lost track: a RESYNC. Ends the turn. */
void feed_begin_anew(struct feed *f);
/* What was read makes no sense: give the ring up, with a message. Ends the turn. */
void feed_broken(struct feed *f, const char *why);

/* Whether a turn would find something. Cheap; may err towards true. */
bool feed_due(const struct feed *f);

static inline const struct snapshot *
feed_snapshot(const struct feed *f)
{
	return snapshot_of(&f->snap);
}

/*
 * Whether an object is in the handler's namespace. One that has none is in every namespace. To be validated,
 * as all that is read.
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

/* Whether all parts' lists are in, as far as was told. */
bool feed_all_listed(const struct feed *f);

/* ---- what feed.c (turns) and feed_next.c (items) share ---- */

/* Go over to the ring that arrived; ends the turn. */
void feed_change_over(struct feed *f);
/* Whether deletions after this seq were forgotten: 1, 0, or why that cannot be known. */
int feed_forgotten_after(const struct feed *f, uint64_t seq);

#endif
