/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: a JSON document as a compact tree. The writer encodes it; readers read it in place.
 *
 * A value is a tag byte and what follows it. Multi-byte numbers have the arena's byte order and are
 * unaligned.
 *
 *   tag        follows                        value
 *   00 01 02   -                              null, false, true
 *   03 .. 06   -                              OWN_NAME, OWN_NAMESPACE, OWN_UID, OWN_VERSION: the strings in
 *                                             the object's header
 *   08 .. 0f   1 .. 8 bytes                   integer, two's complement, in the fewest bytes
 *   10         8 bytes                        integer above 2^63 - 1
 *   11         8 bytes                        double
 *   12         u8 n, n bytes                  any other number, as its text
 *   13         u8 n, n bytes                  string of 64 .. 255 bytes
 *   14         u16 n, n bytes                 string up to 65,535 bytes
 *   15         u32 n, n bytes                 string
 *   16         u32 n, n bytes                 any other number, as its text of more than 255 bytes
 *   18         u32 ref                        the value in that BLOCK_VALUE
 *   1a         u16 n, values in n bytes       array
 *   1b         u32 n, values in n bytes       array
 *   1c         u16 n, u32 shape, n bytes      object: its fields' values in the order of the shape's names
 *   1d         u32 n, u32 shape, n bytes      object
 *   1e 1f      -                              {} and []
 *   40 .. 7f   0 .. 63 bytes                  string of (tag - 40h) bytes
 *   80 .. bf   -                              integer 0 .. 63
 *
 * Strings are UTF-8, may hold U+0000, and have no terminator.
 *
 * BLOCK_VALUE payload: exactly one value. Its tag is never 18: references do not chain.
 *
 * BLOCK_SHAPE payload: the field names of an object, distinct and in the document's order: u32 count; for
 * each name a fingerprint byte (the low byte of its FNV-1a 32); zeroes up to a multiple of 4; for each name
 * the ref (u32) of the BLOCK_VALUE that holds it.
 *
 * Invariant: values nest at most VALUE_DEPTH_MAX deep, referenced values included. Only an object's own block
 * has OWN_… values.
 *
 * Readers treat values as input. With any bytes, each function ends and reads nothing outside the block. For
 * damaged bytes it returns "no such field", or -EBADMSG where its result has room for that.
 */
#ifndef SHM_LAYOUT_VALUE_H
#define SHM_LAYOUT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/block.h"
#include "shm-layout/object.h"

#define VALUE_DEPTH_MAX 128u

enum value_tag {
	TAG_NULL = 0x00, TAG_FALSE = 0x01, TAG_TRUE = 0x02,
	TAG_OWN_NAME = 0x03, TAG_OWN_NAMESPACE = 0x04, TAG_OWN_UID = 0x05, TAG_OWN_VERSION = 0x06,
	TAG_INT1 = 0x08, TAG_INT8 = 0x0f, TAG_UINT64 = 0x10, TAG_DOUBLE = 0x11, TAG_NUMBER8 = 0x12,
	TAG_STRING8 = 0x13, TAG_STRING16 = 0x14, TAG_STRING32 = 0x15, TAG_NUMBER32 = 0x16, TAG_REF = 0x18,
	TAG_ARRAY16 = 0x1a, TAG_ARRAY32 = 0x1b, TAG_OBJECT16 = 0x1c, TAG_OBJECT32 = 0x1d,
	TAG_EMPTY_OBJECT = 0x1e, TAG_EMPTY_ARRAY = 0x1f,
	TAG_STRING0 = 0x40, TAG_STRING63 = 0x7f, TAG_SMALL0 = 0x80, TAG_SMALL63 = 0xbf,
};

/* True if the tag is OWN_…. enum object_string numbers these tags from TAG_OWN_NAME on. */
static inline bool
tag_is_own(unsigned tag)
{
	return tag - TAG_OWN_NAME < OBJECT_STRINGS;
}

enum value_kind {
	VALUE_NONE = 0,		/* no such field */
	VALUE_NULL, VALUE_BOOL,
	VALUE_INT,		/* fits int64_t */
	VALUE_UINT,		/* above INT64_MAX */
	VALUE_DOUBLE,
	VALUE_NUMBER,		/* any other number: its text */
	VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT,
};

/*
 * A value in the arena. A plain struct: nothing to free. at == NULL means "no such field". References were
 * followed: *at is never TAG_REF.
 */
struct value {
	const struct arena_view *view;
	const struct object *own;	/* the object whose strings OWN_… are; NULL outside an object */
	const uint8_t *at;
	const uint8_t *end;		/* end of the value's bytes; nothing is read beyond */
};

/* The body of an object; at == NULL when the block is damaged. */
struct value value_of_object(const struct arena_view *view, uint32_t ref);
/* The value in a BLOCK_VALUE; at == NULL when the block is damaged. */
struct value value_of_block(const struct arena_view *view, uint32_t ref);

/* The same in place: v becomes an object's body. False when the block is damaged; v is undefined then. */
bool value_open_object(struct value *v, const struct arena_view *view, uint32_t ref);

/* The bytes of a STRING; false for any other kind. ret_data is lent as by value_string(). */
bool value_text(const struct value *v, const char **ret_data, size_t *ret_length);

enum value_kind value_kind(struct value v);
/* Strings and NUMBER texts. The bytes are lent as long as the block is valid, and not terminated. */
bool value_string(struct value v, const char **ret_data, size_t *ret_length);
bool value_bool(struct value v, bool *ret);
bool value_int(struct value v, int64_t *ret);		/* INT only */
bool value_uint(struct value v, uint64_t *ret);		/* UINT, and INT >= 0 */
bool value_double(struct value v, double *ret);		/* any number */
/* The 8 bytes after the tag (UINT64 or DOUBLE); false when v has another tag. */
bool value_word(struct value v, enum value_tag tag, void *ret);
bool value_equals_string(struct value v, const char *data, size_t length);

/* The number of fields or elements. Cost: O(1) for an object, O(n) for an array. */
size_t value_count(struct value v);

/* The fingerprint of a name in shapes: the low byte of FNV-1a 32. */
uint8_t shape_fingerprint(const char *name, size_t length);
/* Element i of an array; at == NULL when absent. Cost: skips the elements before it. */
struct value value_element(struct value array, size_t i);

/*
 * Iterate over an array or object. value_iterate() checks its shape and lengths.
 *
 *	struct value_iter it = value_iterate(v);
 *	while (value_next(&it))
 *		use(it.key, it.key_length, it.item);
 *
 * key is NULL for arrays, else lent and not terminated. A damaged value ends the loop and sets it.damaged.
 */
struct value_iter {
	struct value item;
	const char *key;
	size_t key_length;
	bool damaged;
	struct value rest;
	const struct block *shape;
	const uint32_t *names; /* of an object: `count` refs of its names */
	uint32_t index;
	uint32_t count;
};
struct value_iter value_iterate(struct value v);
bool value_next(struct value_iter *it);

/* The end of the encoded value at `at`; NULL when it is damaged or reaches beyond `end`. */
const uint8_t *value_after(const uint8_t *at, const uint8_t *end);
/* The end of `count` successive values; NULL as above. */
const uint8_t *value_skip(const uint8_t *at, const uint8_t *end, uint32_t count);

/*
 * The encoded fields of an object, for callers that know the order of names in its shape.
 *
 * at       the first field; value_skip() leads to the next ones, value_open_at() sets v to one of them
 * Returns  false when v is no object, is empty, or is damaged
 */
struct value_fields {
	const struct block *shape;
	uint32_t shape_ref;
	const uint8_t *at, *end;
};
bool value_open_fields(const struct value *object, struct value_fields *ret);
bool value_open_at(struct value *v, const struct value *object, const uint8_t *at, const uint8_t *end);

/*
 * Offsets of fingerprints and name refs in a BLOCK_SHAPE's payload, and its length. count is at most
 * SHAPE_FIELDS_MAX.
 */
#define SHAPE_FINGERPRINTS 4u
#define SHAPE_FIELDS_MAX ((BLOCK_LENGTH_MAX - SHAPE_FINGERPRINTS - 3) / 5)
static inline uint32_t
shape_names_offset(uint32_t count)
{
	return (SHAPE_FINGERPRINTS + count + 3) & ~3u;
}
static inline uint32_t
shape_length(uint32_t count)
{
	return shape_names_offset(count) + 4 * count;
}

/*
 * The shape of this ref, and the refs of its names; NULL when damaged. The count is checked against the
 * payload's length; the names are not checked.
 */
const struct block *value_shape(const struct arena_view *view, uint32_t ref, const uint32_t **ret_names,
				uint32_t *ret_count);
/* The same for a block that cannot change: the writer's. */
const uint32_t *value_shape_names(const struct block *shape, uint32_t *ret_count);

/*
 * Call each(ref, context) for each ref in an encoded value: of shapes and of shared values. Does not follow
 * them. The first non-zero result of `each` ends the walk and is returned; -EBADMSG when damaged; else 0.
 */
int value_each_ref(const uint8_t *at, const uint8_t *end, int (*each)(uint32_t ref, void *context),
		   void *context);

/*
 * Write a value as JSON, fields in their order, without white space.
 *
 * emit     called with pieces of at most 4 KiB; a non-zero result ends the writing and is returned
 * Returns  0, emit's result, or -EBADMSG (damaged, deeper than VALUE_DEPTH_MAX, or more than VALUE_ITEMS_MAX
 *          values)
 */
#define VALUE_ITEMS_MAX (1u << 26)
int value_to_json(struct value v, int (*emit)(const char *data, size_t length, void *context), void *context);

#endif
