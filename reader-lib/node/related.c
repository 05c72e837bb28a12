/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an object to its Namespace and its Node, in the object's snapshot.
 */
#include <errno.h>

#include "reader-lib/informer-node.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/kind_lookup.h"
#include "reader-lib/read/known_text.h"

/* The cluster-scoped object of the core group with this kind, and the name that r says is there. */
static int
core_object(const struct informer_object *object, int r, const struct informer_text *kind,
	    const struct informer_text *name, struct informer_object *ret_object)
{
	static const struct informer_text v1 = TEXT_OF("v1"), none = TEXT_OF("");
	const struct snapshot *s = snapshot_of(object->snapshot_);
	struct informer_object found;

	if (r == 0 && name->length == 0)
		r = INFORMER_E_NOT_FOUND;
	if (r == 0)
		r = object_of_kind(s, &v1, kind, &none, name, &found);
	r = snapshot_validate(s, r);
	if (r == 0)
		*ret_object = found;
	return r;
}

int
informer_namespace_of(const struct informer_object *object, struct informer_object *ret_namespace)
{
	static const struct informer_text kind = TEXT_OF("Namespace");
	int r = object_usable(object);
	struct informer_text name;

	if (r < 0 || !ret_namespace)
		return r < 0 ? r : -EINVAL;
	r = informer_object_namespace(object, &name.data, &name.length);
	return core_object(object, r, &kind, &name, ret_namespace);
}

int
informer_node_of(const struct informer_object *pod, struct informer_object *ret_node)
{
	static const struct informer_text kind = TEXT_OF("Node");
	int r = object_usable(pod);
	struct informer_text name;

	if (r < 0 || !ret_node)
		return r < 0 ? r : -EINVAL;
	r = informer_get_string_at(pod, "spec.nodeName", &name.data, &name.length);
	return core_object(pod, r, &kind, &name, ret_node);
}
