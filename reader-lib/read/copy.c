/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes copies from what a copier wrote, and frees them.
 */
#include "reader-lib/read/copy.h"

#include <string.h>

#include "reader-lib/read/copier.h"
#include "reader-lib/read/find.h"
#include "reader-lib/read/found_object.h"

#define COPY_HEAD_BYTES ((sizeof(struct copy) + REF_UNIT - 1) & ~(size_t)(REF_UNIT - 1))

static int
put_together(struct informer *inf, const struct copier *c, const struct informer_object *source,
	     struct copy **ret_copy, struct informer_object *ret)
{
	const struct object *from = source->object_;
	struct object_extent extent;
	size_t key_length, identity_length, head_length, uid_length, object_bytes, bytes;
	const char *identity;
	struct copy *copy;
	struct block *block;
	struct object *o;

	if (object_extent_of(source, &extent) < 0)
		return -EBADMSG;
	key_length = (size_t)extent.namespace_length + extent.name_length;
	identity = object_string(from, &extent, OBJECT_UID, &uid_length);
	identity_length = uid_length + extent.version_length;
	head_length = offsetof(struct object, key) + key_length + identity_length;
	object_bytes = head_length + c->body.used;
	if (object_bytes > BLOCK_LENGTH_MAX)
		return -EBADMSG;
	bytes = COPY_HEAD_BYTES + c->blocks.used + (size_t)block_footprint((uint32_t)object_bytes);
	copy = allocator_get_raw(&inf->memory, bytes);
	if (!copy)
		return -ENOMEM;
	private_home_set(&copy->home, copy, bytes);
	if (source->entry_ & OBJECT_DELETED)
		copy->home.deleted_wall_ns = object_deleted_wall_ns(source);
	copy->loan = (struct snapshot_loan){NULL, inf->memory};
	memcpy((uint8_t *)copy + COPY_HEAD_BYTES, c->blocks.data, c->blocks.used);
	block = (struct block *)(void *)((uint8_t *)copy + COPY_HEAD_BYTES + c->blocks.used);
	*block = (struct block){.type_length = (uint32_t)BLOCK_OBJECT << 28 | (uint32_t)object_bytes};
	o = (struct object *)(void *)block->payload;
	memcpy(o, from, offsetof(struct object, key) + key_length);
	memcpy(o->key + key_length, identity, identity_length);
	o->flags = 0; /* near strings are not copied */
	o->namespace_length = (uint8_t)extent.namespace_length;
	o->name_length = (uint16_t)extent.name_length;
	o->uid_length = (uint8_t)uid_length;
	o->version_length = (uint8_t)extent.version_length;
	o->body_offset = (uint16_t)head_length;
	memcpy((uint8_t *)o + head_length, c->body.data, c->body.used);
	*ret_copy = copy;
	object_set(ret, &copy->home.snapshot, o, object_is_key_only(source) ? 0 :
		   (uint32_t)((COPY_HEAD_BYTES + c->blocks.used) / REF_UNIT), source->entry_);
	return 0;
}

static int
copy_object(struct informer *inf, const struct informer_object *object, const struct path_set *set,
	    struct copy **ret_copy, struct informer_object *ret)
{
	const struct snapshot *s;
	struct informer_object out;
	struct copier c;
	struct copy *copy = NULL;
	int r;

	if (!inf || !ret)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	r = object_usable(object);
	if (r < 0)
		return r;
	s = snapshot_of(object->snapshot_);
	copier_init(&c, inf, &s->view, set, COPY_HEAD_BYTES);
	r = object_is_key_only(object) ? 0 : copier_copy(&c, object->ref_);
	if (r >= 0)
		r = put_together(inf, &c, object, &copy, &out);
	copier_done(&c);
	r = snapshot_validate(s, r);
	if (r < 0) {
		memory_put(inf, copy);
		return r;
	}
	*ret_copy = copy;
	*ret = out;
	return 0;
}

int
object_copy_filtered(struct informer *inf, const struct informer_object *object, const struct path_set *set,
		     struct informer_object *ret_copy)
{
	struct copy *copy;
	int r = copy_object(inf, object, set, &copy, ret_copy);

	if (r == 0)
		ret_copy->entry_ |= OBJECT_COPIED;
	return r;
}

int
informer_object_copy(struct informer *inf, const struct informer_object *object,
		     struct informer_object *ret_copy)
{
	return object_copy_filtered(inf, object, NULL, ret_copy);
}

int
object_copy_lent(struct informer *inf, const struct informer_object *object, const struct path_set *set,
		 struct informer_object *ret_copy)
{
	struct snapshot *s = object ? (struct snapshot *)(uintptr_t)snapshot_of(object->snapshot_) : NULL;
	struct copy *copy;
	int r;

	if (!s || is_private_home(s))
		return -EINVAL;
	r = copy_object(inf, object, set, &copy, ret_copy);
	if (r < 0)
		return r;
	ret_copy->entry_ &= ~OBJECT_COPIED;
	copy->loan.next = s->loans;
	s->loans = &copy->loan;
	return 0;
}

static struct copy *
copy_of_home(const struct private_home *home)
{
	return (struct copy *)((uintptr_t)home - offsetof(struct copy, home));
}

void
informer_object_free(struct informer_object *copy)
{
	struct copy *whole;

	if (!copy || !(copy->entry_ & OBJECT_COPIED))
		return;
	whole = copy_of_home(private_home_of(snapshot_of(copy->snapshot_)));
	allocator_put(&whole->loan.memory, whole);
	memset(copy, 0, sizeof(*copy));
}
