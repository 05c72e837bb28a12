/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, shared informers, listers and private indexes: the shape that client-go's users know, over
 * informer-handlers.h.
 *
 *	struct informer_factory *factory;
 *	struct informer_shared *pods;
 *
 *	informer_factory_new(inf, NULL, &factory);
 *	informer_factory_for(factory, "pods", &pods);		the same one each time
 *	informer_shared_add_handler(pods, &options, NULL);
 *	informer_factory_start(factory);
 *	informer_run(inf);					or dispatch in an event loop of your own
 *	informer_factory_wait_synced(factory, 5000, NULL, NULL);
 *	…
 *	informer_factory_shutdown(factory);			before informer_detach()
 */
#ifndef INFORMER_FACTORY_H
#define INFORMER_FACTORY_H

#include "informer-handlers.h"

#ifdef __cplusplus
extern "C" {
#endif

struct informer_factory;
struct informer_shared;
struct informer_lister;
struct informer_handler;
struct informer_handler_options;

/* ---- factory ------------------------------------------------------------ */

/*
 * How one resource's informer differs from the factory's defaults. Strings are copied.
 *
 * resource         as informer_resource_open() takes it, or by group/version/resource: "apps/v1/deployments",
 *                  "v1/pods"
 * resync_ms        its default resync; 0: the factory's; INFORMER_NO_RESYNC: none, whatever the factory's
 * label_selector, field_selector   its tweak: combined (and) with those a handler brings. NULL: none
 */
struct informer_tweak {
	const char *resource;
	uint32_t resync_ms;
	const char *label_selector;
	const char *field_selector;
};

/*
 * size         sizeof(struct informer_factory_options)
 * namespace_   of all its informers; NULL or "": all namespaces. Resources without namespaces do not care
 * resync_ms    default resync of all handlers; one that brings its own keeps it. 0: none
 * tweaks       n_tweaks of them; later ones win
 * keep, drop   transform: paths of objects as this process sees them, in handlers, listers and indexes
 *              ("metadata.managedFields", "spec.containers[*].env"): only what keep names (and apiVersion,
 *              kind, metadata.name, .namespace, .uid, .resourceVersion always), without what drop names.
 *              NULL: everything. An object that is transformed is copied: see informer_object_copy() for the
 *              cost; the copy is freed with its snapshot or call. Selectors are matched before. A handler
 *              that is called while there is no memory for a copy is given the object as it is
 */
struct informer_factory_options {
	size_t size;
	const char *namespace_;
	uint32_t resync_ms;
	const struct informer_tweak *tweaks;
	size_t n_tweaks;
	const char *const *keep;
	size_t n_keep;
	const char *const *drop;
	size_t n_drop;
};

/*
 * options NULL: defaults. Returns 0, -EINVAL, INFORMER_E_SYNTAX, -ENOMEM, INFORMER_E_FORKED. Several may
 * share a handle.
 */
INFORMER_API int informer_factory_new(struct informer *informer,
				      const struct informer_factory_options *options,
				      struct informer_factory **ret_factory);

/*
 * The factory's informer of a resource: made at the first call, the same at each other one, under whatever
 * name (while nothing is attached: under names that are equal). Lent by the factory.
 *
 * Returns 0; -EINVAL: no resource name; -ENOMEM; INFORMER_E_FORKED
 */
INFORMER_API int informer_factory_for(struct informer_factory *factory, const char *resource,
				      struct informer_shared **ret_shared);
/* One of its own, in no list of the factory's but shut down with it (client-go's NewSharedIndexInformer). */
INFORMER_API int informer_factory_new_exclusive(struct informer_factory *factory, const char *resource,
						struct informer_shared **ret_shared);

/*
 * Start every informer that was asked for and does not run yet. Idempotent; to be called again after new ones
 * were asked for. Calls are made by informer_run()'s threads, or by informer_dispatch().
 *
 * Returns 0; INFORMER_E_STOPPED after informer_stop(); INFORMER_E_FORKED
 */
INFORMER_API int informer_factory_start(struct informer_factory *factory);

/*
 * Wait until all started informers are synced: the store, and every handler (somebody has to run or dispatch
 * meanwhile; not from within a handler).
 *
 * each     called for every started informer with the outcome, and the name by which it was asked for first;
 *          may be NULL
 * Returns  0 all are; -ETIMEDOUT; INFORMER_E_FORKED; what informer_wait_synced() says of a damaged arena or
 *          too many pins
 */
INFORMER_API int informer_factory_wait_synced(struct informer_factory *factory, int timeout_ms,
					      void (*each)(void *context, const char *resource, bool synced),
					      void *context);

/*
 * One of the things to wait for: one of the first four, the others NULL.
 *
 * resource  its first list is in, as for informer_wait_synced()
 * handler   it was told of everything that was there
 * shared    both, of an informer that was started; one that was not is missing at once
 * factory   all its started informers
 * synced    set by the call
 */
struct informer_sync {
	const char *resource;
	struct informer_handler *handler;
	struct informer_shared *shared;
	struct informer_factory *factory;
	bool synced;
};
/*
 * Wait until all of them are synced, in whatever mixture (client-go's WaitForCacheSync over several
 * HasSynced). Somebody has to run or dispatch meanwhile where there are handlers; not from within a handler.
 *
 * Returns  0; -ETIMEDOUT: `synced` and informer_error_text() say what is missing; -EINVAL: one is not of this
 *          handle, or not exactly one thing; INFORMER_E_FORKED; what informer_wait_synced() says of a damaged
 *          arena or too many pins
 */
INFORMER_API int informer_wait_all_synced(struct informer *informer, struct informer_sync *syncs,
					  size_t count, int timeout_ms);

/*
 * Stop its informers, wait for handlers that run, free it, its informers and their listers. NULL is fine. The
 * handle, and other factories, go on.
 */
INFORMER_API void informer_factory_shutdown(struct informer_factory *factory);

/* ---- shared informer ---------------------------------------------------- */

/*
 * Like informer_add_handler(), with the informer's resource, namespace, selectors and resync put in where
 * options have none (options->resource and namespace_ must be NULL or the same; resync_ms 0: the informer's;
 * INFORMER_NO_RESYNC: none, whatever the default). Before or after start: nothing is told before the start.
 *
 * Returns as informer_add_handler(); INFORMER_E_STOPPED also while the factory is shut down
 */
INFORMER_API int informer_shared_add_handler(struct informer_shared *shared,
					     const struct informer_handler_options *options,
					     struct informer_handler **ret_handler);
/* Started, the store is synced, and every handler was told of what was there. */
INFORMER_API bool informer_shared_has_synced(const struct informer_shared *shared);
/* Its factory is being shut down, or informer_stop() was called: it takes no handlers. */
INFORMER_API bool informer_shared_is_stopped(const struct informer_shared *shared);
/* Lent; lives as long as the informer. */
INFORMER_API struct informer_lister *informer_shared_lister(struct informer_shared *shared);

/* ---- listers ------------------------------------------------------------ */

/*
 * What the informer's selectors, namespace and transform leave of a snapshot. All in one snapshot agree with
 * each other, and with lookups by name, also across resources.
 */
/*
 * Returns 0 or INFORMER_E_NOT_FOUND; informer_error_text() then says: pods "web-0" not found. ns "" or NULL:
 * cluster-scoped.
 */
INFORMER_API int informer_lister_get_z(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *ns,
				       const char *name, struct informer_object *ret_object);
INFORMER_API int informer_lister_get(struct informer_lister *lister, const struct informer_snapshot *snapshot,
				     const char *ns, size_t ns_length, const char *name, size_t name_length,
				     struct informer_object *ret_object);
/*
 * ns        NULL or "": all
 * selector  text; NULL or "": all
 * each      a non-zero result stops and is returned
 */
INFORMER_API int informer_lister_list(struct informer_lister *lister,
				      const struct informer_snapshot *snapshot, const char *ns,
				      const char *selector,
				      int (*each)(void *context, const struct informer_object *object),
				      void *context);
/*
 * By one of the daemon's indexes, or one of informer_add_index()'s: in order of key, each object once. What
 * is found is gathered first (64 bytes and the key's length each, until the call returns).
 *
 * Returns  0; INFORMER_E_NO_INDEX; what each returned; what lookups return
 */
INFORMER_API int informer_lister_by_index(struct informer_lister *lister,
					  const struct informer_snapshot *snapshot, const char *index,
					  const char *value, size_t value_length,
					  int (*each)(void *context, const struct informer_object *object),
					  void *context);
INFORMER_API int informer_lister_by_index_z(struct informer_lister *lister,
					    const struct informer_snapshot *snapshot, const char *index,
					    const char *value,
					    int (*each)(void *context, const struct informer_object *object),
					    void *context);
/*
 * The same for all values that an object has (client-go's Index): those that share one with it. Of the same
 * resource, else -EINVAL.
 */
INFORMER_API int informer_lister_index(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *index,
				       const struct informer_object *object,
				       int (*each)(void *context, const struct informer_object *object),
				       void *context);

/* ---- private indexes ---------------------------------------------------- */

/*
 * An index by an arbitrary function, private to this process, also on a filled store.
 *
 * function   calls emit for each value of the object, any number of times (one that comes twice counts once).
 *            Must depend on the object alone, and use no index
 * Returns    0; -EEXIST: the name is taken, also by one of the daemon's (as far as that can be seen while
 *            nothing is attached: then the private one is used); -EINVAL; -ENOMEM; INFORMER_E_FORKED
 * Cost       the first use calls function for every object present; each later use for those that changed
 *            since. In a snapshot that is older than one it was used with: for those that changed after it.
 *            When the daemon has forgotten deletions that are younger than the last use, or lists anew: for
 *            every object again. Private memory: about 50 bytes a value of an object, 100 an object that has
 *            any and 60 a value, and the lengths of keys and values
 * Threads    uses of one index are serialised by a lock, under which function is called
 */
typedef void (*informer_emit_value)(void *emit_context, const char *value, size_t length);
INFORMER_API int informer_add_index(struct informer_lister *lister, const char *name,
				    void (*function)(void *context, const struct informer_object *object,
						     informer_emit_value emit, void *emit_context),
				    void *context);
/*
 * The values that some object has, each once, in no order; of the daemon's indexes too. Of an unknown index:
 * none. A non-zero result of each stops and is returned. Cost: of the daemon's, a look at every object.
 */
INFORMER_API int informer_index_values(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *index,
				       int (*each)(void *context, const char *value, size_t length),
				       void *context);

#ifdef __cplusplus
}
#endif

#endif
