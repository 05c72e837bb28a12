/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an object up its controllers to the workload.
 */
#include <errno.h>
#include <string.h>

#include "reader-lib/informer-node.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/kind_lookup.h"
#include "reader-lib/read/known_text.h"

/* Controllers one above the other. More is a mistake, or a circle. */
#define DEPTH_MAX 8u

/* Pods of a ReplicaSet have its hash as a label, which tells what made the ReplicaSet. */
static const struct maker {
	const char *label;
	struct informer_text group, version, kind;
} makers[] = {
	{"rollouts-pod-template-hash", TEXT_OF("argoproj.io"), TEXT_OF("v1alpha1"), TEXT_OF("Rollout")},
	{"pod-template-hash", TEXT_OF("apps"), TEXT_OF("v1"), TEXT_OF("Deployment")},
};

static bool
is(struct informer_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.data, expected, text.length) == 0;
}

/* w, which has the namespace, becomes the object itself. */
static int
be_object(const struct snapshot *s, const struct informer_object *object, struct informer_workload *w)
{
	struct object_kind kind;
	int r;

	kind_of_object(s, object, &kind);
	w->cached = true;
	w->object = *object;
	w->group = kind.group;
	w->version = kind.version;
	w->kind = kind.kind;
	r = informer_object_name(object, &w->name.data, &w->name.length);
	if (r == 0)
		r = informer_object_uid(object, &w->uid.data, &w->uid.length);
	return r == INFORMER_E_NOT_FOUND ? 0 : r;
}

/* w becomes what a reference names. */
static void
be_reference(const struct informer_owner *owner, struct informer_workload *w)
{
	const char *slash = memchr(owner->api_version.data, '/', owner->api_version.length);
	size_t group = slash ? (size_t)(slash - owner->api_version.data) : 0, version = slash ? group + 1 : 0;

	w->cached = false;
	memset(&w->object, 0, sizeof(w->object));
	w->group = (struct informer_text){owner->api_version.data, group};
	w->version = (struct informer_text){owner->api_version.data + version,
					    owner->api_version.length - version};
	w->kind = owner->kind;
	w->name = owner->name;
	w->uid = owner->uid;
}

/* w is a ReplicaSet that is not cached: go on by its name, if the Pod below has the hash in it. */
static void
go_on_by_name(const struct informer_object *pod, struct informer_workload *w)
{
	if (!is(w->kind, "ReplicaSet") || !is(w->group, "apps"))
		return;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		struct informer_text hash, rest = w->name;

		if (informer_object_label(pod, makers[i].label, &hash.data, &hash.length) < 0 ||
		    hash.length == 0 || rest.length < hash.length + 2)
			continue;
		rest.length -= hash.length;
		if (memcmp(rest.data + rest.length, hash.data, hash.length) != 0 ||
		    rest.data[rest.length - 1] != '-')
			continue;
		rest.length--;
		w->from_names = true;
		w->group = makers[i].group;
		w->version = makers[i].version;
		w->kind = makers[i].kind;
		w->name = rest;
		w->uid = (struct informer_text){"", 0};
		return;
	}
}

/* The object that a reference means: of its name, and of its UID. */
static int
find_owner(const struct snapshot *s, const struct informer_owner *owner, const struct informer_text *ns,
	   struct informer_object *ret)
{
	struct informer_text uid;
	int r = object_of_kind(s, &owner->api_version, &owner->kind, ns, &owner->name, ret);

	if (r < 0)
		return r;
	r = informer_object_uid(ret, &uid.data, &uid.length);
	if (r == 0 && !text_same(uid, owner->uid))
		r = INFORMER_E_NOT_FOUND;
	return r;
}

static bool
is_lacking(int r)
{
	return r == INFORMER_E_NOT_FOUND || r == INFORMER_E_NO_RESOURCE;
}

static int
climb(const struct snapshot *s, const struct informer_object *object, struct informer_workload *w)
{
	struct informer_object at = *object, next;
	struct informer_owner owner;
	int r = informer_object_namespace(object, &w->ns.data, &w->ns.length);

	for (unsigned i = 0; i < DEPTH_MAX && r == 0; i++) {
		r = informer_object_controller(&at, &owner);
		if (r == INFORMER_E_NOT_FOUND || (r == 0 && is(owner.kind, "Node")))
			break;
		if (r == 0)
			r = find_owner(s, &owner, &w->ns, &next);
		if (is_lacking(r)) {
			be_reference(&owner, w);
			go_on_by_name(&at, w);
			return 0;
		}
		at = next;
	}
	return r == 0 || r == INFORMER_E_NOT_FOUND ? be_object(s, &at, w) : r;
}

int
informer_workload(const struct informer_object *object, struct informer_workload *ret_workload)
{
	struct informer_workload w = {0};
	const struct snapshot *s;
	int r = object_usable(object);

	if (r < 0)
		return r;
	if (!ret_workload || ret_workload->size < sizeof(w.size))
		return -EINVAL;
	s = snapshot_of(object->snapshot_);
	r = snapshot_validate(s, climb(s, object, &w));
	if (r < 0)
		return r;
	w.size = ret_workload->size;
	memcpy(ret_workload, &w, w.size < sizeof(w) ? w.size : sizeof(w));
	return 0;
}

int
informer_controller_of(const struct informer_object *object, struct informer_object *ret_controller)
{
	struct informer_object found;
	struct informer_owner owner;
	const struct snapshot *s;
	struct informer_text ns;
	int r = object_usable(object);

	if (r < 0 || !ret_controller)
		return r < 0 ? r : -EINVAL;
	s = snapshot_of(object->snapshot_);
	r = informer_object_controller(object, &owner);
	if (r == 0)
		r = informer_object_namespace(object, &ns.data, &ns.length);
	if (r == 0)
		r = find_owner(s, &owner, &ns, &found);
	r = snapshot_validate(s, r);
	if (r == 0)
		*ret_controller = found;
	return r;
}
