/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a present object, else the newest tombstone.
 *
 * The trie `deleted` files each tombstone under several hashes (shm-layout/tombstone.h). Hashes may collide,
 * so each tombstone of a leaf is compared with the question. A leaf has its tombstones in order, the newest
 * last.
 */
#include "reader-lib/read/find.h"

#include <errno.h>
#include <string.h>

#include "reader-lib/read/found_object.h"
#include "reader-lib/read/lookup.h"
#include "reader-lib/read/private_home.h"
#include "reader-lib/read/resource_open.h"
#include "shm-layout/collision.h"
#include "shm-layout/tombstone.h"
#include "shm-layout/trie.h"
#include "shm-layout/value.h"

/* What to find. asked: of an index; ns and name: for BY_KEY. */
struct question {
	enum tombstone_by by;
	struct index_question asked;
	const char *ns, *name;
	size_t ns_length, name_length;
};

/* The newest tombstone that answers. seq 0: none yet. */
struct answer {
	uint64_t seq;
	const struct object *object;
	uint32_t ref;
	uint32_t position;
};

/* The part's index for `by`, which is not BY_KEY; negative: none. */
static int
index_number(const struct definition *d, enum tombstone_by by)
{
	_Static_assert((int)INDEX_ROLE_ADDRESS - (int)INDEX_ROLE_UID ==
				       TOMBSTONE_BY_ADDRESS - TOMBSTONE_BY_UID &&
			       (int)INDEX_ROLE_CONTAINER - (int)INDEX_ROLE_UID ==
				       TOMBSTONE_BY_CONTAINER - TOMBSTONE_BY_UID,
		       "find: roles in another order");
	return d->roles[(int)INDEX_ROLE_UID + (int)by - TOMBSTONE_BY_UID];
}

/* Whether a tombstone's object answers the question: 1, 0, or -EBADMSG. */
static int
answers(const struct snapshot *s, const struct part *part, const struct question *q, const struct object *o,
	uint32_t ref)
{
	struct object_extent extent;
	struct value body;
	int r;

	if (q->by == TOMBSTONE_BY_KEY)
		return object_load(&s->view, ref, &extent)
			       ? object_is_of_key(o, &extent, q->ns, q->ns_length, q->name, q->name_length)
			       : -EBADMSG;
	body = value_of_object(&s->view, ref);
	if (!body.at)
		return -EBADMSG;
	r = index_question_fits(&q->asked,
				&part->definition->indexes[index_number(part->definition, q->by)], body);
	return r > 0 && q->by == TOMBSTONE_BY_ADDRESS ? !pod_on_host_network(body) : r;
}

/*
 * The part's tombstones that may answer, the newest last: 1, 0: none, or negative. A single link may stand in
 * *leaf, which the caller keeps.
 */
static int
tombstones_of_part(const struct snapshot *s, const struct part *part, const struct question *q,
		   uint32_t *leaf, const uint32_t **ret_links, uint32_t *ret_count)
{
	const uint8_t *key = s->mapping->hash_key;
	const struct resource *resource = part_resource(s, part);
	const struct index_def *def;
	uint64_t hash;
	int number, r;

	if (!resource)
		return -EBADMSG;
	if (q->by == TOMBSTONE_BY_KEY) {
		hash = object_key_hash(key, q->ns, q->ns_length, q->name, q->name_length);
	} else {
		number = index_number(part->definition, q->by);
		if (number < 0) {
			error_set(INFORMER_E_NO_INDEX, "this resource has no index of what is searched for");
			return INFORMER_E_NO_INDEX;
		}
		if (q->asked.length > INDEX_VALUE_MAX)
			return 0;
		def = &part->definition->indexes[number];
		hash = index_value_hash(key, q->asked.value, index_def_filed_length(def, q->asked.length));
	}
	r = trie_get(&s->view, resource->deleted, tombstone_hash(hash, q->by), leaf);
	if (r <= 0)
		return r;
	*ret_count = leaf_links(&s->view, leaf, ret_links);
	return *ret_count > 0 ? 1 : -EBADMSG;
}

/* Set best to the part's newest tombstone that answers, if that is newer. 0 or negative. */
static int
look_in_part(const struct snapshot *s, const struct part *part, const struct question *q, struct answer *best)
{
	const uint32_t *links;
	uint32_t leaf, count;
	int r = tombstones_of_part(s, part, q, &leaf, &links, &count);

	if (r <= 0)
		return r;
	while (count-- > 0) {
		const struct tombstone *t = tombstone_at(&s->view, LOAD_ONCE(&links[count]));
		uint64_t seq = t ? LOAD_ONCE(&t->seq) : 0;
		uint32_t ref = t ? LOAD_ONCE(&t->object) : 0;
		const struct object *o = object_at(&s->view, ref);

		if (!o)
			return -EBADMSG;
		if (seq <= best->seq)
			return 0;
		r = answers(s, part, q, o, ref);
		if (r < 0)
			return r;
		if (r > 0) {
			*best = (struct answer){seq, o, ref, part->position};
			return 0;
		}
	}
	return 0;
}

/* 0 and the object; INFORMER_E_NOT_FOUND; or another negative. */
static int
find_deleted(const struct snapshot *s, struct informer_resource *res, const struct question *q,
	     struct informer_object *ret)
{
	struct answer best = {0};
	const struct resource_binding *b;
	int r = resource_bind(s, res, &b);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->count && r == 0; i++)
		r = look_in_part(s, &b->parts[i], q, &best);
	r = snapshot_validate(s, r);
	if (r < 0)
		return r;
	if (best.seq == 0)
		return INFORMER_E_NOT_FOUND;
	object_set(ret, s, best.object, best.ref, best.position);
	object_mark_deleted(ret);
	return 0;
}

/* Of the present pods with an address, the one that answers there; else the newest. */
static int
present_by_address(const struct informer_snapshot *snapshot, struct informer_resource *res, const char *value,
		   size_t length, struct informer_object *ret)
{
	int r = informer_pod_by_ip(snapshot, res, value, length, ret);

	return r == INFORMER_E_NOT_FOUND ? pod_newest_by_ip(snapshot, res, value, length, ret) : r;
}

int
informer_find(const struct informer_snapshot *snapshot, struct informer_resource *res, enum informer_by by,
	      const char *value, size_t length, struct informer_object *ret_object, bool *ret_deleted)
{
	bool deleted = false;
	struct question q = {
		.asked = {value, length, false}, .ns = "", .name = value, .name_length = length};
	const char *slash;
	int r;

	if (!value || !ret_object)
		return -EINVAL;
	switch (by) {
	case INFORMER_BY_KEY:
		q.by = TOMBSTONE_BY_KEY;
		slash = memchr(value, '/', length);
		if (slash && slash > value) {
			q.ns = value;
			q.ns_length = (size_t)(slash - value);
			q.name = slash + 1;
			q.name_length = length - q.ns_length - 1;
		}
		r = informer_get(snapshot, res, q.ns, q.ns_length, q.name, q.name_length, ret_object);
		break;
	case INFORMER_BY_UID:
		q.by = TOMBSTONE_BY_UID;
		r = informer_get_by_uid(snapshot, res, value, length, ret_object);
		break;
	case INFORMER_BY_IP:
		q.by = TOMBSTONE_BY_ADDRESS;
		r = present_by_address(snapshot, res, value, length, ret_object);
		break;
	case INFORMER_BY_CONTAINER_ID:
		q.by = TOMBSTONE_BY_CONTAINER;
		container_id_strip(&q.asked.value, &q.asked.length);
		r = informer_pod_by_container_id(snapshot, res, value, length, ret_object);
		break;
	default:
		return -EINVAL;
	}
	if (r == INFORMER_E_NOT_FOUND) {
		r = find_deleted(snapshot_of(snapshot), res, &q, ret_object);
		deleted = r == 0;
	}
	if (r == 0 && ret_deleted)
		*ret_deleted = deleted;
	return r;
}

/* Visit the tombstones of a part that answer. 0 or negative; *ret_result as each() returned. */
static int
each_answer_in_part(const struct snapshot *s, const struct part *part, const struct question *q,
		    int (*each)(void *context, const struct informer_object *object), void *context,
		    int *ret_result)
{
	struct informer_object object;
	const uint32_t *links;
	uint32_t leaf, count;
	int r = tombstones_of_part(s, part, q, &leaf, &links, &count);

	if (r <= 0)
		return r;
	for (uint32_t i = 0; i < count && *ret_result == 0; i++) {
		const struct tombstone *t = tombstone_at(&s->view, LOAD_ONCE(&links[i]));
		uint32_t ref = t ? LOAD_ONCE(&t->object) : 0;
		const struct object *o = object_at(&s->view, ref);

		r = o ? answers(s, part, q, o, ref) : -EBADMSG;
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		object_set(&object, s, o, ref, part->position);
		object_mark_deleted(&object);
		*ret_result = each(context, &object);
	}
	return 0;
}

int
deleted_each_of_container_prefix(const struct informer_snapshot *snapshot, struct informer_resource *pods,
				 const char *prefix, size_t length,
				 int (*each)(void *context, const struct informer_object *object),
				 void *context)
{
	const struct question q = {.by = TOMBSTONE_BY_CONTAINER, .asked = {prefix, length, true}};
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource_binding *b;
	int r = snapshot_usable(s), result = 0;

	if (r == 0)
		r = resource_bind(s, pods, &b);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->count && r == 0 && result == 0; i++)
		r = each_answer_in_part(s, &b->parts[i], &q, each, context, &result);
	r = snapshot_validate(s, r);
	return r < 0 ? r : result;
}

/* Visit each tombstone among a part's changes. */
static int
each_in_part(const struct snapshot *s, const struct part *part,
	     int (*each)(void *context, const struct informer_object *object), void *context, int *ret_result)
{
	const struct resource *resource = part_resource(s, part);
	struct informer_object object;
	struct trie_iter it;
	int r = resource ? trie_first(&it, &s->view, resource->by_seq) : -EBADMSG;

	for (unsigned passed = 0; r > 0; r = trie_next(&it)) {
		const struct tombstone *t;
		const struct object *o;
		uint32_t ref;

		if (link_is_immediate(it.leaf)) {
			if (++passed % SNAPSHOT_LOOK_EVERY == 0 && snapshot_validate(s, 0) < 0)
				return INFORMER_E_EXPIRED;
			continue;
		}
		t = tombstone_at(&s->view, it.leaf);
		ref = t ? LOAD_ONCE(&t->object) : 0;
		o = object_at(&s->view, ref);
		r = snapshot_validate(s, o ? 0 : -EBADMSG);
		if (r < 0)
			return r;
		object_set(&object, s, o, ref, part->position);
		object_mark_deleted(&object);
		*ret_result = each(context, &object);
		if (*ret_result)
			return 0;
	}
	return snapshot_validate(s, r);
}

int
informer_each_deleted(const struct informer_snapshot *snapshot, struct informer_resource *res,
		      int (*each)(void *context, const struct informer_object *object), void *context)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource_binding *b;
	int r = snapshot_usable(s), result = 0;

	if (r == 0 && !each)
		r = -EINVAL;
	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->count && r == 0 && result == 0; i++)
		r = each_in_part(s, &b->parts[i], each, context, &result);
	return result ? result : r;
}

/* Find the tombstone whose last state is this object of a snapshot: 1; 0: none; -EBADMSG. To be validated. */
static int
tombstone_of(const struct snapshot *s, const struct informer_object *object, const struct tombstone **ret)
{
	const struct resource *resource = snapshot_resource(s, object->entry_ & OBJECT_POSITION);
	const struct object *o = object->object_;
	const uint32_t *links;
	uint32_t leaf, count;
	int r;

	if (!resource)
		return -EBADMSG;
	r = trie_get(&s->view, resource->deleted, tombstone_hash(o->key_hash, TOMBSTONE_BY_KEY), &leaf);
	if (r <= 0)
		return r;
	count = leaf_links(&s->view, &leaf, &links);
	if (count == 0)
		return -EBADMSG;
	while (count-- > 0) {
		const struct tombstone *t = tombstone_at(&s->view, LOAD_ONCE(&links[count]));

		if (!t)
			return -EBADMSG;
		if (LOAD_ONCE(&t->object) == object->ref_) {
			*ret = t;
			return 1;
		}
	}
	return 0;
}

uint64_t
object_deleted_wall_ns(const struct informer_object *object)
{
	const struct snapshot *s = snapshot_of(object->snapshot_);
	const struct tombstone *t;
	uint64_t wall_ns;

	if (is_private_home(s))
		return private_home_of(s)->deleted_wall_ns;
	wall_ns = tombstone_of(s, object, &t) > 0 ? t->deleted_wall_ns : 0;
	return snapshot_validate(s, 0) < 0 ? 0 : wall_ns;
}

int
informer_object_deletion(const struct informer_object *object, struct informer_deletion *ret_deletion)
{
	struct informer_deletion deletion = {0};
	const struct tombstone *t;
	const struct snapshot *s;
	int r = object_usable(object);

	if (r == 0 && (!ret_deletion || ret_deletion->size < sizeof(ret_deletion->size)))
		r = -EINVAL;
	if (r < 0)
		return r;
	s = snapshot_of(object->snapshot_);
	if (!(object->entry_ & OBJECT_DELETED) || is_private_home(s))
		return INFORMER_E_NOT_FOUND;
	r = tombstone_of(s, object, &t);
	if (r > 0) {
		deletion.wall_ns = t->deleted_wall_ns;
		deletion.seq = t->seq;
		deletion.seen = !(t->flags & TOMBSTONE_UNSEEN);
	}
	r = snapshot_validate(s, r > 0 ? 0 : r < 0 ? r : INFORMER_E_NOT_FOUND);
	if (r < 0)
		return r;
	deletion.size = ret_deletion->size;
	memcpy(ret_deletion, &deletion,
	       ret_deletion->size < sizeof(deletion) ? ret_deletion->size : sizeof(deletion));
	return 0;
}

bool
informer_object_deleted(const struct informer_object *object, uint64_t *ret_wall_ns)
{
	if (object_usable(object) < 0 || !(object->entry_ & OBJECT_DELETED))
		return false;
	if (ret_wall_ns)
		*ret_wall_ns = object_deleted_wall_ns(object);
	return true;
}
