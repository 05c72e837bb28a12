/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values, read in place. Everything here looks at bytes that another process wrote: a position is
 * compared with the end before it is read, a reference goes through block_at(), and what a container
 * claims to hold is never more than what its own container holds. A damaged value reads as absent.
 *
 * value_each_ref() needs no recursion: a container's contents follow its head, so that one walk over
 * the heads, entering instead of skipping, meets every value once.
 */
#include "shm-layout/value.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/fnv.h"

/* Bytes of a head (tag, numbers, size field, shape), by tag; 0 stands for "no such tag". */
static const uint8_t head_bytes[64] = {
	[TAG_NULL] = 1, [TAG_FALSE] = 1, [TAG_TRUE] = 1, [TAG_OWN_NAME] = 1, [TAG_OWN_NAMESPACE] = 1,
	[TAG_INT1] = 2, [TAG_INT1 + 1] = 3, [TAG_INT1 + 2] = 4, [TAG_INT1 + 3] = 5, [TAG_INT1 + 4] = 6,
	[TAG_INT1 + 5] = 7, [TAG_INT1 + 6] = 8, [TAG_INT8] = 9, [TAG_UINT64] = 9, [TAG_DOUBLE] = 9,
	[TAG_NUMBER8] = 2, [TAG_STRING8] = 2, [TAG_STRING16] = 3, [TAG_STRING32] = 5, [TAG_NUMBER32] = 5,
	[TAG_REF] = 5, [TAG_ARRAY16] = 3, [TAG_ARRAY32] = 5, [TAG_OBJECT16] = 7, [TAG_OBJECT32] = 9,
	[TAG_EMPTY_OBJECT] = 1, [TAG_EMPTY_ARRAY] = 1,
};

/* Bytes of the size field that follows the tag: what it counts comes after the head. */
static const uint8_t size_bytes[64] = {
	[TAG_NUMBER8] = 1, [TAG_STRING8] = 1, [TAG_STRING16] = 2, [TAG_STRING32] = 4, [TAG_NUMBER32] = 4,
	[TAG_ARRAY16] = 2, [TAG_ARRAY32] = 4, [TAG_OBJECT16] = 2, [TAG_OBJECT32] = 4,
};

static inline uint16_t
load16(const uint8_t *at)
{
	uint16_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

static inline uint32_t
load32(const uint8_t *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

/* Head and contents of the encoded value at `at`. False when it does not lie within end. */
static inline bool
extent(const uint8_t *at, const uint8_t *end, const uint8_t **ret_contents, size_t *ret_length)
{
	size_t left, head, length;
	unsigned tag;

	if (at >= end)
		return false;
	left = (size_t)(end - at);
	tag = *at;
	if (tag >= TAG_STRING0) {
		head = 1;
		length = tag <= TAG_STRING63 ? tag - TAG_STRING0 : 0;
		if (tag > TAG_SMALL63)
			return false;
	} else {
		head = head_bytes[tag];
		if (head == 0 || head > left)
			return false;
		switch (size_bytes[tag]) {
		case 0:
			length = 0;
			break;
		case 1:
			length = at[1];
			break;
		case 2:
			length = load16(at + 1);
			break;
		default:
			length = load32(at + 1);
		}
	}
	if (length > left - head)
		return false;
	*ret_contents = at + head;
	*ret_length = length;
	return true;
}

static inline const uint8_t *
after(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *contents;
	size_t length;

	return extent(at, end, &contents, &length) ? contents + length : NULL;
}

const uint8_t *
value_after(const uint8_t *at, const uint8_t *end)
{
	return after(at, end);
}

static struct value
no_value(void)
{
	return (struct value){0};
}

/* v becomes what the BLOCK_VALUE of this ref holds. */
static inline bool
open_block(struct value *v, const struct arena_view *view, uint32_t ref)
{
	const struct block *b = block_at(view, ref, BLOCK_VALUE, 1);

	if (!b || b->payload[0] == TAG_REF)
		return false;
	v->view = view;
	v->own = NULL;
	v->at = b->payload;
	v->end = after(b->payload, b->payload + block_length(b));
	return v->end != NULL;
}

/* v becomes the value at `at`, its reference followed. False unless it lies within end. */
static inline bool
open_here(struct value *v, const struct arena_view *view, const struct object *own, const uint8_t *at,
	  const uint8_t *end)
{
	if (at >= end)
		return false;
	if (*at == TAG_REF)
		return end - at >= 5 && open_block(v, view, load32(at + 1));
	v->view = view;
	v->own = own;
	v->at = at;
	v->end = after(at, end);
	return v->end != NULL;
}

static struct value
value_here(const struct arena_view *view, const struct object *own, const uint8_t *at, const uint8_t *end)
{
	struct value v;

	return open_here(&v, view, own, at, end) ? v : no_value();
}

bool
value_open_object(struct value *v, const struct arena_view *view, uint32_t ref)
{
	const struct block *b;
	const struct object *o = object_at(view, ref);

	if (!o)
		return false;
	b = (const struct block *)(const void *)(view->base + ref_offset(ref));
	return open_here(v, view, o, b->payload + o->body_offset, b->payload + block_length(b));
}

struct value
value_of_object(const struct arena_view *view, uint32_t ref)
{
	struct value v;

	return value_open_object(&v, view, ref) ? v : no_value();
}

struct value
value_of_block(const struct arena_view *view, uint32_t ref)
{
	struct value v;

	return open_block(&v, view, ref) ? v : no_value();
}

enum value_kind
value_kind(struct value v)
{
	if (!v.at)
		return VALUE_NONE;
	if (*v.at >= TAG_SMALL0)
		return *v.at <= TAG_SMALL63 ? VALUE_INT : VALUE_NONE;
	if (*v.at >= TAG_STRING0)
		return VALUE_STRING;
	if (*v.at >= TAG_INT1 && *v.at <= TAG_INT8)
		return VALUE_INT;
	switch ((enum value_tag)*v.at) {
	case TAG_NULL:
		return VALUE_NULL;
	case TAG_FALSE:
	case TAG_TRUE:
		return VALUE_BOOL;
	case TAG_OWN_NAME:
	case TAG_OWN_NAMESPACE:
		return v.own ? VALUE_STRING : VALUE_NONE;
	case TAG_UINT64:
		return VALUE_UINT;
	case TAG_DOUBLE:
		return VALUE_DOUBLE;
	case TAG_NUMBER8:
	case TAG_NUMBER32:
		return VALUE_NUMBER;
	case TAG_STRING8:
	case TAG_STRING16:
	case TAG_STRING32:
		return VALUE_STRING;
	case TAG_ARRAY16:
	case TAG_ARRAY32:
	case TAG_EMPTY_ARRAY:
		return VALUE_ARRAY;
	case TAG_OBJECT16:
	case TAG_OBJECT32:
	case TAG_EMPTY_OBJECT:
		return VALUE_OBJECT;
	default:
		return VALUE_NONE;
	}
}

bool
value_string(struct value v, const char **ret_data, size_t *ret_length)
{
	enum value_kind kind;
	const uint8_t *contents;
	size_t length;

	if (!v.at)
		return false;
	if (v.own && *v.at == TAG_OWN_NAME) {
		*ret_data = object_name(v.own);
		*ret_length = v.own->name_length;
		return true;
	}
	if (v.own && *v.at == TAG_OWN_NAMESPACE) {
		*ret_data = object_namespace(v.own);
		*ret_length = v.own->namespace_length;
		return true;
	}
	kind = value_kind(v);
	if (kind != VALUE_STRING && kind != VALUE_NUMBER)
		return false;
	if (!extent(v.at, v.end, &contents, &length))
		return false;
	*ret_data = (const char *)contents;
	*ret_length = length;
	return true;
}

bool
value_text(const struct value *v, const char **ret_data, size_t *ret_length)
{
	const uint8_t *contents;
	size_t length;

	if (!v->at)
		return false;
	if (*v->at < TAG_STRING0 && *v->at != TAG_STRING8 && *v->at != TAG_STRING16 && *v->at != TAG_STRING32)
		return (*v->at == TAG_OWN_NAME || *v->at == TAG_OWN_NAMESPACE) &&
		       value_string(*v, ret_data, ret_length);
	if (*v->at > TAG_STRING63 || !extent(v->at, v->end, &contents, &length))
		return false;
	*ret_data = (const char *)contents;
	*ret_length = length;
	return true;
}

bool
value_equals_string(struct value v, const char *data, size_t length)
{
	const char *own;
	size_t own_length;

	return value_kind(v) == VALUE_STRING && value_string(v, &own, &own_length) && own_length == length &&
	       memcmp(own, data, length) == 0;
}

bool
value_bool(struct value v, bool *ret)
{
	if (value_kind(v) != VALUE_BOOL)
		return false;
	*ret = *v.at == TAG_TRUE;
	return true;
}

/* 1 .. 8 bytes, two's complement, the lowest first on a little-endian machine. */
static int64_t
load_int(const uint8_t *at, unsigned bytes)
{
	uint64_t n = 0;
	unsigned shift = 64 - 8 * bytes;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&n, at, bytes);
#else
	memcpy((uint8_t *)&n + 8 - bytes, at, bytes);
#endif
	return (int64_t)(n << shift) >> shift;
}

bool
value_int(struct value v, int64_t *ret)
{
	if (value_kind(v) != VALUE_INT)
		return false;
	if (*v.at >= TAG_SMALL0) {
		*ret = *v.at - TAG_SMALL0;
		return true;
	}
	if (!value_after(v.at, v.end))
		return false;
	*ret = load_int(v.at + 1, *v.at - TAG_INT1 + 1u);
	return true;
}

bool
value_uint(struct value v, uint64_t *ret)
{
	int64_t n;

	if (value_int(v, &n)) {
		if (n < 0)
			return false;
		*ret = (uint64_t)n;
		return true;
	}
	if (value_kind(v) != VALUE_UINT || !value_after(v.at, v.end))
		return false;
	memcpy(ret, v.at + 1, sizeof(*ret));
	return true;
}

size_t
value_count(struct value v)
{
	const uint8_t *at, *end;
	uint32_t names;
	size_t count = 0, length;

	switch (value_kind(v)) {
	case VALUE_OBJECT:
		if (*v.at == TAG_EMPTY_OBJECT || !extent(v.at, v.end, &at, &length) ||
		    !value_shape_names(block_at(v.view, load32(at - 4), BLOCK_SHAPE, 0), &names))
			return 0;
		return names;
	case VALUE_ARRAY:
		if (!extent(v.at, v.end, &at, &length))
			return 0;
		for (end = at + length; at && at < end; at = value_after(at, end))
			count++;
		return count;
	default:
		return 0;
	}
}

const uint32_t *
value_shape_names(const struct block *shape, uint32_t *ret_count)
{
	uint32_t count;

	if (!shape || block_length(shape) < SHAPE_FINGERPRINTS)
		return NULL;
	count = load32(shape->payload);
	if (count > SHAPE_FIELDS_MAX || block_length(shape) != shape_length(count))
		return NULL;
	*ret_count = count;
	return (const uint32_t *)(const void *)(shape->payload + shape_names_offset(count));
}

/* The bytes of a name: an inline string in a block of its own. */
static inline bool
name_of(const struct arena_view *view, uint32_t ref, const char **ret_name, size_t *ret_length)
{
	const struct block *b = block_at(view, ref, BLOCK_VALUE, 1);
	const uint8_t *contents;

	if (!b ||
	    (b->payload[0] != TAG_STRING8 && b->payload[0] != TAG_STRING16 && b->payload[0] != TAG_STRING32 &&
	     (b->payload[0] < TAG_STRING0 || b->payload[0] > TAG_STRING63)))
		return false;
	if (!extent(b->payload, b->payload + block_length(b), &contents, ret_length))
		return false;
	*ret_name = (const char *)contents;
	return true;
}

/* The position of a name in a shape, or MEMO_ABSENT. */
#define MEMO_ABSENT 0xffffu

static uint32_t
position_of(const struct arena_view *view, const struct block *shape, const char *name, size_t length,
	    uint8_t name_fp)
{
	const uint8_t *fps, *hit;
	const uint32_t *names;
	uint32_t count;

	names = value_shape_names(shape, &count);
	if (!names)
		return UINT32_MAX;
	fps = shape->payload + SHAPE_FINGERPRINTS;
	for (hit = fps; (hit = memchr(hit, name_fp, count - (size_t)(hit - fps))) != NULL; hit++) {
		const char *found;
		size_t found_length;

		if (name_of(view, names[hit - fps], &found, &found_length) && found_length == length &&
		    memcmp(found, name, length) == 0)
			return (uint32_t)(hit - fps);
	}
	return UINT32_MAX;
}

bool
value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp, struct value_memo *memo)
{
	const uint8_t *at, *end;
	const struct block *shape;
	_Atomic uint64_t *known;
	uint32_t ref, i;
	uint64_t word;
	size_t bytes;

	if (!v->at || (*v->at != TAG_OBJECT16 && *v->at != TAG_OBJECT32) ||
	    !extent(v->at, v->end, &at, &bytes))
		return false;
	end = at + bytes;
	ref = load32(at - 4);
	shape = block_at(v->view, ref, BLOCK_SHAPE, 0);
	if (!shape)
		return false;
	if (memo) {
		known = &memo->words[ref % VALUE_MEMOS];
		word = atomic_load_explicit(known, memory_order_relaxed);
		i = (uint32_t)(word & MEMO_ABSENT);
		if ((word ^ shape->tag) > MEMO_ABSENT) { /* another shape's */
			i = position_of(v->view, shape, name, length, name_fp);
			if (i < MEMO_ABSENT || i == UINT32_MAX)
				atomic_store_explicit(
					known, (shape->tag & ~(uint64_t)MEMO_ABSENT) | (i & MEMO_ABSENT),
					memory_order_relaxed);
		} else if (i == MEMO_ABSENT) {
			i = UINT32_MAX;
		}
	} else {
		i = position_of(v->view, shape, name, length, name_fp);
	}
	if (i == UINT32_MAX)
		return false;
	for (; i > 0 && at; i--)
		at = after(at, end);
	return at && open_here(v, v->view, v->own, at, end);
}

uint8_t
shape_fingerprint(const char *name, size_t length)
{
	return (uint8_t)fnv32(name, length);
}

struct value
value_field(struct value object, const char *name, size_t length, uint8_t name_fp)
{
	return value_enter(&object, name, length, name_fp, NULL) ? object : no_value();
}

struct value
value_at_name(struct value object, const char *name)
{
	size_t length = strlen(name);

	return value_field(object, name, length, shape_fingerprint(name, length));
}

struct value
value_element(struct value array, size_t i)
{
	const uint8_t *at, *end;
	size_t length;

	if (value_kind(array) != VALUE_ARRAY || !extent(array.at, array.end, &at, &length))
		return no_value();
	for (end = at + length; i > 0 && at && at < end; i--)
		at = value_after(at, end);
	return at ? value_here(array.view, array.own, at, end) : no_value();
}

struct value_iter
value_iterate(struct value v)
{
	struct value_iter it = {0};
	enum value_kind kind = value_kind(v);
	const uint8_t *at;
	size_t length;

	if (kind != VALUE_ARRAY && kind != VALUE_OBJECT)
		return it;
	if (!extent(v.at, v.end, &at, &length)) {
		it.damaged = true;
		return it;
	}
	it.rest = v;
	it.rest.at = at;
	it.rest.end = at + length;
	if (*v.at == TAG_OBJECT16 || *v.at == TAG_OBJECT32) {
		it.shape = block_at(v.view, load32(at - 4), BLOCK_SHAPE, 0);
		if (!value_shape_names(it.shape, &it.count))
			it.damaged = true;
	}
	return it;
}

bool
value_next(struct value_iter *it)
{
	const uint8_t *after;
	uint32_t count;

	if (it->damaged || it->rest.at == it->rest.end) {
		if (it->shape && it->index != it->count)
			it->damaged = true;
		return false;
	}
	after = value_after(it->rest.at, it->rest.end);
	if (after)
		it->item = value_here(it->rest.view, it->rest.own, it->rest.at, it->rest.end);
	if (!after || !it->item.at) {
		it->damaged = true;
		return false;
	}
	if (it->shape) {
		const uint32_t *names = value_shape_names(it->shape, &count);

		if (it->index >= it->count || !names ||
		    !name_of(it->rest.view, names[it->index], &it->key, &it->key_length)) {
			it->damaged = true;
			return false;
		}
	}
	it->index++;
	it->rest.at = after;
	return true;
}

int
value_each_ref(const uint8_t *at, const uint8_t *end, int (*each)(uint32_t ref, void *context), void *context)
{
	const uint8_t *contents;
	size_t length;
	int r;

	end = value_after(at, end);
	if (!end)
		return -EBADMSG;
	while (at < end) {
		if (!extent(at, end, &contents, &length))
			return -EBADMSG;
		switch (*at) {
		case TAG_REF:
		case TAG_OBJECT16:
		case TAG_OBJECT32:
			r = each(load32(contents - 4), context);
			if (r != 0)
				return r;
			at = contents;
			break;
		case TAG_ARRAY16:
		case TAG_ARRAY32:
			at = contents;
			break;
		default:
			at = contents + length;
		}
	}
	return 0;
}
