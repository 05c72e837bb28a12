/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: the public face of shm-layout/value.h. A value finds its snapshot through its view, which is the
 * snapshot's first member.
 */
#include "reader-lib/attach/snapshot.h"
#include "reader-lib/read/compiled_path.h"
#include "shm-layout/value_field.h"

#include <string.h>

_Static_assert((int)INFORMER_OBJECT == (int)VALUE_OBJECT && (int)INFORMER_NUMBER == (int)VALUE_NUMBER &&
		       (int)INFORMER_UINT == (int)VALUE_UINT && (int)INFORMER_NULL == (int)VALUE_NULL,
	       "value: kinds differ");

static inline struct value
inner(const struct informer_value *value)
{
	struct value v;

	memcpy(&v, value, sizeof(v));
	return v;
}

/* Returns 0 and the value, or why it may not be read. */
static inline int
open_value(const struct informer_value *value, struct value *ret)
{
	int r;

	if (unlikely(!value))
		return -EINVAL;
	*ret = inner(value);
	if (unlikely(!ret->view))
		return INFORMER_E_NOT_FOUND;
	r = snapshot_usable(snapshot_of_view(ret->view));
	return r;
}

static inline int
close_value(const struct value *v, int r)
{
	return snapshot_validate(snapshot_of_view(v->view), r);
}

enum informer_kind
informer_value_kind(const struct informer_value *value)
{
	enum value_kind kind;
	struct value v;

	if (open_value(value, &v) < 0)
		return INFORMER_NONE;
	kind = value_kind(v);
	return close_value(&v, 0) < 0 ? INFORMER_NONE : (enum informer_kind)kind;
}

int
informer_value_get(const struct informer_value *value, const struct informer_path *path,
		   struct informer_value *ret_value)
{
	struct value v, hit;
	int r = open_value(value, &v);

	if (r < 0)
		return r;
	if (!path)
		return -EINVAL;
	hit = path_get(&path->path, v);
	r = close_value(&v, hit.at ? 0 : INFORMER_E_NOT_FOUND);
	if (r == 0)
		memcpy(ret_value, &hit, sizeof(hit));
	return r;
}

int
informer_value_string(const struct informer_value *value, const char **ret_data, size_t *ret_length)
{
	const char *data;
	size_t length;
	struct value v;
	int r = open_value(value, &v);

	if (r < 0)
		return r;
	r = close_value(&v, value_string(v, &data, &length) ? 0 : INFORMER_E_TYPE);
	if (r == 0) {
		*ret_data = data;
		*ret_length = length;
	}
	return r;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a type in parentheses is none */
#define SCALAR(name, type)                                                                                   \
	int informer_value_##name(const struct informer_value *value, type *ret)                             \
	{                                                                                                    \
		struct value v;                                                                              \
		type out;                                                                                    \
		int r = open_value(value, &v);                                                               \
                                                                                                             \
		if (r < 0)                                                                                   \
			return r;                                                                            \
		r = close_value(&v, value_##name(v, &out) ? 0 : INFORMER_E_TYPE);                            \
		if (r == 0)                                                                                  \
			*ret = out;                                                                          \
		return r;                                                                                    \
	}

/* NOLINTEND(bugprone-macro-parentheses) */
SCALAR(bool, bool)
SCALAR(int, int64_t)
SCALAR(uint, uint64_t)
SCALAR(double, double)

size_t
informer_value_count(const struct informer_value *value)
{
	struct value v;
	size_t count;

	if (open_value(value, &v) < 0)
		return 0;
	count = value_count(v);
	return close_value(&v, 0) < 0 ? 0 : count;
}

static int
child(const struct value *parent, enum value_kind kind, struct value found, struct informer_value *ret_value)
{
	int r = found.at ? 0 : value_kind(*parent) == kind ? INFORMER_E_NOT_FOUND : INFORMER_E_TYPE;

	r = close_value(parent, r);
	if (r == 0)
		memcpy(ret_value, &found, sizeof(found));
	return r;
}

int
informer_value_field(const struct informer_value *object, const char *name, size_t length,
		     struct informer_value *ret_value)
{
	struct value v;
	int r = open_value(object, &v);

	if (r < 0)
		return r;
	if (!name)
		return -EINVAL;
	return child(&v, VALUE_OBJECT, value_field(v, name, length, shape_fingerprint(name, length)),
		     ret_value);
}

int
informer_value_element(const struct informer_value *array, size_t i, struct informer_value *ret_value)
{
	struct value v;
	int r = open_value(array, &v);

	return r < 0 ? r : child(&v, VALUE_ARRAY, value_element(v, i), ret_value);
}

_Static_assert(sizeof(struct value_iter) <= sizeof(((struct informer_value_iter *)0)->private_),
	       "value_iter: too small");

int
informer_value_iterate(const struct informer_value *value, struct informer_value_iter *ret_iter)
{
	struct value_iter it;
	struct value v;
	int r = open_value(value, &v);

	if (r < 0)
		return r;
	it = value_iterate(v);
	r = close_value(&v, 0);
	if (r < 0)
		return r;
	memset(ret_iter, 0, sizeof(*ret_iter));
	/* Until the first step, `item` is the whole value: the next call finds the snapshot through it. */
	memcpy(&ret_iter->item, &v, sizeof(v));
	memcpy(ret_iter->private_, &it, sizeof(it));
	return 0;
}

int
informer_value_next(struct informer_value_iter *iter)
{
	struct value_iter it;
	struct value v;
	bool more;
	int r;

	if (!iter)
		return -EINVAL;
	r = open_value(&iter->item, &v);
	if (r < 0)
		return r;
	memcpy(&it, iter->private_, sizeof(it));
	more = value_next(&it);
	r = close_value(&v, it.damaged ? -EBADMSG : more);
	if (r <= 0)
		return r;
	iter->key = it.key;
	iter->key_length = it.key_length;
	memcpy(&iter->item, &it.item, sizeof(it.item));
	memcpy(iter->private_, &it, sizeof(it));
	return 1;
}

struct emit_call {
	int (*emit)(void *context, const char *data, size_t length);
	void *context;
	int result;
};

static int
emit_piece(const char *data, size_t length, void *context)
{
	struct emit_call *call = context;

	call->result = call->emit(call->context, data, length);
	return call->result ? 1 : 0;
}

int
informer_value_to_json(const struct informer_value *value,
		       int (*emit)(void *context, const char *data, size_t length), void *context)
{
	struct emit_call call = {emit, context, 0};
	struct value v;
	int r = open_value(value, &v);

	if (r < 0)
		return r;
	if (!emit)
		return -EINVAL;
	r = value_to_json(v, emit_piece, &call);
	return call.result ? call.result : close_value(&v, r);
}
