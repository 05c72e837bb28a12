/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each object is one block: struct, key, labels, field values and text. So 100,000 pods take little more
 * memory than their JSON.
 */
#include "tools/serving/stored_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
api_object_key(struct api_buf *buf, const char *namespace_, const char *name)
{
	api_buf_printf(buf, "%s%s%s", namespace_ ? namespace_ : "", namespace_ ? "/" : "", name);
}

struct api_object *
api_object_ref(struct api_object *object)
{
	atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
	return object;
}

void
api_object_unref(struct api_object *object)
{
	/* acq_rel: the last owner frees after all other owners' last reads */
	if (object && atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) == 1)
		free(object);
}

void
api_object_unrefp(struct api_object **object)
{
	api_object_unref(*object);
}

const char *
api_object_name(const struct api_object *object)
{
	return object->namespace_len ? object->key + object->namespace_len + 1 : object->key;
}

const char *
api_object_label(const struct api_object *object, const char *name)
{
	const char *at = object->labels;

	for (uint32_t i = 0; i < object->label_count; i++) {
		const char *value = at + strlen(at) + 1;

		if (!strcmp(at, name))
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

const char *
api_object_field(const struct api_object *object, unsigned i)
{
	const char *at = object->fields;

	while (i--)
		at += strlen(at) + 1;
	return at;
}

void
api_object_put(const struct api_object *object, size_t at, size_t len, uint64_t rv, struct api_buf *buf)
{
	size_t behind = object->rv_at + object->rv_len;

	if (rv == 0) {
		api_buf_put(buf, object->text + at, len);
		return;
	}
	api_buf_put(buf, object->text + at, object->rv_at - at);
	api_buf_printf(buf, "%" PRIu64, rv);
	api_buf_put(buf, object->text + behind, at + len - behind);
}

void
api_object_print(const struct api_resource *resource, const struct api_object *object, uint64_t rv,
		 struct api_buf *buf)
{
	api_buf_put(buf, resource->head, resource->head_len);
	api_object_put(object, 0, object->text_len, rv, buf);
}

/* ---- leaving out a member of metadata --------------------------------------- */

/* Find a member of an object's text, including one comma next to it. False: no such member. */
static bool
find_member(const char *text, size_t len, const char *name, size_t *ret_at, size_t *ret_len)
{
	size_t key, colon, value, end, name_len = strlen(name);
	struct api_doc_error error;

	for (size_t at = 1; api_doc_skip(text, len, at, &key, &colon, &error) == 0 &&
			    api_doc_skip(text, len, colon + 1, &value, &end, &error) == 0;
	     at = end + 1) {
		if (colon - key != name_len + 2 || memcmp(text + key + 1, name, name_len) != 0)
			continue;
		*ret_at = at > 1 ? at - 1 : at;
		*ret_len = end - *ret_at + (at == 1 && end < len && text[end] == ',');
		return true;
	}
	return false;
}

struct api_object *
api_object_bare(struct api_object *object)
{
	size_t side_len = (size_t)(object->text - object->key), at, len;
	struct api_object *bare;
	char *side;

	if (!find_member(object->text + object->meta_at, object->meta_len, "managedFields", &at, &len))
		return api_object_ref(object);
	at += object->meta_at;
	bare = api_alloc(sizeof(*bare) + side_len + object->text_len - len);
	side = (char *)(bare + 1);
	memcpy(side, object->key, side_len);
	memcpy(side + side_len, object->text, at);
	memcpy(side + side_len + at, object->text + at + len, object->text_len - at - len);
	*bare = (struct api_object){
		.namespace_len = object->namespace_len,
		.rv = object->rv,
		.text_len = object->text_len - len,
		.rv_at = object->rv_at - (object->rv_at > at ? len : 0),
		.rv_len = object->rv_len,
		.meta_at = object->meta_at,
		.meta_len = object->meta_len - len,
		.label_count = object->label_count,
		.key = side,
		.labels = side + (object->labels - object->key),
		.fields = side + (object->fields - object->key),
		.text = side + side_len,
	};
	atomic_init(&bare->refs, 1);
	return bare;
}
