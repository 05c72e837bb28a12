/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: their header's strings and numbers, and fields by compiled path.
 */
#include <stdio.h>
#include <string.h>

#include "reader-lib/read/compiled_path.h"
#include "reader-lib/read/found_object.h"

static inline const struct object *
header_of(const struct informer_object *object)
{
	return object->object_;
}

static inline struct value
body_of(const struct informer_object *object)
{
	return value_of_object(&snapshot_of(object->snapshot_)->view, object->ref_);
}

/* A string of the header, length 0: it has none. 0 or -EBADMSG. */
static inline int
own_string(const struct informer_object *object, enum object_string which, const char **ret_data,
	   size_t *ret_length)
{
	struct object_extent extent;
	int r = object_extent_of(object, &extent);

	if (r == 0)
		*ret_data = object_string(header_of(object), &extent, which, ret_length);
	return r;
}

/* field: of metadata, for a string that the header lacks; or NULL */
static int
metadata_string(const struct informer_object *object, enum object_string which, const char *field,
		const char **ret_data, size_t *ret_length)
{
	const char *data;
	size_t length;
	int r = object_usable(object);

	if (r < 0)
		return r;
	r = own_string(object, which, &data, &length);
	if (r == 0 && length == 0 && field &&
	    !value_string(value_at_name(value_at_name(body_of(object), "metadata"), field), &data, &length))
		r = INFORMER_E_NOT_FOUND;
	r = snapshot_validate(snapshot_of(object->snapshot_), r);
	if (r == 0) {
		*ret_data = data;
		*ret_length = length;
	}
	return r;
}

int
informer_object_namespace(const struct informer_object *object, const char **ret_data, size_t *ret_length)
{
	return metadata_string(object, OBJECT_NAMESPACE, NULL, ret_data, ret_length);
}

int
informer_object_name(const struct informer_object *object, const char **ret_data, size_t *ret_length)
{
	return metadata_string(object, OBJECT_NAME, NULL, ret_data, ret_length);
}

int
informer_object_uid(const struct informer_object *object, const char **ret_data, size_t *ret_length)
{
	return metadata_string(object, OBJECT_UID, "uid", ret_data, ret_length);
}

int
informer_object_resource_version(const struct informer_object *object, const char **ret_data,
				 size_t *ret_length)
{
	return metadata_string(object, OBJECT_VERSION, "resourceVersion", ret_data, ret_length);
}

/* A number of the header; 0: it may not be read. */
static uint64_t
header_number(const struct informer_object *object, const uint64_t *number)
{
	uint64_t n = LOAD_ONCE(number);

	return snapshot_validate(snapshot_of(object->snapshot_), 0) < 0 ? 0 : n;
}

uint64_t
informer_object_seq(const struct informer_object *object)
{
	return object_usable(object) < 0 ? 0 : header_number(object, &header_of(object)->seq);
}

uint64_t
informer_object_created_seq(const struct informer_object *object)
{
	return object_usable(object) < 0 ? 0 : header_number(object, &header_of(object)->created_seq);
}

uint32_t
informer_object_position(const struct informer_object *object)
{
	return object ? object->entry_ & OBJECT_POSITION : UINT32_MAX;
}

/* Copy what fits of a piece. */
static void
place(char *buffer, size_t size, size_t at, const char *data, size_t length)
{
	if (at < size)
		memcpy(buffer + at, data, length < size - at ? length : size - at);
}

int
informer_object_key(const struct informer_object *object, char *buffer, size_t size, size_t *ret_length)
{
	struct object_extent extent;
	size_t ns, name, length = 0;
	const struct object *o;
	int r = object_usable(object);

	if (r < 0)
		return r;
	if (!buffer)
		size = 0;
	o = header_of(object);
	r = object_extent_of(object, &extent);
	if (r == 0) {
		ns = extent.namespace_length;
		name = extent.name_length;
		length = ns + (ns > 0) + name;
		place(buffer, size, 0, o->key, ns);
		if (ns > 0)
			place(buffer, size, ns, "/", 1);
		place(buffer, size, length - name, o->key + ns, name);
		if (size > 0)
			buffer[length < size ? length : size - 1] = '\0';
	}
	r = snapshot_validate(snapshot_of(object->snapshot_), r);
	if (r == 0 && ret_length)
		*ret_length = length;
	return r;
}

/* 0, or INFORMER_E_SYNTAX with a message. */
static int
compile(struct path *path, const char *text, size_t length)
{
	const char *why = "";
	size_t offset = 0;

	if (path_compile(path, text, length, &offset, &why) == 0)
		return 0;
	return error_set(INFORMER_E_SYNTAX, "path '%.*s', at byte %zu: %s",
			 (int)(length < 200 ? length : 200), text, offset, why);
}

int
informer_path_compile(struct informer *inf, const char *text, size_t length, struct informer_path **ret_path)
{
	struct informer_path *path;
	int r;

	if (!inf || !text || !ret_path)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	path = memory_get(inf, sizeof(*path));
	if (!path)
		return -ENOMEM;
	r = compile(&path->path, text, length);
	if (r < 0) {
		memory_put(inf, path);
		return r;
	}
	path->memory = inf->memory;
	*ret_path = path;
	return 0;
}

void
informer_path_free(struct informer_path *path)
{
	if (path)
		allocator_put(&path->memory, path);
}

/* The value at a path of an object, or why the object may not be read. */
static inline int
look_up(const struct informer_object *object, const struct informer_path *path, struct value *ret)
{
	int r = object_usable(object);

	if (unlikely(r < 0))
		return r;
	if (unlikely(!path))
		return -EINVAL;
	return value_open_object(ret, &snapshot_of(object->snapshot_)->view, object->ref_) &&
			       path_follow(&path->path, ret)
		       ? 0
		       : INFORMER_E_NOT_FOUND;
}

static inline int
validated(const struct informer_object *object, int r)
{
	return r == -EINVAL || r == INFORMER_E_FORKED ? r
						      : snapshot_validate(snapshot_of(object->snapshot_), r);
}

/* A string of the object's header. False: look into the body. */
static inline bool
header_string(const struct informer_object *object, const struct path *path, const char **ret_data,
	      size_t *ret_length)
{
	const struct arena_view *view = &snapshot_of(object->snapshot_)->view;
	const struct object *o = header_of(object);

	switch (path->header) {
	case PATH_NODE_NAME:
		return object_near(view, o, NEAR_NODE_NAME, ret_data, ret_length);
	case PATH_PHASE:
		return object_near(view, o, NEAR_PHASE, ret_data, ret_length);
	case PATH_BODY:
		return false;
	default:
		return own_string(object, (enum object_string)(path->header - PATH_STRING), ret_data,
				  ret_length) == 0 &&
		       *ret_length > 0;
	}
}

int
informer_get_string(const struct informer_object *object, const struct informer_path *path,
		    const char **ret_data, size_t *ret_length)
{
	struct value v;
	const char *data;
	size_t length;
	int r = object_usable(object);

	if (unlikely(r < 0))
		return r;
	if (unlikely(!path))
		return -EINVAL;
	if (header_string(object, &path->path, &data, &length)) {
		r = snapshot_validate(snapshot_of(object->snapshot_), 0);
		if (r == 0) {
			*ret_data = data;
			*ret_length = length;
		}
		return r;
	}
	r = look_up(object, path, &v);
	if (r == 0 && !value_text(&v, &data, &length))
		r = INFORMER_E_TYPE;
	r = validated(object, r);
	if (r == 0) {
		*ret_data = data;
		*ret_length = length;
	}
	return r;
}

int
informer_get_string_at(const struct informer_object *object, const char *path, const char **ret_data,
		       size_t *ret_length)
{
	struct informer_path compiled;
	int r = object_usable(object);

	if (r < 0)
		return r;
	if (!path)
		return -EINVAL;
	r = compile(&compiled.path, path, strlen(path));
	return r < 0 ? r : informer_get_string(object, &compiled, ret_data, ret_length);
}

_Static_assert(sizeof(struct value) == sizeof(struct informer_value), "value: private_ has another size");

int
informer_object_value(const struct informer_object *object, struct informer_value *ret_value)
{
	struct value v;
	int r = object_usable(object);

	if (r < 0)
		return r;
	v = body_of(object);
	r = v.at ? 0 : object_is_key_only(object) ? INFORMER_E_NOT_FOUND : INFORMER_E_CORRUPT;
	r = snapshot_validate(snapshot_of(object->snapshot_), r);
	if (r == 0)
		memcpy(ret_value, &v, sizeof(v));
	return r;
}

int
informer_get_value(const struct informer_object *object, const struct informer_path *path,
		   struct informer_value *ret_value)
{
	struct value v;
	int r = validated(object, look_up(object, path, &v));

	if (r == 0)
		memcpy(ret_value, &v, sizeof(v));
	return r;
}

int
informer_get_int(const struct informer_object *object, const struct informer_path *path, int64_t *ret)
{
	struct informer_value v;
	int r = informer_get_value(object, path, &v);

	if (r == 0)
		r = informer_value_int(&v, ret);
	return r == INFORMER_E_TYPE && informer_value_kind(&v) == INFORMER_UINT ? -ERANGE : r;
}

int
informer_get_bool(const struct informer_object *object, const struct informer_path *path, bool *ret)
{
	struct informer_value v;
	int r = informer_get_value(object, path, &v);

	return r < 0 ? r : informer_value_bool(&v, ret);
}

int
informer_get_double(const struct informer_object *object, const struct informer_path *path, double *ret)
{
	struct informer_value v;
	int r = informer_get_value(object, path, &v);

	return r < 0 ? r : informer_value_double(&v, ret);
}

struct each_call {
	int (*each)(void *context, const struct informer_value *value);
	void *context;
	int result;
};

static int
each_hit(struct value hit, void *context)
{
	struct each_call *call = context;
	struct informer_value v;

	memcpy(&v, &hit, sizeof(v));
	call->result = call->each(call->context, &v);
	return call->result ? 1 : 0;
}

int
informer_each_value(const struct informer_object *object, const struct informer_path *path,
		    int (*each)(void *context, const struct informer_value *value), void *context)
{
	struct each_call call = {each, context, 0};
	int r = object_usable(object);

	if (r < 0)
		return r;
	if (!path || !each)
		return -EINVAL;
	r = path_each(&path->path, body_of(object), each_hit, &call);
	if (call.result)
		return call.result;
	return snapshot_validate(snapshot_of(object->snapshot_), r);
}

int
informer_object_to_json(const struct informer_object *object,
			int (*emit)(void *context, const char *data, size_t length), void *context)
{
	struct informer_value v;
	int r = informer_object_value(object, &v);

	return r < 0 ? r : informer_value_to_json(&v, emit, context);
}

struct buffer {
	char *data;
	size_t size;
	size_t length;
};

static int
append(void *context, const char *data, size_t length)
{
	struct buffer *b = context;

	if (b->length < b->size) {
		size_t room = b->size - b->length;

		memcpy(b->data + b->length, data, length < room ? length : room);
	}
	b->length += length;
	return 0;
}

int
informer_object_json(const struct informer_object *object, char *buffer, size_t size, size_t *ret_length)
{
	struct buffer b = {buffer, buffer ? size : 0, 0};
	int r = informer_object_to_json(object, append, &b);

	if (r < 0)
		return r;
	if (buffer && size > 0)
		buffer[b.length < size ? b.length : size - 1] = '\0';
	if (ret_length)
		*ret_length = b.length;
	return 0;
}
