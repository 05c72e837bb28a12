/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of an object that is being built: the names of its fields, in the order in which they came, as
 * the block in which they are stored once for all objects that have them.
 *
 * A name is a shared block, so equal names have equal refs and a shape is found by comparing numbers. Names
 * that the schema remembers are its own; one that it does not is *loose*: the builder holds a reference of
 * its own until a shape does.
 */
#ifndef WRITER_DECODE_BODY_BUILD_SHAPE_H
#define WRITER_DECODE_BODY_BUILD_SHAPE_H

#include <stdint.h>
#include <string.h>

#include "writer/decode/body_build.h"

/* All of these: 0, -ENOSPC, -ENOMEM; -E2BIG the value cannot be represented. */

/* The next field of the object that is open; sets the frame's child. */
int body_name(struct body *b, const char *name, size_t length);

/*
 * A shape that this path has not had lately: look it up among all, or make it. Of fields of equal name the
 * last one stays, so names and contents of the frame may get fewer.
 */
int body_shape_other(struct body *b, struct body_frame *f, uint32_t *ret_ref);

/*
 * The shape of the object that closes, with one reference. ret_from: from whose stock it was taken, or
 * NULL.
 */
static inline int
body_shape(struct body *b, struct body_frame *f, uint32_t *ret_ref, struct stocked_ref **ret_from)
{
	uint32_t count = b->names.count - f->names_start;
	const uint32_t *names = b->names.at + f->names_start;
	struct stocked_ref *place = &f->node->shapes[schema_shape_place(names, count)];
	const struct block *shape = place->ref ? arena_block(b->arena, place->ref) : NULL;

	if (shape && block_length(shape) == shape_length(count) &&
	    memcmp(shape->payload + shape_names_offset(count), names, 4 * (size_t)count) == 0) {
		*ret_from = place;
		*ret_ref = stocked_ref_take(place, b->intern);
		return 0;
	}
	*ret_from = NULL;
	return body_shape_other(b, f, ret_ref);
}

#endif
