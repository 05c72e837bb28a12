/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler takes the items of its feed, filters them, and calls the caller's functions.
 *
 *	feed ──item──▶ filters, known keys ──▶ on_add, on_update, on_delete, …
 *
 * After each call the handler may be told to leave off (removed, paused, stopped). Calls that are still to be
 * made stand in `pending`. An item that was not told whole is given again. A pulled handler (changes.h)
 * leaves off after each call.
 *
 * Invariants
 * H1  One thread at a time runs a handler: the thread that set `claimed` (run.h).
 * H2  During a call the library holds no lock, and holds the pin that protects the call's objects.
 * H3  Everything that was not told yet will be told from the shown and acknowledged cursor on.
 */
#ifndef READER_LIB_EVENTS_HANDLER_H
#define READER_LIB_EVENTS_HANDLER_H

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/events/changes.h"
#include "reader-lib/events/feed.h"
#include "reader-lib/events/known_keys.h"
#include "reader-lib/read/field_selector.h"
#include "reader-lib/read/key_object.h"

/* Calls to be made before any other, in this order. */
enum handler_pending {
	PENDING_OVERFLOW = 1, /* on_overflow(RESYNC) */
	PENDING_BEGIN = 2,
	PENDING_SWEEP = 4, /* at an episode's end: delete each key that the RESYNC did not meet */
	PENDING_END = 8,
	PENDING_SYNCED = 16,
};
/* Calls about objects: an episode is not over before them. */
#define PENDING_TELLS (PENDING_SWEEP | PENDING_END)

/*
 * The handlers of one shared informer. Guarded by `wait_lock`; transform is set before the first handler.
 *
 * started    the handlers may run; before, they are held back
 * stopped    new handlers are refused
 * transform  what handlers see of an object; NULL: the object as it is
 */
struct handler_group {
	bool started, stopped;
	const struct path_set *transform;
};

struct handler_work;

/* What the handler was told under an object's name. */
enum known_state {
	KNOWN_ABSENT,  /* nothing */
	KNOWN_PRESENT, /* the object */
	KNOWN_BEHIND,  /* the object, in a state other than the one before this change */
	KNOWN_OTHER,   /* another object with the same name */
};

/*
 * What was known of an item's object before the item is told.
 *
 * entry         the entry of its name, or NULL
 * spare         an entry for the table once the item was told: there is no entry, or it is of another object
 * uid, version  hashes as in known_key, set where they are needed
 */
struct known_subject {
	enum known_state known;
	struct known_key *entry, *spare;
	uint64_t uid, version;
};

/*
 * What a handler does: tell changes (handler.c), or answer parked keys (parking.c).
 *
 * end      make the last calls but on_done
 * release  free what is not part of struct handler_work
 */
struct handler_kind {
	int (*turn)(struct informer_handler *h);
	bool (*due)(const struct handler_work *w, uint64_t now_ns);
	uint64_t (*due_at)(const struct handler_work *w);
	void (*end)(struct informer_handler *h);
	void (*release)(struct informer *inf, struct handler_work *w, bool in_child);
};

/*
 * Everything that is freed with the handler. All below `sub` is for a handler that tells changes.
 *
 * parking       of a handler that answers parked keys, else NULL
 * group         the group of its shared informer; NULL: none
 * keys          what was told and is present
 * keys_short    a consumer's first episode is not over: keys told to an earlier process are missing
 * subject       of the item that is being told
 * held          a pulled handler's item was told, and its next turn concludes it: the snapshot stays open
 * held_present  of the held item: the object is present
 * begun_ns      when this turn began
 * status_part   part whose status is told next at the beginning of an episode
 * changes       of a pulled handler, else NULL; has the user's filter_context
 * gone          key object of the deletion told last, when only the key is known
 * coalescing    the handler was told that changes are coalesced
 * resyncing     between on_resync_begin and on_resync_end
 * status_seen   hash of the status told last
 */
struct handler_work {
	const struct handler_kind *kind;
	struct parking *parking;
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
	uint32_t part, at; /* the ordinal that is told next */
	struct key_object gone;
};

/*
 * The handle that informer_add_handler() returns. It stays until detach, so that a removed handle is
 * recognised. `work` is freed with the handler.
 */
struct informer_handler {
	struct informer *inf;
	struct informer_handler *next;	/* `wait_lock` */
	struct handler_work *work;      /* NULL: the handler is gone */
	/* `wait_lock` */
	bool claimed;
	bool removed;
	pthread_t runner;  /* the thread that claimed it */
	uint64_t retry_ns; /* after a failed turn: not due before */
	bool pulled;       /* only informer_changes_next() runs it */
	/* any thread */
	_Atomic bool leave; /* make no further call */
	_Atomic bool paused;
	_Atomic bool synced;
	_Atomic uint64_t events, coalesced, resyncs, keys;
	_Atomic uint64_t shown_seq;
	uint8_t shown_lineage[16]; /* `lock`; changes when the store is built anew */
};

/* informer_add_handler() in a group; NULL: in none. */
int handler_add(struct informer *inf, const struct informer_handler_options *options,
		struct handler_group *group, struct informer_handler **ret_handler);
/* Whether all handlers of a group (NULL: all) were told the initial objects. wait_lock is held. */
bool handlers_synced(const struct informer *inf, const void *group);

/*
 * Wait for a condition about handlers. `met` is called with wait_lock held, whenever a handler made progress
 * or ended. Returns 0 or -ETIMEDOUT.
 */
int handlers_wait(struct informer *inf, bool (*met)(const struct informer *inf, const void *context),
		  const void *context, int timeout_ms);

/* Copy the options of a handler that tells changes, compile the selectors. Fails with a message. */
int handler_work_new(struct informer *inf, const struct informer_handler_options *given,
		     struct handler_work **ret_work);
/* Free it; NULL is allowed. The subscription was removed; the feed's ring is still mapped. */
void handler_work_free(struct informer *inf, struct handler_work *w, bool in_child);

/*
 * One turn: at most FEED_BATCH events. The caller has claimed the handler.
 * Returns 1: something was done; 0: nothing to do; negative: try again in RETRY_NS (run.c)
 */
int handler_turn(struct informer_handler *h);
/*
 * Whether a turn would find something. The caller has claimed the handler, or holds wait_lock and it is
 * unclaimed.
 */
bool handler_due(const struct informer_handler *h, uint64_t now_ns);
/* When the handler becomes due by time (CLOCK_MONOTONIC); UINT64_MAX: never. */
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

/* A RESYNC without the handler's notice: everything present is compared with the keys that were told. */
static inline bool
handler_resyncs_by_keys(const struct handler_work *w)
{
	return w->feed.walk == WALK_RESYNC && !w->resyncing;
}

/*
 * Call on_add, on_update, on_delete for an item.
 *
 * exact    the change was not coalesced; if false, on_overflow says so first
 * use_old  pass the item's old object
 * Returns  1; 0: the handler left off before the call; negative: not called (on_value: see
 *          handler_tell_value())
 */
int handler_tell_add(struct informer_handler *h, const struct feed_item *item, bool exact);
int handler_tell_update(struct informer_handler *h, const struct feed_item *item, bool with_old, bool exact);
int handler_tell_delete(struct informer_handler *h, const struct feed_item *item, bool use_old,
			bool final_known, bool exact);
/* Call on_delete with the key alone. False: the handler left off before the call. */
bool handler_tell_delete_key(struct informer_handler *h, struct known_key *e);
/* Show the new number of keys. */
static inline void
handler_count_keys(struct informer_handler *h)
{
	atomic_store_explicit(&h->keys, h->work->keys.table.count, memory_order_relaxed);
}

/* Remove a key that is not present any more. */
void handler_forget_key(struct informer_handler *h, struct known_key *entry);
/* Make the pending calls. False: the handler leaves off. */
bool handler_pending_calls(struct informer_handler *h);
/* Whether the selectors and the filter match an object of the resource at this position: 1, 0, negative. */
int handler_matches(const struct handler_work *w, const struct snapshot *s, const struct object *o,
		    uint32_t ref, uint32_t position);
/* Show the handler's position. */
void handler_show(struct informer_handler *h, uint64_t seq);

/* ---- handler_values.c: what handlers get in place of objects ---- */

/*
 * What the handler sees of an object: a copy, which the caller frees after the call, or the object itself. It
 * is the object when there is no memory for a copy, or no copy can be made: telling too much is better than
 * losing an event.
 */
const struct informer_object *handler_shown(const struct handler_work *w,
					    const struct informer_object *object,
					    struct informer_object *copy);

/*
 * Call on_value for the subject's object; present false: the object is gone. Returns 1; or why the object
 * could not be read: on_value was not called, and the value that transform made was released.
 */
int handler_tell_value(struct informer_handler *h, const struct informer_object *object, bool present);
/* Call on_value: the object of this key is gone. */
void handler_tell_value_gone(struct informer_handler *h, struct known_key *entry,
			     const struct informer_object *object);
/* For a resync: call on_value with the same value as old and new, if there is a value. */
void handler_tell_value_again(struct informer_handler *h, const struct snapshot *s, const struct object *o,
			      const struct informer_object *object);
/* Release all values and their keys: release() of the options is the only call. */
void handler_release_values(struct informer_handler *h);

/* ---- handler_keys.c: what was told, by key ---- */

/*
 * Look up what is known of an object. The result is to be validated. If that or this call fails, drop the
 * spare.
 *
 * remember  make a spare, unless an entry of this very object exists
 * anew      treat the object as another one than the entry's
 * Returns   0, -EBADMSG or -ENOMEM
 */
int handler_look_at_key(const struct informer_handler *h, const struct object *o, bool remember, bool anew,
			struct known_subject *s);
/* Whether the state told last is another than this one. To be validated. */
bool handler_is_behind(const struct handler_work *w, const struct known_subject *s, const struct object *o);
/*
 * Record that the subject is present in this state: in its entry, or in the spare, which becomes its entry.
 */
void handler_keep_key(struct informer_handler *h, struct known_subject *s, uint32_t part);
/*
 * Fill the keys for a consumer that goes on from a stored cursor. Present objects that were created up to the
 * cursor count as told. Returns 0, or why not now: no key is remembered then.
 */
int handler_seed_keys(struct informer_handler *h);

/* ---- handler_take.c: from an item of the feed to calls ---- */

/*
 * Tell one item. Returns 1: told; 0: the handler leaves off and wants the item again, or holds it; negative:
 * it could not be told now
 */
int handler_take(struct informer_handler *h, const struct feed_item *item);
/* Conclude the held item. Returns 1; negative: the arena was taken back meanwhile */
int handler_conclude_held(struct informer_handler *h);

/* ---- resync.c ---- */

void resync_init(struct handler_work *w);
/*
 * Tell the objects of this slice of the period again. Returns 1: something was done; 0: nothing; negative:
 * later
 */
int resync_turn(struct informer_handler *h);

#endif
