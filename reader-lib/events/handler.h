/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handler: from what its feed gives to calls of its functions, through its filters.
 *
 *	feed ──item──▶ filters, beliefs, keys ──▶ on_add, on_update, on_delete, …
 *
 * Every call is one step after which the handler may be told to leave off (removed, paused, stopped): what is
 * still to be called stands in `pending`, and an item of which not all was told is given again. A pulled
 * handler (changes.h) leaves off after each call.
 *
 * Invariants
 * H1  One thread at a time runs a handler: the one that set `claimed` (run.h).
 * H2  No lock of the library is held in a call, and the pin that protects its objects is.
 * H3  The cursor shown, and acknowledged, is one from which on everything that was not told will be told.
 */
#ifndef READER_LIB_EVENTS_HANDLER_H
#define READER_LIB_EVENTS_HANDLER_H

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/events/changes.h"
#include "reader-lib/events/feed.h"
#include "reader-lib/events/known_keys.h"
#include "reader-lib/read/field_selector.h"
#include "reader-lib/read/key_object.h"

/* What is to be called before anything else, in this order. */
enum handler_pending {
	PENDING_OVERFLOW = 1, /* on_overflow(RESYNC) */
	PENDING_BEGIN = 2,
	PENDING_SWEEP = 4, /* an episode's end: deletes of keys that a RESYNC did not meet */
	PENDING_END = 8,
	PENDING_SYNCED = 16,
};
/* Those that tell of objects: before them an episode is not over. */
#define PENDING_TELLS (PENDING_SWEEP | PENDING_END)

/*
 * The handlers of one shared informer. With `wait_lock`; transform is set before the first of them.
 *
 * started    they may run; before, they are held back
 * stopped    no more of them are taken
 * transform  what they are shown of an object; NULL: the object as it is
 */
struct handler_group {
	bool started, stopped;
	const struct path_set *transform;
};

/* What the handler takes for present, of an object's name. */
enum known_state {
	KNOWN_ABSENT,  /* nothing */
	KNOWN_PRESENT, /* the object */
	KNOWN_BEHIND,  /* the object, in a state that is not the one before this change */
	KNOWN_OTHER,   /* another object, with the same name */
};

/*
 * An item's object, as it was known before the item is told.
 *
 * entry         of its name, if there is one
 * spare         for the table, once it was told: there is no entry, or that of another object
 * uid, version  hashes, as known_key has them, where they are needed
 */
struct known_subject {
	enum known_state known;
	struct known_key *entry, *spare;
	uint64_t uid, version;
};

/*
 * Everything that goes when the handler goes.
 *
 * group        of its shared informer; NULL: it has none
 * keys         all that was told and is there
 * keys_short   a consumer's first episode is not over: the keys lack what an earlier process was told
 * subject      of the item that is being told
 * held, held_present   a pulled handler's item was told, and is concluded in its next turn: the turn is not
 *              over, its snapshot stays open
 * begun_ns     of this turn
 * status_part  of the parts, whose status is to be told next in an episode's beginning
 * changes      of a pulled handler, else NULL; it has the user's filter_context
 * gone         the object of the deletion that was told last, where only its key is known
 * coalescing   the handler was told that what it gets is coalesced
 * resyncing    between on_resync_begin and on_resync_end
 * status_seen  hash of the status told last
 */
struct handler_work {
	struct informer_handler_options o;
	struct handler_group *group;
	struct subscription sub;
	struct feed feed;
	struct known_keys keys;
	struct known_subject subject;
	bool held, held_present;
	uint64_t begun_ns;
	uint32_t status_part;
	struct changes *changes;
	void *filter_context;
	struct informer_label_selector *labels;
	struct informer_field_selector *fields;
	unsigned pending;
	uint32_t round;
	size_t swept;
	bool keys_short;
	bool coalescing;
	bool resyncing;
	bool synced_told;
	uint64_t status_seen;
	struct informer_cursor acknowledged;	/* `lock` */
	/* resync.c */
	uint64_t period_ns, due_ns;
	uint32_t part, at; /* which ordinal is next */
	struct key_object gone;
};

/*
 * What informer_add_handler() gives. Stays until detach, so that a handle that was removed is known as such;
 * `work` goes with the handler.
 */
struct informer_handler {
	struct informer *inf;
	struct informer_handler *next;	/* `wait_lock` */
	struct handler_work *work;	/* NULL: it is gone */
	/* `wait_lock` */
	bool claimed;
	bool removed;
	pthread_t runner;		/* who claimed it */
	uint64_t retry_ns;		/* its last turn failed: not before */
	bool pulled;                    /* by informer_changes_next(); nobody else runs it */
	/* any thread */
	_Atomic bool leave;		/* no further call */
	_Atomic bool paused;
	_Atomic bool synced;
	_Atomic uint64_t events, coalesced, resyncs, keys;
	_Atomic uint64_t shown_seq;
	uint8_t shown_lineage[16]; /* `lock`: it changes when the store was built anew */
};

/* informer_add_handler(), in a group (NULL: in none). */
int handler_add(struct informer *inf, const struct informer_handler_options *options,
		struct handler_group *group, struct informer_handler **ret_handler);
/* Whether all handlers of a group (NULL: all) were told of all that was there. With wait_lock. */
bool handlers_synced(const struct informer *inf, const void *group);

/*
 * Wait for something about handlers: met is asked with wait_lock held, whenever a handler got on or went. 0,
 * or -ETIMEDOUT.
 */
int handlers_wait(struct informer *inf, bool (*met)(const struct informer *inf, const void *context),
		  const void *context, int timeout_ms);

/* Copy the options, compile the selectors. Fails with a message in the handle. */
int handler_work_new(struct informer *inf, const struct informer_handler_options *given,
		     struct handler_work **ret_work);
/* The feed's ring is still mapped; the subscription was removed. */
void handler_work_free(struct informer *inf, struct handler_work *w, bool in_child);

/*
 * One turn: at most FEED_BATCH events. The caller has claimed it.
 * Returns 1 something was done, 0 there is nothing to do, negative: try again a little later
 */
int handler_turn(struct informer_handler *h);
/* Whether a turn would find something. Claimed, or unclaimed with wait_lock held. */
bool handler_due(const struct informer_handler *h, uint64_t now_ns);
/* When it becomes due by itself (CLOCK_MONOTONIC); UINT64_MAX: never. */
uint64_t handler_due_at(const struct informer_handler *h);

/* ---- handler_tell.c: calls ---- */

static inline bool
handler_leaves(const struct informer_handler *h)
{
	return atomic_load_explicit(&((struct informer_handler *)(uintptr_t)h)->leave,
				    memory_order_relaxed) ||
	       atomic_load_explicit(&((struct informer_handler *)(uintptr_t)h)->paused,
				    memory_order_relaxed) ||
	       (h->pulled && h->work->changes->taken);
}

static inline bool
handler_selects(const struct handler_work *w)
{
	return w->labels || w->fields || w->o.filter;
}

/* All that is there is compared with what was told: the handler hears of no RESYNC. */
static inline bool
handler_resyncs_by_keys(const struct handler_work *w)
{
	return w->feed.walk == WALK_RESYNC && !w->resyncing;
}

/*
 * Call on_add, on_update, on_delete for an item. exact: it is a change that was not coalesced; else
 * on_overflow says so first. use_old: of the item's objects, the old one. 1; 0 when the handler left off
 * before the call; negative: it was not called (of on_value, see there).
 */
int handler_tell_add(struct informer_handler *h, const struct feed_item *item, bool exact);
int handler_tell_update(struct informer_handler *h, const struct feed_item *item, bool with_old, bool exact);
int handler_tell_delete(struct informer_handler *h, const struct feed_item *item, bool use_old,
			bool final_known, bool exact);
/* on_delete of which only the key is known. False: the handler left off before the call. */
bool handler_tell_delete_key(struct informer_handler *h, struct known_key *e);
/* Its number of keys changed: show it. */
static inline void
handler_count_keys(struct informer_handler *h)
{
	atomic_store_explicit(&h->keys, h->work->keys.table.count, memory_order_relaxed);
}

/* A key is not there any more. */
void handler_forget_key(struct informer_handler *h, struct known_key *entry);
/* Make the calls that are pending. False: the handler leaves off. */
bool handler_pending_calls(struct informer_handler *h);
/* Whether the selectors match an object of the resource at this position: 1, 0, negative. */
int handler_matches(const struct handler_work *w, const struct snapshot *s, const struct object *o,
		    uint32_t ref, uint32_t position);
/* Show where it stands. */
void handler_show(struct informer_handler *h, uint64_t seq);

/* ---- handler_values.c: what handlers get in place of objects ---- */

/*
 * What the handler is to see of an object: a copy, to be freed behind the call, or the object. Without memory
 * for a copy, or of an object that cannot be copied, it is the object: to tell too much is better than to
 * lose an event.
 */
const struct informer_object *handler_shown(const struct handler_work *w,
					    const struct informer_object *object,
					    struct informer_object *copy);

/*
 * Tell of the subject's object (or, present false, that it is gone) with its values. 1; or why the object
 * could not be read: on_value was not called, and what transform made was released.
 */
int handler_tell_value(struct informer_handler *h, const struct informer_object *object, bool present);
/* That the object of this key is gone. */
void handler_tell_value_gone(struct informer_handler *h, struct known_key *entry,
			     const struct informer_object *object);
/* For a resync: the same value twice, if there is one. */
void handler_tell_value_again(struct informer_handler *h, const struct snapshot *s, const struct object *o,
			      const struct informer_object *object);
/* Let all go, and their keys, without telling. */
void handler_release_values(struct handler_work *w);

/* ---- handler_keys.c: what was told, by key ---- */

/*
 * What is known of an object. remember: it will be there when it was told; anew: as another object than the
 * one that is there. To be validated; where that fails, and where this does, the spare is to be dropped.
 * 0, -EBADMSG or -ENOMEM
 */
int handler_look_at_key(const struct informer_handler *h, const struct object *o, bool remember, bool anew,
			struct known_subject *s);
/* Whether another state of the object was told than this one. To be validated. */
bool handler_is_behind(const struct handler_work *w, const struct known_subject *s, const struct object *o);
/* The subject is there, in this state: it has an entry, or a spare that becomes one. */
void handler_keep_key(struct informer_handler *h, struct known_subject *s, uint32_t part);
/*
 * The keys of what is there, for a consumer that goes on from a stored cursor: what was created up to it
 * counts as told. 0, or why not now: no key is remembered then.
 */
int handler_seed_keys(struct informer_handler *h);

/* ---- handler_take.c: from an item of the feed to calls ---- */

/*
 * Tell one item: 1 it was told, 0 the handler leaves off and wants it again, or holds it; negative: it could
 * not be told now.
 */
int handler_take(struct informer_handler *h, const struct feed_item *item);
/* Conclude the item that is held. 1, or negative: the arena was taken back meanwhile. */
int handler_conclude_held(struct informer_handler *h);

/* ---- resync.c ---- */

void resync_init(struct handler_work *w);
/* Tell again what this slice of the period has. 1 something was done, 0 nothing, negative later. */
int resync_turn(struct informer_handler *h);

#endif
