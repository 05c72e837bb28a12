/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which objects, and which part of them, a shared informer shows to its lister, private indexes and
 * handlers.
 */
#include <string.h>

#include "reader-lib/read/copy.h"
#include "reader-lib/factory/scope.h"

int
scope_has(const struct scope *scope, const struct informer_object *object)
{
	const char *ns;
	size_t length;
	int r;

	if (scope->namespace_length > 0) {
		r = informer_object_namespace(object, &ns, &length);
		if (r < 0)
			return r;
		if (length > 0 &&
		    (length != scope->namespace_length || memcmp(ns, scope->namespace_, length) != 0))
			return 0;
	}
	r = scope->labels ? informer_label_selector_matches(scope->labels, object) : 1;
	return r > 0 && scope->fields ? informer_field_selector_matches(scope->fields, object) : r;
}

int
scope_show(const struct scope *scope, const struct informer_object *object,
	   struct informer_object *ret_object)
{
	if (scope->transform)
		return object_copy_lent(scope->inf, object, scope->transform, ret_object);
	*ret_object = *object;
	return 0;
}

/* Whether the resource's objects have namespaces at all. */
static int
is_namespaced(const struct scope *scope, const struct informer_snapshot *snapshot)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	int r = informer_resource_info(snapshot, scope->resource, &info);

	return r < 0 ? r : info.namespaced;
}

int
scope_start(struct scope_walk *walk, const struct scope *scope, const struct informer_snapshot *snapshot,
	    const char *ns, size_t ns_length, const struct informer_label_selector *selector)
{
	int r;

	walk->scope = scope;
	walk->nothing = false;
	if (scope->namespace_length > 0) {
		r = is_namespaced(scope, snapshot);
		if (r < 0)
			return r;
		if (r > 0 && ns_length == 0) {
			ns = scope->namespace_;
			ns_length = scope->namespace_length;
		} else if (r > 0) {
			walk->nothing = ns_length != scope->namespace_length ||
					memcmp(ns, scope->namespace_, ns_length) != 0;
		}
	}
	return informer_select(snapshot, scope->resource, ns, ns_length, selector ? selector : scope->labels,
			       &walk->it);
}

int
scope_next(struct scope_walk *walk, struct informer_object *ret_object)
{
	int r, has;

	if (walk->nothing)
		return 0;
	while ((r = informer_next(&walk->it, ret_object)) > 0) {
		has = scope_has(walk->scope, ret_object);
		if (has != 0)
			return has;
	}
	return r;
}
