/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups by what the node knows: a UID, an address, a container's id.
 */
#include <string.h>

#include "reader-lib/read/find.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/lookup.h"
#include "shm-layout/known_field.h"
#include "shm-layout/ordinal.h"
#include "shm-layout/posting.h"

/*
 * An object with this value in the index of this role: any, or (newest) the one created last.
 *
 * fits  tells which objects count; NULL: all
 */
static int
one_of(const struct informer_snapshot *snapshot, struct informer_resource *res, enum index_role role,
       const char *value, size_t length, bool (*fits)(struct value body), bool newest,
       struct informer_object *ret_object)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct index_question q = {value, length, false};
	const struct object *best = NULL;
	struct informer_object found;
	const struct resource_binding *b;
	int r = snapshot_usable(s);

	if (r == 0 && (!value || !ret_object))
		r = -EINVAL;
	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->count && (newest || !best); i++) {
		const struct part *part = &b->parts[i];
		const struct resource *resource = part_resource(s, part);
		const struct index_def *filter;
		struct ordinal_iter it;
		uint32_t leaf;

		r = resource ? index_leaf(s, part, resource, part->definition->roles[role], &q, &leaf,
					  &filter)
			     : -EBADMSG;
		if (r > 0)
			r = ordinal_first(&it, &s->view, leaf);
		while (r > 0) {
			const struct object *o;
			uint32_t ref;

			r = ordinal_object(&s->view, resource->ordinals, it.ordinal, &ref, &o);
			if (r <= 0)
				return snapshot_validate(s, -EBADMSG);
			r = filter ? index_question_fits(&q, filter, value_of_object(&s->view, ref)) : 1;
			if (r < 0)
				break;
			if (r > 0 && (!best || o->created_seq > best->created_seq) &&
			    (!fits || fits(value_of_object(&s->view, ref)))) {
				best = o;
				object_set(&found, s, o, ref, part->position);
				if (!newest)
					break;
			}
			r = ordinal_next(&it);
		}
		if (r < 0)
			return snapshot_validate(s, r);
	}
	r = snapshot_validate(s, best ? 0 : INFORMER_E_NOT_FOUND);
	if (r == 0)
		*ret_object = found;
	return r;
}

static struct known_field spec = KNOWN_FIELD("spec"), on_host = KNOWN_FIELD("hostNetwork"),
			  status = KNOWN_FIELD("status"), phase = KNOWN_FIELD("phase");

bool
pod_on_host_network(struct value pod)
{
	bool host_network = false;

	value_bool(known_field(known_field(pod, &spec), &on_host), &host_network);
	return host_network;
}

static bool
has_own_address(struct value pod)
{
	return !pod_on_host_network(pod);
}

/* A pod answers at an address that is its own, and only until it has ended. */
static bool
owns_address(struct value pod)
{
	struct value is = known_field(known_field(pod, &status), &phase);

	return has_own_address(pod) && !value_equals_string(is, "Succeeded", 9) &&
	       !value_equals_string(is, "Failed", 6);
}

int
informer_get_by_uid(const struct informer_snapshot *snapshot, struct informer_resource *res, const char *uid,
		    size_t length, struct informer_object *ret_object)
{
	return one_of(snapshot, res, INDEX_ROLE_UID, uid, length, NULL, false, ret_object);
}

int
informer_pod_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *ip,
		   size_t length, struct informer_object *ret_object)
{
	return one_of(snapshot, pods, INDEX_ROLE_ADDRESS, ip, length, owns_address, false, ret_object);
}

int
pod_newest_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *ip,
		 size_t length, struct informer_object *ret_object)
{
	return one_of(snapshot, pods, INDEX_ROLE_ADDRESS, ip, length, has_own_address, true, ret_object);
}

void
container_id_strip(const char **id, size_t *length)
{
	const char *colon = memchr(*id, ':', *length);
	size_t scheme = colon ? (size_t)(colon - *id) + 3 : 0;

	if (colon && *length >= scheme && colon[1] == '/' && colon[2] == '/') {
		*id += scheme;
		*length -= scheme;
	}
}

int
informer_pod_by_container_id(const struct informer_snapshot *snapshot, struct informer_resource *pods,
			     const char *id, size_t length, struct informer_object *ret_object)
{
	if (id)
		container_id_strip(&id, &length);
	return one_of(snapshot, pods, INDEX_ROLE_CONTAINER, id, length, NULL, false, ret_object);
}
