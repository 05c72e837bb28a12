/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer: factories, shared informers, listers and private indexes, as client-go has them. Pages:
 * informer_factory(3), informer_lister(3), informer_add_index(3).
 *
 *	struct informer_factory *factory;
 *	struct informer_shared *pods;
 *
 *	informer_factory_new(inf, NULL, &factory);
 *	informer_factory_for(factory, "pods", &pods);		the same informer each time
 *	informer_shared_add_handler(pods, &options, NULL);
 *	informer_factory_start(factory);
 *	informer_run(inf);					or informer_dispatch() in an event loop
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
 * Settings of one resource's informer, instead of the factory's. Strings are copied.
 *
 * resource         a name for informer_resource_open(), or group/version/resource: "apps/v1/deployments",
 *                  "v1/pods"
 * resync_ms        default resync; 0: the factory's; INFORMER_NO_RESYNC: none
 * label_selector, field_selector   must match as well as the handler's own. NULL: none
 */
struct informer_tweak {
	const char *resource;
	uint32_t resync_ms;
	const char *label_selector;
	const char *field_selector;
};

/*
 * Strings are copied.
 *
 * size         sizeof(struct informer_factory_options)
 * namespace_   the only namespace shown; NULL or "": all. Cluster-scoped resources ignore it
 * resync_ms    default resync of handlers without their own; 0: none
 * tweaks       a resource's last tweak counts
 * keep, drop   transform: at most 64 paths each ("metadata.managedFields", "spec.containers[*].env"). Objects
 *              show the paths in keep (NULL: all), without those in drop; apiVersion, kind, metadata.name,
 *              .namespace, .uid and .resourceVersion always stay. Selectors see the whole object. A shown
 *              object is a copy, freed with its snapshot or call; cost: informer_object_copy(). Without
 *              memory for the copy, a handler gets the whole object
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
 * Make a factory; a handle may have several. options NULL: defaults.
 *
 * Returns 0, -EINVAL, INFORMER_E_SYNTAX, -E2BIG (more than 64 paths), -ENOMEM, INFORMER_E_FORKED
 */
INFORMER_API int informer_factory_new(struct informer *informer,
				      const struct informer_factory_options *options,
				      struct informer_factory **ret_factory);

/*
 * The factory's informer of a resource: the same at each call, owned by the factory. "po" and "pods" give the
 * same informer once an arena is attached.
 *
 * Returns 0; -EINVAL: a bad resource name; -ENOMEM; INFORMER_E_FORKED
 */
INFORMER_API int informer_factory_for(struct informer_factory *factory, const char *resource,
				      struct informer_shared **ret_shared);
/* A new informer at each call, owned by the factory (client-go's NewSharedIndexInformer). */
INFORMER_API int informer_factory_new_exclusive(struct informer_factory *factory, const char *resource,
						struct informer_shared **ret_shared);

/*
 * Start every informer that does not run yet; call it again after making informers. It makes no thread.
 *
 * Returns 0; INFORMER_E_STOPPED after informer_stop(); INFORMER_E_FORKED
 */
INFORMER_API int informer_factory_start(struct informer_factory *factory);

/*
 * Wait until all started informers are synced: the first list is in, and every handler got the objects that
 * existed. Another thread must call the handlers meanwhile. Not within a handler.
 *
 * each        gets each started informer's outcome, and its first requested name; may be NULL
 * timeout_ms  negative: no limit
 * Returns     0; -ETIMEDOUT; INFORMER_E_NO_RESOURCE (informerd runs and does not cache one of them; at once);
 *             INFORMER_E_FORKED; INFORMER_E_BUSY; INFORMER_E_CORRUPT
 */
INFORMER_API int informer_factory_wait_synced(struct informer_factory *factory, int timeout_ms,
					      void (*each)(void *context, const char *resource, bool synced),
					      void *context);

/*
 * One thing to wait for: set one of the first four fields.
 *
 * resource  its first list is in
 * handler   the handler got all objects that existed
 * shared    both, for this informer; if not started it counts as missing at once
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
 * Wait until all of them are synced (client-go's WaitForCacheSync), as informer_factory_wait_synced() does.
 *
 * Returns  as that; -ETIMEDOUT: `synced` and informer_error_text() say what is missing; -EINVAL: an entry
 *          without exactly one field, or of another handle; -ENOMEM
 */
INFORMER_API int informer_wait_all_synced(struct informer *informer, struct informer_sync *syncs,
					  size_t count, int timeout_ms);

/*
 * Remove the handlers, wait for running calls, and free the factory, informers, listers and indexes. Call it
 * before informer_detach(), not within a handler, and while no other thread uses the factory. The handle and
 * other factories go on. NULL is fine.
 */
INFORMER_API void informer_factory_shutdown(struct informer_factory *factory);

/* ---- shared informer ---------------------------------------------------- */

/*
 * informer_add_handler() with the informer's resource, namespace, selectors and resync. Both selectors must
 * match. In options, resource and namespace_ are NULL or the informer's; resync_ms 0: the informer's. Calls
 * begin after the start.
 *
 * Returns as informer_add_handler(); INFORMER_E_STOPPED also while the factory shuts down
 */
INFORMER_API int informer_shared_add_handler(struct informer_shared *shared,
					     const struct informer_handler_options *options,
					     struct informer_handler **ret_handler);
/* Whether it is started, its first list is in, and every handler got the objects that existed. */
INFORMER_API bool informer_shared_has_synced(const struct informer_shared *shared);
/* True during the factory's shutdown and after informer_stop(). */
INFORMER_API bool informer_shared_is_stopped(const struct informer_shared *shared);
/* The informer owns the lister. */
INFORMER_API struct informer_lister *informer_shared_lister(struct informer_shared *shared);

/* ---- listers ------------------------------------------------------------ */

/*
 * A lister shows the objects of a snapshot that match the informer's namespace and selectors, transformed.
 * Lookups in one snapshot agree, across listers, resources and informer_get(). Objects are valid until
 * informer_end(). Any number of threads; one at a time per snapshot.
 */
/*
 * ns  "" or NULL: cluster-scoped
 *
 * Returns as informer_get(). INFORMER_E_NOT_FOUND: informer_error_text() says: pods "web-0" not found
 */
INFORMER_API int informer_lister_get_z(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *ns,
				       const char *name, struct informer_object *ret_object);
INFORMER_API int informer_lister_get(struct informer_lister *lister, const struct informer_snapshot *snapshot,
				     const char *ns, size_t ns_length, const char *name, size_t name_length,
				     struct informer_object *ret_object);
/*
 * Call each for every object of ns that the selector matches, in no order.
 *
 * ns        NULL or "": all namespaces
 * selector  a label selector; NULL or "": all objects
 * each      a result other than 0 ends the call and is returned; may use the lister
 * Returns   0; INFORMER_E_SYNTAX; what each or lookups return
 */
INFORMER_API int informer_lister_list(struct informer_lister *lister,
				      const struct informer_snapshot *snapshot, const char *ns,
				      const char *selector,
				      int (*each)(void *context, const struct informer_object *object),
				      void *context);
/*
 * Call each once for every object that has the value in an index of informerd or of informer_add_index(), in
 * order of key.
 *
 * Returns  0; INFORMER_E_NO_INDEX; what each or lookups return; -ENOMEM
 * Cost     objects are gathered first: 64 bytes and the key's length each, until the call returns
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
 * The same for all values that `object` has in the index (client-go's Index).
 *
 * Returns  the same; -EINVAL: an object of another resource
 */
INFORMER_API int informer_lister_index(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *index,
				       const struct informer_object *object,
				       int (*each)(void *context, const struct informer_object *object),
				       void *context);

/* ---- private indexes ---------------------------------------------------- */

/*
 * Add an index by a function of the program to a lister, which owns the index. The store may be filled.
 *
 * function   calls emit for each value of the object; a repeated value counts once. The values must depend on
 *            the object alone. Must not use an index
 * Returns    0; -EEXIST: the lister or informerd has an index of this name (while nothing is attached,
 *            informerd's are unknown, and the private index is used); -EINVAL; -ENOMEM; INFORMER_E_FORKED
 * Cost       calls of function: for every object at the first use, then for objects that changed since; in
 *            an older snapshot for objects that changed after it; for every object again when informerd
 *            forgot deletions since, or rebuilt its store. Memory: 50 bytes per value of an object, 100 per
 *            object with values, 60 per distinct value, and the lengths of keys and values
 * Threads    any number; each index has a lock, under which function runs
 */
typedef void (*informer_emit_value)(void *emit_context, const char *value, size_t length);
INFORMER_API int informer_add_index(struct informer_lister *lister, const char *name,
				    void (*function)(void *context, const struct informer_object *object,
						     informer_emit_value emit, void *emit_context),
				    void *context);
/*
 * Call each once for every value in the snapshot, in no order, for informerd's indexes too. An unknown index
 * has no values. A result of each other than 0 ends the call and is returned.
 *
 * Cost  for an index of informerd: every object is read
 */
INFORMER_API int informer_index_values(struct informer_lister *lister,
				       const struct informer_snapshot *snapshot, const char *index,
				       int (*each)(void *context, const char *value, size_t length),
				       void *context);

#ifdef __cplusplus
}
#endif

#endif
