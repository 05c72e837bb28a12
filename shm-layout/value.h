/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: a JSON document as a compact tree that is read in place.
 *
 * A value is a tag byte and what follows it; multi-byte numbers are in the arena's byte order, unaligned.
 *
 *   tag        follows                        value
 *   00 01 02   -                              null, false, true
 *   03 .. 06   -                              OWN_NAME, OWN_NAMESPACE, OWN_UID, OWN_VERSION: the strings in
 *                                             the object's header
 *   08 .. 0f   1 .. 8 bytes                   integer, two's complement, fewest bytes that hold it
 *   10         8 bytes                        integer above 2^63 - 1
 *   11         8 bytes                        double
 *   12         u8 n, n bytes                  number that neither holds, as its text (n <= 255; 16: u32 n)
 *   13         u8 n, n bytes                  string of 64 .. 255 bytes
 *   14         u16 n, n bytes                 string up to 65,535 bytes
 *   15         u32 n, n bytes                 string
 *   16         u32 n, n bytes                 number as its text, long
 *   18         u32 ref                        what stands in that BLOCK_VALUE
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
 * BLOCK_VALUE payload: exactly one value (never 18: references do not chain).
 * BLOCK_SHAPE payload: u32 count, count fingerprint bytes (low byte of the name's FNV-1a 32), zeroes up to a
 * multiple of 4, count refs (u32) of BLOCK_VALUEs that hold the names, which are distinct, in the document's
 * order.
 *
 * Invariant: values nest at most VALUE_DEPTH_MAX deep, shared ones included; OWN_… stand in an object's own
 * block only.
 *
 * All of it is input: whatever the bytes are, each function ends and reads nothing outside the block; what
 * does not make sense is "no such field", or -EBADMSG where a function can say so.
 */
#ifndef SHM_LAYOUT_VALUE_H
#define SHM_LAYOUT_VALUE_H

#include <stdatomic.h>
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

/* One of the strings in an object's header: enum object_string, as tags. */
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
 * A value somewhere in the arena: 40 bytes, copied freely, nothing to free. at == NULL stands for
 * "no such field". A reference has been followed: *at is never TAG_REF.
 */
struct value {
	const struct arena_view *view;
	const struct object *own;	/* whose OWN_… it is; NULL outside an object */
	const uint8_t *at;
	const uint8_t *end;		/* end of the block's payload: nothing is read beyond */
};

/* The body of an object; at == NULL when the block is damaged. */
struct value value_of_object(const struct arena_view *view, uint32_t ref);
/* The value that a BLOCK_VALUE holds. */
struct value value_of_block(const struct arena_view *view, uint32_t ref);

/*
 * The same in place: v becomes the object's body, then the field of the object that it was; false when there
 * is none, and v means nothing then. For lookups: a struct that was stored in words and is copied in vectors
 * at once, as arguments are, stalls the processor each time.
 */
bool value_open_object(struct value *v, const struct arena_view *view, uint32_t ref);

/*
 * Where a name stood in the last few shapes, so that finding it again costs one comparison: the upper 48 bits
 * of the shape's integrity tag, which follows from its content and place, and the position in the lower 16.
 * Zeroed is empty. Threads may share one. It outlives arenas, so nothing is kept in it that came from zeros:
 * that a name is absent only when all that said so was still there afterwards.
 */
#define VALUE_MEMOS 8u
struct value_memo {
	_Atomic uint64_t words[VALUE_MEMOS];
};
bool value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp,
		 struct value_memo *memo); /* memo: or NULL */
/* The bytes of a STRING, and of nothing else. */
bool value_text(const struct value *v, const char **ret_data, size_t *ret_length);

enum value_kind value_kind(struct value v);
/* Strings and NUMBER texts: true and the bytes, lent for as long as the block lives. */
bool value_string(struct value v, const char **ret_data, size_t *ret_length);
bool value_bool(struct value v, bool *ret);
bool value_int(struct value v, int64_t *ret);		/* INT only */
bool value_uint(struct value v, uint64_t *ret);		/* UINT, and INT >= 0 */
bool value_double(struct value v, double *ret);		/* any number */
/* The eight bytes behind this tag (UINT64, DOUBLE), and behind no other. */
bool value_word(struct value v, enum value_tag tag, void *ret);
bool value_equals_string(struct value v, const char *data, size_t length);

/* Fields or elements. Cost: O(1). */
size_t value_count(struct value v);	/* of an array: O(n) */

/* Of a name, as shapes carry it: the low byte of FNV-1a 32. */
uint8_t shape_fingerprint(const char *name, size_t length);
/*
 * Field of an object by name; name_fp is shape_fingerprint(name). at == NULL when absent. Cost: skips the
 * fields before it.
 */
struct value value_field(struct value object, const char *name, size_t length, uint8_t name_fp);
/* By a terminated name. */
struct value value_at_name(struct value object, const char *name);
struct value value_element(struct value array, size_t i);

/*
 * Step through an array or object, of which shape and lengths were checked when it began:
 *
 *	struct value_iter it = value_iterate(v);
 *	while (value_next(&it))
 *		use(it.key, it.key_length, it.item);
 *
 * key is NULL for arrays. A damaged value ends the loop with it.damaged set.
 */
struct value_iter {
	struct value item;
	const char *key;
	size_t key_length;
	bool damaged;
	struct value rest;
	const struct block *shape;
	const uint32_t *names; /* of an object: refs of its names, `count` of them */
	uint32_t index;
	uint32_t count;
};
struct value_iter value_iterate(struct value v);
bool value_next(struct value_iter *it);

/* Where the encoded value at `at` ends; NULL when that is not within end. */
const uint8_t *value_after(const uint8_t *at, const uint8_t *end);
/* The same behind `count` values. */
const uint8_t *value_skip(const uint8_t *at, const uint8_t *end, uint32_t count);

/*
 * The fields of an object as they lie, for who knows of its shape which are where: they begin at `at`, each
 * behind the one before (value_skip()), and value_open_at() makes one of them a value. False: it is no
 * object, has none, or is damaged.
 */
struct value_fields {
	const struct block *shape;
	uint32_t shape_ref;
	const uint8_t *at, *end;
};
bool value_open_fields(const struct value *object, struct value_fields *ret);
bool value_open_at(struct value *v, const struct value *object, const uint8_t *at, const uint8_t *end);

/*
 * Where in a BLOCK_SHAPE's payload the fingerprints stand, where the names' refs, and how long it is. count
 * <= SHAPE_FIELDS_MAX
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
 * The shape of this ref and the refs of its names, checked against its length (not what they refer to); NULL
 * when damaged.
 */
const struct block *value_shape(const struct arena_view *view, uint32_t ref, const uint32_t **ret_names,
				uint32_t *ret_count);
/* The same of a block that does not change while one looks: the writer's. */
const uint32_t *value_shape_names(const struct block *shape, uint32_t *ret_count);

/*
 * Call each(ref, context) for every ref that stands directly in an encoded value of a payload (shapes and
 * shared values, not what those refer to). Stops at the first non-zero result and returns it; -EBADMSG when
 * damaged.
 */
int value_each_ref(const uint8_t *at, const uint8_t *end, int (*each)(uint32_t ref, void *context),
		   void *context);

/*
 * Write a value as JSON, fields in their order, without white space.
 *
 * emit     called with pieces of up to 4 KiB; a non-zero result stops and is returned
 * Returns  0, emit's result, or -EBADMSG (damaged, deeper than VALUE_DEPTH_MAX, or more than VALUE_ITEMS_MAX
 *          values)
 */
#define VALUE_ITEMS_MAX (1u << 26)
int value_to_json(struct value v, int (*emit)(const char *data, size_t length, void *context), void *context);

#endif
