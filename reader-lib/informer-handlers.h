/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, events: handlers are told of every object that is there, and then of each change.
 *
 *	static void on_add(void *context, const struct informer_object *pod, bool is_initial) { … }
 *	static void on_update(void *context, const struct informer_object *old,
 *			      const struct informer_object *pod) { … }
 *	static void on_delete(void *context, const struct informer_object *pod,
 *			      bool final_state_known) { … }
 *
 *	struct informer_handler_options o = {.size = sizeof(o), .resource = "pods",
 *		.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
 *	informer_add_handler(inf, &o, NULL);
 *
 *	informer_run(inf);		a thread a handler, until informer_stop()
 *
 * or, in an event loop of your own:
 *
 *	while (poll(&(struct pollfd){informer_fd(inf), POLLIN, 0}, 1, -1) >= 0)
 *		informer_dispatch(inf);
 *
 * or without functions, with .pull = true:
 *
 *	while (informer_changes_next(handler, -1, &change) > 0)
 *		…
 *
 * What a handler is told (client-go's rules, with the differences in informer-from-client-go(7)):
 *
 * - First every object that is present, as an add with is_initial, then each change after that, in order;
 *   never one object's states out of order, never two calls of one handler at once. A name that was deleted
 *   and created anew is a delete and an add.
 * - Each handler has a queue of its own in shared memory, of bounded size. A handler that keeps up gets
 *   every change, with old and new state.
 * - A handler that missed changes gets INFORMER_COALESCED in on_overflow. Adds, updates and deletes follow
 *   that lead from what it was told to what is there: one for each key, with the newest state; old is NULL.
 *   Then it gets each change again. This holds also when the handler was away for longer than the daemon
 *   remembers deletions, and when the store was rebuilt.
 * - A consumer (see below) of which the daemon knows no cursor gets INFORMER_RESYNC when its process begins:
 *   between on_resync_begin and on_resync_end it gets everything that is present, as adds with is_initial.
 *   What an earlier process of it knew, and is not told there, is gone.
 * - For that the library remembers the key of each object that it told a handler of and that is present: 80
 *   bytes of private memory and the key's length for each.
 * - A handler that is slow, or hangs, or whose process dies, delays no other handler and not the daemon.
 *
 * Objects given to a handler are lent: valid until it returns. informer_object_copy() keeps one for longer. A
 * call that takes longer than the daemon's patience may find that they have expired (INFORMER_E_EXPIRED):
 * nothing is lost by that. Once the handle has another arena, the handler is told of that object again, by an
 * update or a delete. Such a call is the one case in which what is told next of its object need not follow
 * from it: a delete may be told twice, an update or a delete be of what an add that could not be read was
 * about, or an update of what was told as deleted and is there again.
 *
 * Within a handler everything of this library may be called but informer_detach(), informer_stop() and
 * informer_factory_shutdown(); informer_remove_handler() may.
 */
#ifndef INFORMER_HANDLERS_H
#define INFORMER_HANDLERS_H

#include "informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct informer_handler;

enum informer_overflow {
	/* changes were missed: what follows is one event a key, with its newest state */
	INFORMER_COALESCED = 1,
	/* of a consumer no cursor is known: what follows is everything that is present */
	INFORMER_RESYNC = 2,
};

/*
 * Where a handler stands: everything up to seq was told. A lineage is an unbroken count of seq.
 */
struct informer_cursor {
	uint8_t lineage[16];
	uint64_t seq;
};

/*
 * What the daemon met while it listed or watched the resource (client-go's WatchErrorHandler).
 *
 * resource    its name, terminated
 * recovered   true: it is in order again, and the rest is empty
 * http_code   0: there was no answer
 * reason      the API's own ("Expired", "Forbidden", …) or ""; message: a sentence. Terminated
 */
struct informer_watch_status {
	size_t size;
	const char *resource;
	bool recovered;
	int http_code;
	const char *reason;
	const char *message;
};

#define INFORMER_NO_RESYNC UINT32_MAX /* as resync_ms: never */

/*
 * Every field but size and resource may be 0 or NULL. The functions are called one at a time, with context,
 * and no lock is held.
 */
struct informer_handler_options {
	size_t size; /* sizeof(struct informer_handler_options) */

	/* ---- what it is told of: each condition that is not NULL or "" must hold ---- */

	/* As informer_resource_open() takes it. Events begin when it is cached. */
	const char *resource;
	const char *namespace_;
	/* An update by which an object begins to match is an add, one by which it ends is a delete. */
	const char *label_selector;
	/*
	 * Comma-separated path=value, path==value, path!=value on any path:
	 * "spec.nodeName=n1,status.phase!=Running". An absent field counts as "" (the API server's rule).
	 */
	const char *field_selector;
	/*
	 * A selector that is a function (client-go's FilteringResourceEventHandler). Its answer must depend
	 * on the object alone: it is asked of old states, too, and more than once. It must not change
	 * handlers.
	 */
	bool (*filter)(void *context, const struct informer_object *object);

	/* ---- what is called ---- */

	void *context; /* of filter and of all that follows */
	/*
	 * No function but filter is called: informer_changes_next() gives each change. Without resync_ms,
	 * and not in a factory.
	 */
	bool pull;
	/* is_initial: the object was there when the handler came, or a RESYNC tells of it */
	void (*on_add)(void *context, const struct informer_object *object, bool is_initial);
	/* old NULL: not known (COALESCED). old == object: a resync */
	void (*on_update)(void *context, const struct informer_object *old,
			  const struct informer_object *object);
	/*
	 * final_state_known: object is its last state (with selectors: the last that matched). Else the
	 * object may have only its key: informer_object_key(), _name() and _namespace() read it.
	 */
	void (*on_delete)(void *context, const struct informer_object *object, bool final_state_known);
	/* Every object that was there has been told (has_synced). Again after each RESYNC's end. */
	void (*on_synced)(void *context);
	void (*on_overflow)(void *context, enum informer_overflow kind);
	void (*on_resync_begin)(void *context);
	void (*on_resync_end)(void *context);
	/* What the status points to is lent. */
	void (*on_error)(void *context, const struct informer_watch_status *status);
	/* The last call; context may be freed. Not called by informer_detach() in a forked child. */
	void (*on_done)(void *context);

	/* ---- how often, how much ---- */

	/*
	 * Each object is told again once in this period, as an update whose old and new are the same object,
	 * unless an event of it waits. Calls are spread over the period. The daemon has no part in it.
	 * 0: as its factory says (informer-factory.h), without one never; INFORMER_NO_RESYNC: never;
	 * 1 to 999 count as 1,000.
	 */
	uint32_t resync_ms;
	/* Size of the queue, 24 bytes of shared memory each. 0: 4,096. The daemon may cap it. */
	uint32_t queue_entries;
	/*
	 * What `informerctl stat`, informerd's log and metrics call it, at most 91 bytes. NULL: its
	 * consumer's name, else the reader's.
	 */
	const char *name;

	/* ---- what it knows over restarts ---- */

	/*
	 * A consumer's name, at most 91 bytes, under which the daemon remembers for this user how far the
	 * handler has got. After a restart of its process the handler goes on from there, without initial
	 * adds. If the daemon does not know the name (it is new, was not used for a week, or the arena was
	 * lost), or no longer remembers a deletion since, the handler gets a RESYNC. One process at a time.
	 * What was told and not acknowledged may come again, and updates and deletes of what was never told.
	 */
	const char *consumer;
	/* With consumer: only informer_acknowledge() says what is done. Else what its calls returned from is.
	 */
	bool manual_ack;

	/* ---- values of its own in place of objects ---- */

	/*
	 * Makes the handler's own value of an object (client-go's TransformFunc): what it needs, in a form of
	 * its own. NULL: it wants nothing of this one. It must not change handlers.
	 */
	void *(*transform)(void *context, const struct informer_object *object);
	/*
	 * With transform, instead of on_add, on_update and on_delete: an object's value before and now. The
	 * library keeps the value beside the key until the object is gone. So old is always the value that
	 * was told last, also after a gap or a RESYNC, and NULL when there was none. value NULL: the object
	 * is gone (then object is as on_delete's), or transform wants nothing of it any more. Both the same:
	 * a resync. Both NULL, only with consumer: it is gone, and an earlier process was told of it. What a
	 * RESYNC does not tell again is told as gone at its end.
	 */
	void (*on_value)(void *context, const struct informer_object *object, void *old, void *value);
	/*
	 * Frees what transform made, once each: old when on_value has returned, all others before on_done.
	 * NULL: there is nothing to free.
	 */
	void (*release)(void *context, void *value);
};

/*
 * Add a handler; at any time, also while others run. Its first calls come from the next informer_dispatch(),
 * or from a thread of informer_run(); never from within this function.
 *
 * ret_handler  for the functions below; may be NULL. It is valid until removed, or until informer_detach()
 * Returns      0; -EINVAL; INFORMER_E_SYNTAX (a selector; informer_error_text() says where); -ENAMETOOLONG;
 *              -ENOMEM; -EUSERS: 64 handlers are there already; INFORMER_E_STOPPED after informer_stop();
 *              INFORMER_E_FORKED
 */
INFORMER_API int informer_add_handler(struct informer *informer,
				      const struct informer_handler_options *options,
				      struct informer_handler **ret_handler);

/*
 * Remove it. From another thread: waits until a call that runs has returned; no other begins. From within the
 * handler: this call was the last one. on_done follows. Removing what was removed already is fine as long as
 * the handle is attached.
 */
INFORMER_API void informer_remove_handler(struct informer_handler *handler);

/*
 * Hold a handler back, or let it go on: for those who hand events on and have only so much room. From within
 * the handler: this call is the last one until it is let go on, also amid initial adds, a catch-up or a
 * RESYNC. Meanwhile no snapshot is open for it, informer_fd() does not tell of its events, and its queue
 * fills and overflows as a slow handler's does. Idempotent; any thread.
 *
 * Returns 0; INFORMER_E_FORKED
 */
INFORMER_API int informer_pause_handler(struct informer_handler *handler, bool pause);

/* Whether the resource's first list is in and every object that was there has been told. */
INFORMER_API bool informer_handler_has_synced(const struct informer_handler *handler);
/*
 * Until then; not from within a handler. NULL: all handlers of the handle. Another thread has to dispatch, or
 * informer_run(). 0, -ETIMEDOUT, INFORMER_E_FORKED.
 */
INFORMER_API int informer_wait_handler_synced(struct informer *informer, struct informer_handler *handler,
					      int timeout_ms);

/*
 * Where it stands; within a call, of the event that is being told. What was not told yet has a higher seq, so
 * it may be acknowledged once the event is done. Between on_resync_begin and on_resync_end it stays what it
 * was before: until all is told anew, nothing is done.
 */
INFORMER_API int informer_handler_cursor(const struct informer_handler *handler,
					 struct informer_cursor *ret_cursor);

/*
 * With manual_ack: everything up to this cursor is done and need not be told again after a restart. Lower
 * ones than before, and those of another lineage, change nothing. Cost: one store; the daemon keeps it with
 * one of its next commits (within a second).
 */
INFORMER_API int informer_acknowledge(struct informer_handler *handler, const struct informer_cursor *cursor);

/*
 * size        to be set by the caller: sizeof(struct informer_handler_stats)
 * events      calls of on_add, on_update and on_delete so far
 * waiting     entries in the queue that are not told yet
 * coalesced, resyncs   how often on_overflow told either
 * lag_seq     changes (of any resource) between where it stands and the newest commit
 * keys        of objects that it was told of and that are present
 */
struct informer_handler_stats {
	size_t size;
	uint64_t events;
	uint64_t waiting;
	uint64_t coalesced;
	uint64_t resyncs;
	uint64_t lag_seq;
	bool synced;
	bool subscribed;
	uint64_t keys;
};
INFORMER_API int informer_handler_stats(const struct informer_handler *handler,
					struct informer_handler_stats *stats);

/* ---- pulling ------------------------------------------------------------ */

enum informer_change_kind {
	INFORMER_CHANGE_ADDED = 1,
	INFORMER_CHANGE_UPDATED,
	INFORMER_CHANGE_DELETED,
	INFORMER_CHANGE_SYNCED,       /* as on_synced */
	INFORMER_CHANGE_COALESCED,    /* as on_overflow says it */
	INFORMER_CHANGE_RESYNC_BEGIN, /* as on_resync_begin */
	INFORMER_CHANGE_RESYNC_END,
	INFORMER_CHANGE_ERROR, /* as on_error */
};

/*
 * What a function of the handler would be called with. Later versions may append fields.
 *
 * is_initial, final_state_known  of ADDED, of DELETED
 * object   of ADDED, UPDATED, DELETED; else NULL
 * old      of UPDATED; NULL: not known
 * status   of ERROR; else NULL
 */
struct informer_change {
	enum informer_change_kind kind;
	bool is_initial;
	bool final_state_known;
	const struct informer_object *object;
	const struct informer_object *old;
	const struct informer_watch_status *status;
};

/*
 * The next change of a handler that was added with pull. A caller in an event loop calls it with timeout 0
 * when informer_fd() is readable, until it returns 0.
 *
 * timeout_ms  how long to wait for a change: 0: not at all, negative: for ever
 * ret_change  lent, with all that it points to, until the next call with this handler, its removal or the
 *             handle's end; NULL where there is none. The change counts as told with the next call.
 * Returns     1; 0: no change came in that time; -EINVAL: a handler without pull; -EBUSY: another thread is
 * in this function with the same handler; INFORMER_E_STOPPED: the handler was removed, or informer_stop() was
 * called; INFORMER_E_FORKED Threads     one at a time for a handler; not the same one each time Cost        a
 * call of on_add and the like, without a system call while changes wait
 */
INFORMER_API int informer_changes_next(struct informer_handler *handler, int timeout_ms,
				       const struct informer_change **ret_change);

/* ---- driving ------------------------------------------------------------ */

/*
 * Own threads: one that sleeps on informer_fd(), and as many more as there are handlers with something to do,
 * so that a slow handler delays no other. They are started as needed, have all signals blocked, and sleep
 * without system calls while nothing happens. informer_dispatch() then does nothing.
 *
 * Returns 0; also when it runs already; -EAGAIN, -ENOMEM; INFORMER_E_STOPPED; INFORMER_E_FORKED
 */
INFORMER_API int informer_run(struct informer *informer);

/*
 * Stop: no new events are taken, what runs is waited for, threads end, each handler gets on_done. Handlers
 * cannot be added afterwards; lookups go on. Idempotent. Not from within a handler: -EDEADLK.
 */
INFORMER_API int informer_stop(struct informer *informer);

/* ---- objects that stay -------------------------------------------------- */

/*
 * Copy an object, so that it outlives its snapshot, its handler call, and the handle. All functions on
 * objects and values take the copy; its snapshot_ is its own, in which there are no resources. Free it with
 * informer_object_free(). A copy is immutable and may be used by several threads. It is private memory: a
 * forked child may use, and free, its own.
 *
 * informer_object_position() of a copy is that of its source, and says something only about snapshots of the
 * source's time.
 *
 * ret_copy  may be the object itself
 * Cost      one allocation of about 1.3 times the JSON text's length, and a walk over all its values. The
 *           mean of 35 real pods (8.9 kB of JSON): 11.7 kB and 7 microseconds; writing their JSON takes 40
 * Returns   0, -ENOMEM, INFORMER_E_CORRUPT, INFORMER_E_EXPIRED, INFORMER_E_FORKED, -EINVAL
 */
INFORMER_API int informer_object_copy(struct informer *informer, const struct informer_object *object,
				      struct informer_object *ret_copy);
/* NULL, and one that is all zero, are fine; one that is no copy is left alone. */
INFORMER_API void informer_object_free(struct informer_object *copy);

/*
 * The key, "namespace/name" or "name": for objects of all kinds, tombstones and key-only ones included
 * (client-go's DeletionHandlingMetaNamespaceKeyFunc).
 *
 * ret_length  of the key, whether it fitted (length < size) or not; terminated when size > 0
 */
INFORMER_API int informer_object_key(const struct informer_object *object, char *buffer, size_t size,
				     size_t *ret_length);

/* ---- deleted objects ---------------------------------------------------- */

enum informer_by {
	INFORMER_BY_KEY,	  /* "namespace/name" or "name" */
	INFORMER_BY_UID,
	INFORMER_BY_IP,		  /* pods; hostNetwork ones are passed over, finished ones are not */
	INFORMER_BY_CONTAINER_ID, /* pods; with or without "containerd://" */
};

/*
 * Look an object up that is present or was deleted a short while ago (the daemon keeps deleted ones for some
 * minutes, at least 60 s unless a cap forbids): log lines and flow records arrive after their pods are gone.
 * What is present comes first (by address: what runs, then what has finished, the last one); of several
 * deleted ones the last.
 *
 * ret_deleted  it was deleted (informer_object_deleted() says when); may be NULL
 * Returns      as informer_get()
 */
INFORMER_API int informer_find(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			       enum informer_by by, const char *value, size_t length,
			       struct informer_object *ret_object, bool *ret_deleted);
/*
 * Every deleted object that is remembered, of several entries' one entry after the other, the oldest deletion
 * first. A non-zero result of each stops and is returned.
 * Cost  a walk over the last change of every object, present ones too
 */
INFORMER_API int informer_each_deleted(const struct informer_snapshot *snapshot,
				       struct informer_resource *resource,
				       int (*each)(void *context, const struct informer_object *object),
				       void *context);
/*
 * Whether an object was found as a deleted one, by informer_find(), informer_each_deleted() or an on_delete,
 * or is a copy of such a one.
 * ret_wall_ns  CLOCK_REALTIME at which the daemon learnt of it, 0 when that is not known any more; may be
 *              NULL
 */
INFORMER_API bool informer_object_deleted(const struct informer_object *object, uint64_t *ret_wall_ns);

/*
 * What the daemon knows of a deletion, of an object that informer_find() or informer_each_deleted() gave.
 *
 * size     to be set by the caller: sizeof(struct informer_deletion)
 * wall_ns  as informer_object_deleted() says
 * seq      of the deletion; the object's own is that of its last change
 * seen     the API server told of it: the object is its final state, at the deletion's resourceVersion.
 *          Else a later list lacked it, and the object is the last state that was known
 *
 * Returns 0; INFORMER_E_NOT_FOUND: the object is present, or a copy, or what an on_delete gave and the
 *         snapshot does not remember; INFORMER_E_CORRUPT, INFORMER_E_EXPIRED
 */
struct informer_deletion {
	size_t size;
	uint64_t wall_ns;
	uint64_t seq;
	bool seen;
};
INFORMER_API int informer_object_deletion(const struct informer_object *object,
					  struct informer_deletion *ret_deletion);

#ifdef __cplusplus
}
#endif

#endif
