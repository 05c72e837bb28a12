/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of encoded values and of shapes: inline, for value.c and value_field.c alone.
 *
 * Invariant: a position is compared with the end before it is read, a reference goes through block_load(),
 * and what a container claims to hold is never more than what its own container holds. A tag, length or ref
 * is loaded once a look: the bytes may turn to zeros meanwhile.
 */
#ifndef SHM_LAYOUT_VALUE_BOUNDS_H
#define SHM_LAYOUT_VALUE_BOUNDS_H

#include "shm-layout/value_field.h"

/* Bytes of a head (tag, numbers, size field, shape), by tag; 0 stands for "no such tag". */
static const uint8_t value_head_bytes[64] = {
	[TAG_NULL] = 1, [TAG_FALSE] = 1, [TAG_TRUE] = 1, [TAG_OWN_NAME ... TAG_OWN_VERSION] = 1,
	[TAG_INT1] = 2, [TAG_INT1 + 1] = 3, [TAG_INT1 + 2] = 4, [TAG_INT1 + 3] = 5, [TAG_INT1 + 4] = 6,
	[TAG_INT1 + 5] = 7, [TAG_INT1 + 6] = 8, [TAG_INT8] = 9, [TAG_UINT64] = 9, [TAG_DOUBLE] = 9,
	[TAG_NUMBER8] = 2, [TAG_STRING8] = 2, [TAG_STRING16] = 3, [TAG_STRING32] = 5, [TAG_NUMBER32] = 5,
	[TAG_REF] = 5, [TAG_ARRAY16] = 3, [TAG_ARRAY32] = 5, [TAG_OBJECT16] = 7, [TAG_OBJECT32] = 9,
	[TAG_EMPTY_OBJECT] = 1, [TAG_EMPTY_ARRAY] = 1,
};

/* Bytes of the size field that follows the tag: what it counts comes after the head. */
static const uint8_t value_size_bytes[64] = {
	[TAG_NUMBER8] = 1, [TAG_STRING8] = 1, [TAG_STRING16] = 2, [TAG_STRING32] = 4, [TAG_NUMBER32] = 4,
	[TAG_ARRAY16] = 2, [TAG_ARRAY32] = 4, [TAG_OBJECT16] = 2, [TAG_OBJECT32] = 4,
};

/* Numbers behind a tag are unaligned. */
struct value_unaligned16 {
	uint16_t n;
} __attribute__((packed));
struct value_unaligned32 {
	uint32_t n;
} __attribute__((packed));

static inline uint16_t
value_load16(const uint8_t *at)
{
	return ((const volatile struct value_unaligned16 *)(const volatile void *)at)->n; /* once */
}

static inline uint32_t
value_load32(const uint8_t *at)
{
	return ((const volatile struct value_unaligned32 *)(const volatile void *)at)->n; /* once */
}

/* The contents of the encoded value at `at` < end, which has this tag. False when it reaches beyond end. */
static inline bool
value_extent(unsigned tag, const uint8_t *at, const uint8_t *end, const uint8_t **ret_contents,
	     size_t *ret_length)
{
	size_t left = (size_t)(end - at), head, length;

	if (tag >= TAG_STRING0) {
		head = 1;
		length = tag <= TAG_STRING63 ? tag - TAG_STRING0 : 0;
		if (tag > TAG_SMALL63)
			return false;
	} else {
		head = value_head_bytes[tag];
		if (head == 0 || head > left)
			return false;
		switch (value_size_bytes[tag]) {
		case 0:
			length = 0;
			break;
		case 1:
			length = LOAD_ONCE(at + 1);
			break;
		case 2:
			length = value_load16(at + 1);
			break;
		default:
			length = value_load32(at + 1);
		}
	}
	if (length > left - head)
		return false;
	*ret_contents = at + head;
	*ret_length = length;
	return true;
}

/* The same, for at <= end, and the tag. */
static inline bool
value_measure(const uint8_t *at, const uint8_t *end, unsigned *ret_tag, const uint8_t **ret_contents,
	      size_t *ret_length)
{
	if (at >= end)
		return false;
	*ret_tag = LOAD_ONCE(at);
	return value_extent(*ret_tag, at, end, ret_contents, ret_length);
}

/* As value_after(). */
static inline const uint8_t *
value_end(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *contents;
	size_t length;
	unsigned tag;

	return value_measure(at, end, &tag, &contents, &length) ? contents + length : NULL;
}

/* v becomes what the BLOCK_VALUE of this ref holds. */
static inline bool
value_open_block(struct value *v, const struct arena_view *view, uint32_t ref)
{
	uint32_t length;
	const struct block *b = block_load(view, ref, BLOCK_VALUE, 1, &length);

	if (!b || LOAD_ONCE(&b->payload[0]) == TAG_REF)
		return false;
	v->view = view;
	v->own = NULL;
	v->at = b->payload;
	v->end = value_end(b->payload, b->payload + length);
	return v->end != NULL;
}

/* v becomes the value at `at`, its reference followed. False unless it lies within end. */
static inline bool
value_open_here(struct value *v, const struct arena_view *view, const struct object *own, const uint8_t *at,
		const uint8_t *end)
{
	if (at >= end)
		return false;
	if (LOAD_ONCE(at) == TAG_REF)
		return end - at >= 5 && value_open_block(v, view, value_load32(at + 1));
	v->view = view;
	v->own = own;
	v->at = at;
	v->end = value_end(at, end);
	return v->end != NULL;
}

/* length: of its payload, as checked */
static inline const uint32_t *
shape_names(const struct block *shape, uint32_t length, uint32_t *ret_count)
{
	uint32_t count;

	if (length < SHAPE_FINGERPRINTS)
		return NULL;
	count = value_load32(shape->payload);
	if (count > SHAPE_FIELDS_MAX || length != shape_length(count))
		return NULL;
	*ret_count = count;
	return (const uint32_t *)(const void *)(shape->payload + shape_names_offset(count));
}

/* As value_shape(). */
static inline const struct block *
shape_load(const struct arena_view *view, uint32_t ref, const uint32_t **ret_names, uint32_t *ret_count)
{
	uint32_t length;
	const struct block *shape = block_load(view, ref, BLOCK_SHAPE, SHAPE_FINGERPRINTS, &length);

	if (!shape)
		return NULL;
	*ret_names = shape_names(shape, length, ret_count);
	return *ret_names ? shape : NULL;
}

/* The bytes of a name: an inline string in a block of its own. */
static inline bool
shape_name(const struct arena_view *view, uint32_t ref, const char **ret_name, size_t *ret_length)
{
	uint32_t length;
	const struct block *b = block_load(view, ref, BLOCK_VALUE, 1, &length);
	const uint8_t *contents;
	unsigned tag;

	if (!b || !value_measure(b->payload, b->payload + length, &tag, &contents, ret_length) ||
	    (tag != TAG_STRING8 && tag != TAG_STRING16 && tag != TAG_STRING32 &&
	     (tag < TAG_STRING0 || tag > TAG_STRING63)))
		return false;
	*ret_name = (const char *)contents;
	return true;
}

#endif
