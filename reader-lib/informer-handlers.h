/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, events: a handler gets every object of a resource, then each change. Pages:
 * informer_add_handler(3), informer_changes_next(3), informer_run(3), informer_object_copy(3),
 * informer_find(3).
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
 *	informer_run(inf);		threads call the handlers, until informer_stop()
 *
 * or, in your own event loop:
 *
 *	while (poll(&(struct pollfd){informer_fd(inf), POLLIN, 0}, 1, -1) >= 0)
 *		informer_dispatch(inf);
 *
 * or, with .pull = true, without functions:
 *
 *	while (informer_changes_next(handler, -1, &change) > 0)
 *		…
 *
 * What a handler gets (client-go's rules; informer-from-client-go(7) lists the differences):
 *
 * - First it gets every object that is present, as an add with is_initial; then each change, in order. The
 *   states of an object come in order, and the calls of a handler never overlap. An object that was deleted
 *   and created again under the same name is a delete and an add.
 * - Each handler has its own queue of bounded size in shared memory. A handler that keeps up gets every
 *   change, with old and new state.
 * - A handler that missed changes gets INFORMER_COALESCED in on_overflow. One add, update or delete for each
 *   key follows, from the state that the handler got last to the newest state; old is NULL. Then it gets each
 *   change again. This also holds when the handler was away for longer than the daemon remembers deletions,
 *   and when the daemon rebuilt its store.
 * - A consumer (see below) gets INFORMER_RESYNC when its process begins and the daemon does not have its
 *   cursor. Then every present object comes as an add with is_initial, between on_resync_begin and
 *   on_resync_end. An object that an earlier process got, and that does not come, is gone.
 * - For this, the library remembers the key of each present object that the handler got: 64 bytes of private
 *   memory and the key's length for each.
 * - A handler that is slow or hangs, or whose process dies, delays neither other handlers nor the daemon.
 *
 * Objects given to a handler are lent: valid until the call returns. informer_object_copy() keeps an object
 * for longer. During a long call, the daemon may revoke the snapshot (informer.h, Caveats): then calls on the
 * objects return INFORMER_E_EXPIRED. No event is lost: when the handle has attached again, the handler gets
 * an update or a delete of that object. Only after such a call may an event not follow from the one before: a
 * delete may come twice, an update or a delete may follow an add that could not be read, and an update may
 * follow a delete.
 *
 * A handler may call all functions of this library, informer_remove_handler() too, except informer_detach(),
 * informer_stop(), informer_wait_handler_synced() and informer_factory_shutdown().
 */
#ifndef INFORMER_HANDLERS_H
#define INFORMER_HANDLERS_H

#include "informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct informer_handler;

enum informer_overflow {
	/* changes were missed: one event for each key follows, with its newest state */
	INFORMER_COALESCED = 1,
	/* the daemon does not have the consumer's cursor: every present object follows */
	INFORMER_RESYNC = 2,
};

/*
 * A position in the order of changes: the handler got everything up to seq. seq only grows while lineage is
 * the same.
 */
struct informer_cursor {
	uint8_t lineage[16];
	uint64_t seq;
};

/*
 * What the daemon met while it listed or watched the resource (client-go's WatchErrorHandler).
 *
 * resource    its name, terminated
 * recovered   true: list and watch work again; the fields below are 0 or ""
 * http_code   0: there was no answer
 * reason      the API's word ("Expired", "Forbidden", …) or ""
 * message     a sentence
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
 * Every field except size and resource may be 0 or NULL. Strings are copied. The library calls one function
 * of a handler at a time, with context, and holds no lock.
 */
struct informer_handler_options {
	size_t size; /* sizeof(struct informer_handler_options) */

	/* ---- which objects: each condition that is not NULL or "" must hold ---- */

	/* A name for informer_resource_open(). Events begin when the daemon caches the resource. */
	const char *resource;
	const char *namespace_;
	/* An update after which an object matches is an add; after which it no longer matches, a delete. */
	const char *label_selector;
	/*
	 * Comma-separated path=value, path==value, path!=value on any path:
	 * "spec.nodeName=n1,status.phase!=Running". An absent field counts as "" (the API server's rule).
	 */
	const char *field_selector;
	/*
	 * A selector that is a function (client-go's FilteringResourceEventHandler). The answer must depend
	 * on the object alone: the library asks repeatedly, also about old states. It must not add, remove or
	 * pause handlers.
	 */
	bool (*filter)(void *context, const struct informer_object *object);

	/* ---- functions ---- */

	void *context; /* passed to filter and to all functions below */
	/*
	 * The library calls no function except filter: informer_changes_next() returns each change. All
	 * functions below must be NULL, resync_ms 0 or INFORMER_NO_RESYNC. Not for
	 * informer_shared_add_handler().
	 */
	bool pull;
	/* is_initial: the object was there before the handler, or comes in a RESYNC */
	void (*on_add)(void *context, const struct informer_object *object, bool is_initial);
	/* old NULL: not known (after COALESCED). old == object: a resync */
	void (*on_update)(void *context, const struct informer_object *old,
			  const struct informer_object *object);
	/*
	 * final_state_known: object is the last state (with selectors: the last that matched). Otherwise the
	 * object may have only its key: informer_object_key(), _name() and _namespace() read it.
	 */
	void (*on_delete)(void *context, const struct informer_object *object, bool final_state_known);
	/* The handler got every object that was there. Also called after each RESYNC. */
	void (*on_synced)(void *context);
	void (*on_overflow)(void *context, enum informer_overflow kind);
	void (*on_resync_begin)(void *context);
	void (*on_resync_end)(void *context);
	/* The status, and what it points to, are lent. */
	void (*on_error)(void *context, const struct informer_watch_status *status);
	/* The last call: context may be freed. informer_detach() in a forked child does not call it. */
	void (*on_done)(void *context);

	/* ---- how often, how much ---- */

	/*
	 * Once in this period each object comes again, as an update with old == object, unless an event of it
	 * waits. The calls are spread over the period; the daemon does nothing for them.
	 * 0: the factory's default (informer-factory.h), never without a factory; INFORMER_NO_RESYNC: never;
	 * 1 to 999 count as 1,000.
	 */
	uint32_t resync_ms;
	/* Entries of the queue, 24 bytes of shared memory each. 0: 4,096. The daemon may give fewer. */
	uint32_t queue_entries;
	/*
	 * The handler's name in `informerctl stat` and in informerd's log and metrics, cut to 91 bytes. NULL:
	 * the consumer's name, else the reader's.
	 */
	const char *name;

	/* ---- going on after a restart of the process ---- */

	/*
	 * A consumer's name, at most 91 bytes. Under it the daemon remembers for this user how far the
	 * handler got. After a restart of its process the handler goes on from there, without initial adds.
	 * The handler gets a RESYNC if the daemon does not have the name's cursor (the name is new or was not
	 * used for a week, or the arena was lost), or has forgotten a deletion since. One process at a time
	 * may use a name. Events that were not acknowledged may come again; an update or a delete may be of
	 * an object that never came.
	 */
	const char *consumer;
	/*
	 * true, only with consumer: events are done when informer_acknowledge() says so. false: when the
	 * handler's functions have returned.
	 */
	bool manual_ack;

	/* ---- values in place of objects ---- */

	/*
	 * Makes the handler's own value of an object (client-go's TransformFunc). NULL: no value. It must not
	 * add, remove or pause handlers.
	 */
	void *(*transform)(void *context, const struct informer_object *object);
	/*
	 * With transform, in place of on_add, on_update and on_delete: an object's value before and now. The
	 * library keeps each value with its key until the object is gone.
	 *
	 * old    the value that the handler got last, also after COALESCED or a RESYNC. NULL: there was none
	 * value  NULL: transform returned NULL; or the object is gone, and then object is as on_delete's
	 *
	 * old == value, not NULL: a resync. Both NULL: only for a consumer; the object is gone, and an
	 * earlier process may have got it. Before on_resync_end, each object that did not come again is
	 * reported gone.
	 */
	void (*on_value)(void *context, const struct informer_object *object, void *old, void *value);
	/*
	 * Frees a value, once: old after on_value has returned, all others before on_done. NULL: there is
	 * nothing to free.
	 */
	void (*release)(void *context, void *value);
};

/*
 * Add a handler, at any time. Its first calls come from the next informer_dispatch(), or from a thread of
 * informer_run(); never from within this function.
 *
 * ret_handler  for the functions below; may be NULL. Valid until informer_detach(), also when removed
 * Returns      0; -EINVAL: options that exclude each other; INFORMER_E_SYNTAX: a selector
 *              (informer_error_text() says where); -ENAMETOOLONG; -ENOMEM; -EUSERS: the handle has 64
 *              handlers; INFORMER_E_STOPPED after informer_stop()
 */
INFORMER_API int informer_add_handler(struct informer *informer,
				      const struct informer_handler_options *options,
				      struct informer_handler **ret_handler);

/*
 * Remove a handler; on_done is its last call. Called in another thread, this waits until a running call has
 * returned. Called within the handler, it makes the running call the last before on_done. A removed handler
 * may be removed again. Two handlers must not remove each other at the same time.
 */
INFORMER_API void informer_remove_handler(struct informer_handler *handler);

/*
 * Pause a handler, or let it go on: for programs that pass events on and have limited room. Called within
 * the handler, it makes the running call the last until the handler goes on, also amid initial adds or a
 * RESYNC. While paused, the handler holds no snapshot, its events do not make informer_fd() readable, and its
 * queue fills and overflows. A repeated call changes nothing. Any thread. Returns 0.
 */
INFORMER_API int informer_pause_handler(struct informer_handler *handler, bool pause);

/* Whether the first list is in, and the handler got every object that was there. */
INFORMER_API bool informer_handler_has_synced(const struct informer_handler *handler);
/*
 * Wait until then, while another thread makes the calls; not within a handler.
 *
 * handler     NULL: all handlers of the handle
 * timeout_ms  negative: no limit
 * Returns     0, -ETIMEDOUT
 */
INFORMER_API int informer_wait_handler_synced(struct informer *informer, struct informer_handler *handler,
					      int timeout_ms);

/*
 * How far the handler got; within a call, the position of the event of this call. Events that have not come
 * yet have a higher seq: so the cursor may be acknowledged when the event is done. Between on_resync_begin
 * and on_resync_end the cursor is that from before.
 */
INFORMER_API int informer_handler_cursor(const struct informer_handler *handler,
					 struct informer_cursor *ret_cursor);

/*
 * With manual_ack: everything up to this cursor is done, and does not come again after a restart. A cursor
 * that is lower than before, or of another lineage, has no effect. Cost: one store. The daemon stores the
 * cursor with a commit within a second.
 */
INFORMER_API int informer_acknowledge(struct informer_handler *handler, const struct informer_cursor *cursor);

/*
 * size        set by the caller: sizeof(struct informer_handler_stats)
 * events      adds, updates and deletes so far
 * waiting     unread entries of the queue
 * coalesced, resyncs   calls of on_overflow so far, of each kind
 * lag_seq     changes of any resource between the handler's cursor and the newest commit; 0 when the handler
 *             has read its queue
 * synced      as informer_handler_has_synced()
 * subscribed  the handler has a queue
 * keys        remembered keys: present objects that the handler got
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

/* ---- parking ----------------------------------------------------------- */

/*
 * The answer to a parked key.
 *
 * context   of the options; parked: of informer_park()
 * result    0; -ETIMEDOUT: the deadline came first; -ECANCELED: the handler was removed;
 *           INFORMER_E_NO_INDEX: informerd has no index by which such a key is found
 * object    the object, or its last state if it was deleted: informer_object_deleted(). NULL unless result is
 *           0. Lent for the call. If its reads return INFORMER_E_EXPIRED, park the key again
 */
typedef void informer_answer(void *context, void *parked, int result, const struct informer_object *object);

/*
 * size       sizeof(struct informer_parking_options)
 * resource   a name for informer_resource_open()
 * by         what the keys are, as for informer_find()
 * on_answer  called once for each parked key
 * on_done    the last call; may be NULL
 */
struct informer_parking_options {
	size_t size;
	const char *resource;
	enum informer_by by;
	void *context;
	informer_answer *on_answer;
	void (*on_done)(void *context);
};

/*
 * Add a handler that waits for objects by their keys: for an agent that meets a container, a Pod's UID or an
 * address before the API server tells of it. informer_dispatch() or a thread of informer_run() calls
 * on_answer; nothing is polled, and informerd does nothing for it.
 *
 * informer_remove_handler() removes the handler, informer_pause_handler() pauses it.
 * informer_handler_stats() gives the parked keys in `keys`, the answers in `events`.
 *
 * Returns  0; -EINVAL; -ENOMEM; INFORMER_E_STOPPED after informer_stop()
 */
INFORMER_API int informer_add_parking(struct informer *informer,
				      const struct informer_parking_options *options,
				      struct informer_handler **ret_handler);

/*
 * Park a key: on_answer is called once for it, never from within this function. An object that is present, or
 * that was deleted and is remembered (informer_find(3)), is the answer at the next turn. The same key may be
 * parked several times.
 *
 * key         as informer_find()'s value; copied
 * timeout_ms  until the deadline; negative: none; 0: on_answer comes after one look
 * parked      passed to on_answer
 * Returns     0; -EINVAL; -ENOMEM; INFORMER_E_STOPPED: the handler was removed
 * Threads     any, also within on_answer
 * Cost        some 200 bytes and the key's length. A commit that brings an object or an index value costs
 *             the smaller of: a comparison of each change with the keys, or a look-up of each key
 */
INFORMER_API int informer_park(struct informer_handler *handler, const char *key, size_t length,
			       int timeout_ms, void *parked);

/* ---- pulling ------------------------------------------------------------ */

enum informer_change_kind {
	INFORMER_CHANGE_ADDED = 1,
	INFORMER_CHANGE_UPDATED,
	INFORMER_CHANGE_DELETED,
	INFORMER_CHANGE_SYNCED,       /* as on_synced */
	INFORMER_CHANGE_COALESCED,    /* as on_overflow with INFORMER_COALESCED */
	INFORMER_CHANGE_RESYNC_BEGIN, /* as on_resync_begin */
	INFORMER_CHANGE_RESYNC_END,
	INFORMER_CHANGE_ERROR, /* as on_error */
};

/*
 * A change: the arguments with which a handler's function would be called. Later versions may append fields.
 *
 * is_initial         of ADDED
 * final_state_known  of DELETED
 * object             of ADDED, UPDATED, DELETED; else NULL
 * old                of UPDATED; NULL: not known
 * status             of ERROR; else NULL
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
 * The next change of a handler that was added with pull. In an event loop, call it with timeout 0 when
 * informer_fd() is readable, until it returns 0. The handler needs no informer_dispatch() and no
 * informer_run().
 *
 * timeout_ms  how long to wait for a change; 0: do not wait, negative: no limit
 * ret_change  lent, with all that it points to, until the next call with this handler, its removal or
 *             informer_detach(); NULL if there is no change. The change is done with the next call
 * Returns     1; 0: no change came in that time; -EINVAL: a handler without pull; -EBUSY: another thread is
 *             in this function with the same handler; INFORMER_E_STOPPED: the handler was removed, or
 *             informer_stop() was called
 * Threads     one at a time for a handler; any thread
 * Cost        that of a call of on_add; no system call while changes wait
 */
INFORMER_API int informer_changes_next(struct informer_handler *handler, int timeout_ms,
				       const struct informer_change **ret_change);

/* ---- driving ------------------------------------------------------------ */

/*
 * Let threads of the library call the handlers: one sleeps until there is work, and more start while several
 * handlers have events, so a slow handler delays no other. The threads block all signals, and make no system
 * call while nothing happens. informer_dispatch() then calls no handler.
 *
 * Returns 0, also if they run already; -EAGAIN, -ENOMEM: no thread could start; INFORMER_E_STOPPED
 */
INFORMER_API int informer_run(struct informer *informer);

/*
 * Stop: wait for running calls, end the threads, and call each handler's on_done. No handler can be added
 * afterwards; lookups go on. A repeated call changes nothing. Returns 0; -EDEADLK: called within a handler.
 */
INFORMER_API int informer_stop(struct informer *informer);

/* ---- objects that stay -------------------------------------------------- */

/*
 * Copy an object into private memory: the copy outlives its snapshot, its handler call and the handle, until
 * informer_object_free(). All functions on objects and values take the copy; its snapshot_ has no resources.
 * The copy never changes; several threads may read it. A forked child may read and free its own.
 *
 * informer_object_position() of a copy is that of its source, for snapshots of the source's time.
 *
 * ret_copy  may be the object itself
 * Cost      one allocation of about 1.3 times the JSON text's length, and a walk over all values. The mean of
 *           35 real pods (8.9 kB of JSON): 11.7 kB and 7 microseconds; writing their JSON takes 40
 * Returns   0, -ENOMEM, INFORMER_E_CORRUPT, INFORMER_E_EXPIRED
 */
INFORMER_API int informer_object_copy(struct informer *informer, const struct informer_object *object,
				      struct informer_object *ret_copy);
/* Free a copy. Does nothing for NULL, an all-zero object, or an object that is no copy. */
INFORMER_API void informer_object_free(struct informer_object *copy);

/*
 * Write the key, "namespace/name" or "name", of any object, also deleted and key-only ones (client-go's
 * DeletionHandlingMetaNamespaceKeyFunc): what fits, terminated if size > 0.
 *
 * ret_length  of the whole key, which has fitted if length < size; may be NULL
 */
INFORMER_API int informer_object_key(const struct informer_object *object, char *buffer, size_t size,
				     size_t *ret_length);

/* ---- deleted objects ---------------------------------------------------- */

/*
 * Find an object that is present or was deleted a short while ago: log lines and flow records arrive after
 * their pods are gone. By default the daemon remembers deleted objects for 300 s, at most 10,000 and 16 MiB
 * of each resource (tombstones in informerd(8)).
 *
 * A present object comes first: by IP, a pod that runs or will run, then the newest finished one. Of several
 * deleted objects, the last deleted one is found.
 *
 * ret_deleted  the object was deleted (informer_object_deleted() says when); may be NULL
 * Returns      as informer_get()
 */
INFORMER_API int informer_find(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			       enum informer_by by, const char *value, size_t length,
			       struct informer_object *ret_object, bool *ret_deleted);
/*
 * Call each for every deleted object that the daemon remembers: for each entry of the resource, the oldest
 * deletion first. A non-zero result of each stops and is returned.
 *
 * Cost  a walk over the last change of every object, also of present ones
 */
INFORMER_API int informer_each_deleted(const struct informer_snapshot *snapshot,
				       struct informer_resource *resource,
				       int (*each)(void *context, const struct informer_object *object),
				       void *context);
/*
 * Whether informer_find(), informer_each_deleted() or an on_delete gave this object as deleted; also for its
 * copy.
 *
 * ret_wall_ns  when the daemon learnt of the deletion (CLOCK_REALTIME); 0: not known; may be NULL
 */
INFORMER_API bool informer_object_deleted(const struct informer_object *object, uint64_t *ret_wall_ns);

/*
 * What the daemon knows of a deletion, for an object from informer_find() or informer_each_deleted().
 *
 * size     set by the caller: sizeof(struct informer_deletion)
 * wall_ns  as in informer_object_deleted()
 * seq      of the deletion; informer_object_seq() is that of the object's last change
 * seen     true: the API server reported the deletion, and the object is its final state, with the deletion's
 *          resourceVersion. false: a later list lacked the object, which is in its last known state
 *
 * Returns 0; INFORMER_E_NOT_FOUND: the object is present, a copy, or not remembered by the snapshot (possible
 *         for an object from on_delete); INFORMER_E_CORRUPT, INFORMER_E_EXPIRED
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
