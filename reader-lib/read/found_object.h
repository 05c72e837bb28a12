/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct informer_object as it is inside: an object that was found in a snapshot, or lives in a private home.
 */
#ifndef READER_LIB_READ_FOUND_OBJECT_H
#define READER_LIB_READ_FOUND_OBJECT_H

#include "reader-lib/attach/snapshot.h"
#include "shm-layout/object.h"

/*
 * An object's entry_: the position of its resource, and what is known of this very state. A position is below
 * RESOURCE_MAX.
 *
 * OBJECT_DELETED  it was found as a deleted one, or was told as such: see object_mark_deleted()
 * OBJECT_COPIED   informer_object_free() has something to free
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

/* Of one that is given to on_delete. */
static inline void
object_mark_deleted(struct informer_object *object)
{
	object->entry_ |= OBJECT_DELETED;
}

/* An object of which only the key is known: see key_object.h. */
static inline bool
object_is_key_only(const struct informer_object *object)
{
	return object->ref_ == 0;
}

/* 0, or why the object may not be read. */
static inline int
object_usable(const struct informer_object *object)
{
	return unlikely(!object || !object->object_) ? -EINVAL
						     : snapshot_usable(snapshot_of(object->snapshot_));
}

/*
 * The lengths in an object's header, loaded once: what is read of its key and near strings is bounded by
 * them, and lies within what may be touched. 0 or -EBADMSG.
 */
static inline int
object_extent_of(const struct informer_object *object, struct object_extent *ret)
{
	const struct object *o = object->object_;

	if (unlikely(object_is_key_only(object))) {
		object_measure(
			o, ret); /* our own memory, and without a body, so it has not all that is checked */
		return 0;
	}
	return likely(object_measure_within(&snapshot_of(object->snapshot_)->view, o, ret)) ? 0 : -EBADMSG;
}

#endif
