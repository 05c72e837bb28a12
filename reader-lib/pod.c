/*
 * Lookups by what the node knows: a UID, an address, a container's id.
 */
#include <string.h>

#include "reader-lib/internal.h"

/* Step to the first object of an index that `fits` (NULL: any). which gives the number of the index. */
static int
first_of(const struct informer_snapshot *snapshot, struct informer_resource *res, int (*which)(const struct definition *),
	 const char *value, size_t length, bool (*fits)(struct value body), struct informer_object *ret_object)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct binding *b;
	int r = snapshot_usable(s);

	if (r == 0 && (!value || !ret_object))
		r = -EINVAL;
	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct part *part = &b->parts[i];
		const struct resource *entry = part_resource(s, part);
		struct ordinal_iter it;
		uint32_t leaf;

		r = entry ? index_leaf(s, part, entry, which(part->definition), value, length, &leaf) : -EBADMSG;
		if (r > 0)
			r = ordinal_first(&it, &s->view, leaf);
		while (r > 0) {
			const struct object *o;
			uint32_t ref;

			r = object_of_ordinal(s, entry, it.ordinal, &ref, &o);
			if (r <= 0)
				return snapshot_settle(s, -EBADMSG);
			if (!fits || fits(value_of_object(&s->view, ref))) {
				r = snapshot_settle(s, 0);
				if (r == 0)
					object_set(ret_object, s, o, ref, part->position);
				return r;
			}
			r = ordinal_next(&it);
		}
		if (r < 0)
			return snapshot_settle(s, r);
	}
	return snapshot_settle(s, INFORMER_E_NOT_FOUND);
}

static int
uid_index(const struct definition *d)
{
	return d->uid;
}

static int
address_index(const struct definition *d)
{
	return d->address;
}

static int
container_index(const struct definition *d)
{
	return d->container;
}

/* Only a pod of its own address, and one that runs or will, is who answers there. */
static bool
owns_address(struct value pod)
{
	struct value phase = value_at_name(value_at_name(pod, "status"), "phase");
	bool host_network = false;

	value_bool(value_at_name(value_at_name(pod, "spec"), "hostNetwork"), &host_network);
	return !host_network && !value_equals_string(phase, "Succeeded", 9) && !value_equals_string(phase, "Failed", 6);
}

int
informer_get_by_uid(const struct informer_snapshot *snapshot, struct informer_resource *res, const char *uid, size_t length,
		    struct informer_object *ret_object)
{
	return first_of(snapshot, res, uid_index, uid, length, NULL, ret_object);
}

int
informer_pod_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *ip, size_t length,
		   struct informer_object *ret_object)
{
	return first_of(snapshot, pods, address_index, ip, length, owns_address, ret_object);
}

int
informer_pod_by_container_id(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *id,
			     size_t length, struct informer_object *ret_object)
{
	const char *scheme = id ? memmem(id, length, "://", 3) : NULL;

	if (scheme) {
		length -= (size_t)(scheme + 3 - id);
		id = scheme + 3;
	}
	return first_of(snapshot, pods, container_index, id, length, NULL, ret_object);
}
