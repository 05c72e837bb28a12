/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of an object being built: the block with the names of its fields, in order of arrival, which all
 * objects with these names share.
 *
 * A name is a shared block, so equal names have equal refs, and a shape is found by comparing numbers. The
 * schema owns the names that it remembers. For other names, *loose* ones, the builder holds a reference until
 * a shape does.
 */
#ifndef WRITER_DECODE_BODY_BUILD_SHAPE_H
#define WRITER_DECODE_BODY_BUILD_SHAPE_H

#include <stdint.h>
#include <string.h>

#include "writer/decode/body_build.h"

/* These return 0, -ENOSPC, -ENOMEM; -E2BIG: the value cannot be represented. */

/* Begin the next field of the open object; sets the frame's child. */
int body_name(struct body *b, const char *name, size_t length);

/*
 * Look up among all, or make, a shape that the path does not remember. Of fields with equal names the last
 * one stays, so the frame may lose names and contents.
 */
int body_shape_other(struct body *b, struct body_frame *f, uint32_t *ret_ref);

/*
 * The shape of the object that closes, with one reference. ret_from: the stock that it was taken from, or
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
