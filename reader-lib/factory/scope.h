/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scope: which objects of a snapshot a shared informer shows (namespace, selectors), and which part of them
 * (transform). Lister, private indexes and handlers of the informer use the same scope.
 */
#ifndef READER_LIB_FACTORY_SCOPE_H
#define READER_LIB_FACTORY_SCOPE_H

#include "reader-lib/informer.h"
#include "reader-lib/read/field_selector.h"
#include "reader-lib/read/path_set.h"

/*
 * All of it is borrowed.
 *
 * namespace_      "": all. Objects of cluster-scoped resources are in every namespace
 * labels, fields  NULL: all
 * transform       NULL: objects as they are
 */
struct scope {
	struct informer *inf;
	struct informer_resource *resource;
	const char *namespace_;
	size_t namespace_length;
	const struct informer_label_selector *labels;
	const struct informer_field_selector *fields;
	const struct path_set *transform;
};

/* Whether an object is in the scope: 1, 0, or negative. */
int scope_has(const struct scope *scope, const struct informer_object *object);
/* The part of an object that the scope shows, lent as the object is. ret_object may be the object itself. */
int scope_show(const struct scope *scope, const struct informer_object *object,
	       struct informer_object *ret_object);

/*
 * Step through the objects of a scope that are in one namespace (ns_length 0: all) and match a selector
 * (NULL: all).
 *
 *	for (r = scope_start(&walk, scope, snapshot, ns, ns_length, selector);
 *	     r == 0 && (r = scope_next(&walk, &object)) > 0; r = 0)
 *		use(&object);				as it is in the arena, not transformed
 */
struct scope_walk {
	const struct scope *scope;
	bool nothing;
	struct informer_iter it;
};
int scope_start(struct scope_walk *walk, const struct scope *scope, const struct informer_snapshot *snapshot,
		const char *ns, size_t ns_length, const struct informer_label_selector *selector);
/* Returns 1 and an object; 0 at the end; or negative. */
int scope_next(struct scope_walk *walk, struct informer_object *ret_object);

#endif
