/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads values in place, within the bounds of value_bounds.h: another process wrote the bytes. A damaged
 * value reads as absent.
 *
 * value_each_ref() needs no recursion: a container's contents follow its head. One walk that enters
 * containers instead of skipping them meets each value once.
 */
#include "shm-layout/value.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/fnv.h"
#include "shm-layout/value_bounds.h"

const uint8_t *
value_after(const uint8_t *at, const uint8_t *end)
{
	return value_end(at, end);
}

const uint8_t *
value_skip(const uint8_t *at, const uint8_t *end, uint32_t count)
{
	for (; count > 0 && at; count--)
		at = value_end(at, end);
	return at;
}

static struct value
no_value(void)
{
	return (struct value){0};
}

static struct value
value_here(const struct arena_view *view, const struct object *own, const uint8_t *at, const uint8_t *end)
{
	struct value v;

	return value_open_here(&v, view, own, at, end) ? v : no_value();
}

bool
value_open_object(struct value *v, const struct arena_view *view, uint32_t ref)
{
	struct object_extent extent;
	const struct object *o = object_load(view, ref, &extent);
	const uint8_t *payload = (const uint8_t *)o;

	return o && value_open_here(v, view, o, payload + extent.body_offset, payload + extent.length);
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

	return value_open_block(&v, view, ref) ? v : no_value();
}

/* own: the tags OWN_… are valid here */
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

	if (!v.at || !value_measure(v.at, v.end, &tag, &contents, &length))
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

	if (!v->at || !value_measure(v->at, v->end, &tag, &contents, &length))
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

	if (!v.at || !value_measure(v.at, v.end, &tag, &contents, &length) ||
	    kind_of(tag, false) != VALUE_INT)
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

	if (!v.at || !value_measure(v.at, v.end, &tag, &contents, &length) || tag != (unsigned)wanted)
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

	if (!v.at || !value_measure(v.at, v.end, &tag, &at, &length))
		return 0;
	if (tag == TAG_OBJECT16 || tag == TAG_OBJECT32)
		return value_shape(v.view, value_load32(at - 4), &names, &fields) ? fields : 0;
	if (tag == TAG_ARRAY16 || tag == TAG_ARRAY32)
		for (end = at + length; at && at < end; at = value_after(at, end))
			count++;
	return count;
}

const struct block *
value_shape(const struct arena_view *view, uint32_t ref, const uint32_t **ret_names, uint32_t *ret_count)
{
	return shape_load(view, ref, ret_names, ret_count);
}

const uint32_t *
value_shape_names(const struct block *shape, uint32_t *ret_count)
{
	return shape ? shape_names(shape, block_length(shape), ret_count) : NULL;
}

bool
value_open_fields(const struct value *object, struct value_fields *ret)
{
	unsigned tag = object->at ? LOAD_ONCE(object->at) : TAG_NULL;
	size_t bytes;

	if ((tag != TAG_OBJECT16 && tag != TAG_OBJECT32) ||
	    !value_extent(tag, object->at, object->end, &ret->at, &bytes))
		return false;
	ret->end = ret->at + bytes;
	ret->shape_ref = value_load32(ret->at - 4);
	ret->shape = block_at(object->view, ret->shape_ref, BLOCK_SHAPE, 0);
	return ret->shape != NULL;
}

bool
value_open_at(struct value *v, const struct value *object, const uint8_t *at, const uint8_t *end)
{
	return value_open_here(v, object->view, object->own, at, end);
}

uint8_t
shape_fingerprint(const char *name, size_t length)
{
	return (uint8_t)fnv32(name, length);
}

struct value
value_element(struct value array, size_t i)
{
	const uint8_t *at, *end;
	size_t length;
	unsigned tag;

	if (!array.at || !value_measure(array.at, array.end, &tag, &at, &length) ||
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
	if (!value_measure(v.at, v.end, &tag, &at, &length)) {
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
		it.shape = value_shape(v.view, value_load32(at - 4), &it.names, &it.count);
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
	if (it->shape &&
	    (it->index >= it->count ||
	     !shape_name(it->rest.view, LOAD_ONCE(&it->names[it->index]), &it->key, &it->key_length))) {
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
		if (!value_measure(at, end, &tag, &contents, &length))
			return -EBADMSG;
		switch (tag) {
		case TAG_REF:
		case TAG_OBJECT16:
		case TAG_OBJECT32:
			r = each(value_load32(contents - 4), context);
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
