/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values, read in place. Everything here looks at bytes that another process wrote: a position is
 * compared with the end before it is read, a reference goes through block_load(), and what a container
 * claims to hold is never more than what its own container holds. A damaged value reads as absent.
 * A tag, length or ref is loaded once a look: the bytes may turn to zeros meanwhile.
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
	[TAG_NULL] = 1, [TAG_FALSE] = 1, [TAG_TRUE] = 1, [TAG_OWN_NAME ... TAG_OWN_VERSION] = 1,
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

/* Numbers behind a tag are unaligned. */
struct unaligned16 {
	uint16_t n;
} __attribute__((packed));
struct unaligned32 {
	uint32_t n;
} __attribute__((packed));

static inline uint16_t
load16(const uint8_t *at)
{
	return ((const volatile struct unaligned16 *)(const volatile void *)at)->n; /* once */
}

static inline uint32_t
load32(const uint8_t *at)
{
	return ((const volatile struct unaligned32 *)(const volatile void *)at)->n; /* once */
}

/* Head and contents of the encoded value at `at` < end, which has this tag. False when it does not lie within
 * end. */
static inline bool
extent(unsigned tag, const uint8_t *at, const uint8_t *end, const uint8_t **ret_contents, size_t *ret_length)
{
	size_t left = (size_t)(end - at), head, length;

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
			length = LOAD_ONCE(at + 1);
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

/* The same of whatever value stands there, and its tag. */
static inline bool
measure(const uint8_t *at, const uint8_t *end, unsigned *ret_tag, const uint8_t **ret_contents,
	size_t *ret_length)
{
	if (at >= end)
		return false;
	*ret_tag = LOAD_ONCE(at);
	return extent(*ret_tag, at, end, ret_contents, ret_length);
}

static inline const uint8_t *
after(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *contents;
	size_t length;
	unsigned tag;

	return measure(at, end, &tag, &contents, &length) ? contents + length : NULL;
}

const uint8_t *
value_after(const uint8_t *at, const uint8_t *end)
{
	return after(at, end);
}

const uint8_t *
value_skip(const uint8_t *at, const uint8_t *end, uint32_t count)
{
	for (; count > 0 && at; count--)
		at = after(at, end);
	return at;
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
	uint32_t length;
	const struct block *b = block_load(view, ref, BLOCK_VALUE, 1, &length);

	if (!b || LOAD_ONCE(&b->payload[0]) == TAG_REF)
		return false;
	v->view = view;
	v->own = NULL;
	v->at = b->payload;
	v->end = after(b->payload, b->payload + length);
	return v->end != NULL;
}

/* v becomes the value at `at`, its reference followed. False unless it lies within end. */
static inline bool
open_here(struct value *v, const struct arena_view *view, const struct object *own, const uint8_t *at,
	  const uint8_t *end)
{
	if (at >= end)
		return false;
	if (LOAD_ONCE(at) == TAG_REF)
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
	struct object_extent extent;
	const struct object *o = object_load(view, ref, &extent);
	const uint8_t *payload = (const uint8_t *)o;

	return o && open_here(v, view, o, payload + extent.body_offset, payload + extent.length);
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

/* own: whether OWN_… means anything here */
static enum value_kind
kind_of(unsigned tag, bool own)
{
	if (tag >= TAG_SMALL0)
		return tag <= TAG_SMALL63 ? VALUE_INT : VALUE_NONE;
	if (tag >= TAG_STRING0)
		return VALUE_STRING;
	if (tag >= TAG_INT1 && tag <= TAG_INT8)
		return VALUE_INT;
	switch ((enum value_tag)tag) {
	case TAG_NULL:
		return VALUE_NULL;
	case TAG_FALSE:
	case TAG_TRUE:
		return VALUE_BOOL;
	case TAG_OWN_NAME ... TAG_OWN_VERSION:
		return own ? VALUE_STRING : VALUE_NONE;
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

enum value_kind
value_kind(struct value v)
{
	return v.at ? kind_of(LOAD_ONCE(v.at), v.own != NULL) : VALUE_NONE;
}

/* A string of the object's header. */
static bool
own_string(const struct value *v, unsigned tag, const char **ret_data, size_t *ret_length)
{
	struct object_extent extent;

	if (!v->own || !object_measure_within(v->view, v->own, &extent))
		return false;
	*ret_data = object_string(v->own, &extent, (enum object_string)(tag - TAG_OWN_NAME), ret_length);
	return true;
}

bool
value_string(struct value v, const char **ret_data, size_t *ret_length)
{
	enum value_kind kind;
	const uint8_t *contents;
	size_t length;
	unsigned tag;

	if (!v.at || !measure(v.at, v.end, &tag, &contents, &length))
		return false;
	if (tag_is_own(tag))
		return own_string(&v, tag, ret_data, ret_length);
	kind = kind_of(tag, false);
	if (kind != VALUE_STRING && kind != VALUE_NUMBER)
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
	unsigned tag;

	if (!v->at || !measure(v->at, v->end, &tag, &contents, &length))
		return false;
	if (tag < TAG_STRING0 && tag != TAG_STRING8 && tag != TAG_STRING16 && tag != TAG_STRING32)
		return tag_is_own(tag) && own_string(v, tag, ret_data, ret_length);
	if (tag > TAG_STRING63)
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

	return value_text(&v, &own, &own_length) && own_length == length && memcmp(own, data, length) == 0;
}

bool
value_bool(struct value v, bool *ret)
{
	unsigned tag = v.at ? LOAD_ONCE(v.at) : TAG_NULL;

	if (kind_of(tag, false) != VALUE_BOOL)
		return false;
	*ret = tag == TAG_TRUE;
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
	const uint8_t *contents;
	size_t length;
	unsigned tag;

	if (!v.at || !measure(v.at, v.end, &tag, &contents, &length) || kind_of(tag, false) != VALUE_INT)
		return false;
	*ret = tag >= TAG_SMALL0 ? (int64_t)(tag - TAG_SMALL0) : load_int(v.at + 1, tag - TAG_INT1 + 1u);
	return true;
}

bool
value_word(struct value v, enum value_tag wanted, void *ret)
{
	const uint8_t *contents;
	size_t length;
	unsigned tag;

	if (!v.at || !measure(v.at, v.end, &tag, &contents, &length) || tag != (unsigned)wanted)
		return false;
	memcpy(ret, v.at + 1, sizeof(uint64_t));
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
	return value_word(v, TAG_UINT64, ret);
}

size_t
value_count(struct value v)
{
	const uint8_t *at, *end;
	const uint32_t *names;
	uint32_t fields;
	size_t count = 0, length;
	unsigned tag;

	if (!v.at || !measure(v.at, v.end, &tag, &at, &length))
		return 0;
	if (tag == TAG_OBJECT16 || tag == TAG_OBJECT32)
		return value_shape(v.view, load32(at - 4), &names, &fields) ? fields : 0;
	if (tag == TAG_ARRAY16 || tag == TAG_ARRAY32)
		for (end = at + length; at && at < end; at = value_after(at, end))
			count++;
	return count;
}

/* length: of its payload, as checked */
static const uint32_t *
names_of(const struct block *shape, uint32_t length, uint32_t *ret_count)
{
	uint32_t count;

	if (length < SHAPE_FINGERPRINTS)
		return NULL;
	count = load32(shape->payload);
	if (count > SHAPE_FIELDS_MAX || length != shape_length(count))
		return NULL;
	*ret_count = count;
	return (const uint32_t *)(const void *)(shape->payload + shape_names_offset(count));
}

const struct block *
value_shape(const struct arena_view *view, uint32_t ref, const uint32_t **ret_names, uint32_t *ret_count)
{
	uint32_t length;
	const struct block *shape = block_load(view, ref, BLOCK_SHAPE, SHAPE_FINGERPRINTS, &length);

	if (!shape)
		return NULL;
	*ret_names = names_of(shape, length, ret_count);
	return *ret_names ? shape : NULL;
}

const uint32_t *
value_shape_names(const struct block *shape, uint32_t *ret_count)
{
	return shape ? names_of(shape, block_length(shape), ret_count) : NULL;
}

/* The bytes of a name: an inline string in a block of its own. */
static inline bool
name_of(const struct arena_view *view, uint32_t ref, const char **ret_name, size_t *ret_length)
{
	uint32_t length;
	const struct block *b = block_load(view, ref, BLOCK_VALUE, 1, &length);
	const uint8_t *contents;
	unsigned tag;

	if (!b || !measure(b->payload, b->payload + length, &tag, &contents, ret_length) ||
	    (tag != TAG_STRING8 && tag != TAG_STRING16 && tag != TAG_STRING32 &&
	     (tag < TAG_STRING0 || tag > TAG_STRING63)))
		return false;
	*ret_name = (const char *)contents;
	return true;
}

#define MEMO_ABSENT 0xffffu      /* in a memo: the name is not in that shape */
#define NOWHERE UINT32_MAX       /* what was looked at has no such name */
#define UNKNOWN (UINT32_MAX - 1) /* nor this, but something that was looked at may be gone */
#define SMALLEST_PAGE 4096u

/*
 * Whether the bytes that were read, from the first to the last, were no zeros of a page that was given back:
 * pages are given back as a whole, and stay so, so what is there now was there before. Errs towards no.
 */
static bool
stands(const uint8_t *first, const uint8_t *last)
{
	bool one_page = (((uintptr_t)first ^ (uintptr_t)last) & ~(uintptr_t)(SMALLEST_PAGE - 1)) == 0;

	/* Without it these loads could be done before those that they are to vouch for. */
	atomic_thread_fence(memory_order_acquire);
	return LOAD_ONCE(first) != 0 &&
	       (one_page || ((size_t)(last - first) < SMALLEST_PAGE && LOAD_ONCE(last) != 0));
}

/* The position of a name in a shape, or NOWHERE, or UNKNOWN. */
static uint32_t
position_of(const struct arena_view *view, uint32_t ref, const char *name, size_t length, uint8_t name_fp)
{
	const uint8_t *fps, *hit;
	const uint32_t *names;
	uint32_t count;
	const struct block *shape = value_shape(view, ref, &names, &count);
	bool all_stand = true;

	if (!shape)
		return UNKNOWN;
	fps = shape->payload + SHAPE_FINGERPRINTS;
	for (hit = fps; (hit = memchr(hit, name_fp, count - (size_t)(hit - fps))) != NULL; hit++) {
		const char *found;
		size_t found_length;

		if (!name_of(view, LOAD_ONCE(&names[hit - fps]), &found, &found_length))
			all_stand = false;
		else if (found_length == length && memcmp(found, name, length) == 0)
			return (uint32_t)(hit - fps);
		else
			all_stand &= stands((const uint8_t *)found - 1,
					    (const uint8_t *)found + found_length - 1);
	}
	return all_stand && count > 0 && stands(shape->payload, &fps[count - 1]) ? NOWHERE : UNKNOWN;
}

bool
value_open_fields(const struct value *object, struct value_fields *ret)
{
	unsigned tag = object->at ? LOAD_ONCE(object->at) : TAG_NULL;
	size_t bytes;

	if ((tag != TAG_OBJECT16 && tag != TAG_OBJECT32) ||
	    !extent(tag, object->at, object->end, &ret->at, &bytes))
		return false;
	ret->end = ret->at + bytes;
	ret->shape_ref = load32(ret->at - 4);
	ret->shape = block_at(object->view, ret->shape_ref, BLOCK_SHAPE, 0);
	return ret->shape != NULL;
}

bool
value_open_at(struct value *v, const struct value *object, const uint8_t *at, const uint8_t *end)
{
	return open_here(v, object->view, object->own, at, end);
}

bool
value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp, struct value_memo *memo)
{
	const uint8_t *at, *end;
	const struct block *shape;
	_Atomic uint64_t *known;
	uint64_t word, shape_tag;
	unsigned tag;
	uint32_t ref, i;
	size_t bytes;

	if (!v->at)
		return false;
	tag = LOAD_ONCE(v->at);
	if ((tag != TAG_OBJECT16 && tag != TAG_OBJECT32) || !extent(tag, v->at, v->end, &at, &bytes))
		return false;
	end = at + bytes;
	ref = load32(at - 4);
	if (memo) {
		shape = block_at(v->view, ref, BLOCK_SHAPE, 0);
		if (!shape)
			return false;
		shape_tag = LOAD_ONCE(&shape->tag);
		known = &memo->words[ref % VALUE_MEMOS];
		word = atomic_load_explicit(known, memory_order_relaxed);
		i = (uint32_t)(word & MEMO_ABSENT);
		if ((word ^ shape_tag) > MEMO_ABSENT) { /* another shape's */
			i = position_of(v->view, ref, name, length, name_fp);
			if (i < MEMO_ABSENT || i == NOWHERE)
				atomic_store_explicit(
					known, (shape_tag & ~(uint64_t)MEMO_ABSENT) | (i & MEMO_ABSENT),
					memory_order_relaxed);
		} else if (i == MEMO_ABSENT) {
			i = NOWHERE;
		}
	} else {
		i = position_of(v->view, ref, name, length, name_fp);
	}
	if (i >= UNKNOWN)
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
	unsigned tag;

	if (!array.at || !measure(array.at, array.end, &tag, &at, &length) ||
	    (tag != TAG_ARRAY16 && tag != TAG_ARRAY32))
		return no_value();
	for (end = at + length; i > 0 && at && at < end; i--)
		at = value_after(at, end);
	return at ? value_here(array.view, array.own, at, end) : no_value();
}

struct value_iter
value_iterate(struct value v)
{
	struct value_iter it = {0};
	enum value_kind kind;
	const uint8_t *at;
	size_t length;
	unsigned tag;

	if (!v.at)
		return it;
	if (!measure(v.at, v.end, &tag, &at, &length)) {
		it.damaged = true;
		return it;
	}
	kind = kind_of(tag, false);
	if (kind != VALUE_ARRAY && kind != VALUE_OBJECT)
		return it;
	it.rest = v;
	it.rest.at = at;
	it.rest.end = at + length;
	if (tag == TAG_OBJECT16 || tag == TAG_OBJECT32) {
		it.shape = value_shape(v.view, load32(at - 4), &it.names, &it.count);
		it.damaged = !it.shape;
	}
	return it;
}

bool
value_next(struct value_iter *it)
{
	const uint8_t *after;

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
	if (it->shape && (it->index >= it->count || !name_of(it->rest.view, LOAD_ONCE(&it->names[it->index]),
							     &it->key, &it->key_length))) {
		it->damaged = true;
		return false;
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
	unsigned tag;
	int r;

	end = value_after(at, end);
	if (!end)
		return -EBADMSG;
	while (at < end) {
		if (!measure(at, end, &tag, &contents, &length))
			return -EBADMSG;
		switch (tag) {
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
