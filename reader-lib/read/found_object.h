/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct informer_object: an object found in a snapshot, or one in a private home.
 */
#ifndef READER_LIB_READ_FOUND_OBJECT_H
#define READER_LIB_READ_FOUND_OBJECT_H

#include "reader-lib/attach/snapshot.h"
#include "shm-layout/object.h"

/*
 * An object's entry_: the position of its resource (below RESOURCE_MAX), and what is known of this state.
 *
 * OBJECT_DELETED  the object was found or told as a deleted one: object_mark_deleted()
 * OBJECT_COPIED   informer_object_free() must free the object
 */
#define OBJECT_POSITION 0xffffu
#define OBJECT_DELETED	(1u << 30)
#define OBJECT_COPIED	(1u << 31)
_Static_assert(RESOURCE_MAX <= OBJECT_POSITION, "object: a position needs more bits");

static inline void
object_set(struct informer_object *ret, const struct snapshot *s, const struct object *o, uint32_t ref,
	   uint32_t position)
{
	ret->snapshot_ = (const struct informer_snapshot *)(const void *)s;
	ret->object_ = o;
	ret->ref_ = ref;
	ret->entry_ = position;
}

/* Mark an object as deleted: a tombstone's, or one for on_delete. */
static inline void
object_mark_deleted(struct informer_object *object)
{
	object->entry_ |= OBJECT_DELETED;
}

/* Whether only the object's key is known: key_object.h. */
static inline bool
object_is_key_only(const struct informer_object *object)
{
	return object->ref_ == 0;
}

/* 0 if the object may be read; -EINVAL: no object, or its snapshot is not open; INFORMER_E_FORKED. */
static inline int
object_usable(const struct informer_object *object)
{
	return unlikely(!object || !object->object_) ? -EINVAL
						     : snapshot_usable(snapshot_of(object->snapshot_));
}

/*
 * Load the lengths in an object's header once. They bound reads of its key and near strings, and lie within
 * the memory that may be touched. 0 or -EBADMSG.
 */
static inline int
object_extent_of(const struct informer_object *object, struct object_extent *ret)
{
	const struct object *o = object->object_;

	if (unlikely(object_is_key_only(object))) {
		object_measure(
			o, ret); /* our own memory, without the body that object_measure_within() checks */
		return 0;
	}
	return likely(object_measure_within(&snapshot_of(object->snapshot_)->view, o, ret)) ? 0 : -EBADMSG;
}

#endif
