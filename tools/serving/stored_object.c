/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Immutable objects: one block of memory each, holding the struct, key, labels,
 * field values and text, so that a hundred thousand pods cost little more than
 * their JSON.
 */
#include "tools/serving/stored_object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/typed.h"

#define RV_DIGITS 20

static int
refuse(struct api_object_error *error, const char *field, const char *text)
{
	error->field = field;
	snprintf(error->text, sizeof(error->text), "%s", text);
	return -EINVAL;
}

/* Name, NUL, value, NUL for each label; labels that are no strings were refused before. */
static uint32_t
collect_labels(const struct api_node *labels, struct api_buf *buf)
{
	uint32_t n = 0;

	for (const struct api_node *child = labels ? labels->child : NULL; child; child = child->next, n++) {
		api_key(child, buf);
		api_buf_put(buf, "", 1);
		api_text(child, buf);
		api_buf_put(buf, "", 1);
	}
	return n;
}

static void
collect_fields(const struct api_resource *resource, const struct api_node *root, struct api_buf *buf)
{
	for (const struct api_field *field = resource->fields; field && field->label; field++) {
		const struct api_node *node = api_path(root, field->path);

		if (!node || node->type == API_OBJECT || node->type == API_ARRAY || node->type == API_NULL)
			api_buf_puts(buf, field->missing);
		else if (node->type == API_STRING)
			api_text(node, buf);
		else
			api_buf_put(buf, node->text, node->text_len);
		api_buf_put(buf, "", 1);
	}
}

static int
check(const struct api_resource *resource, const struct api_node *root, struct api_object_error *error)
{
	static const char *const strings[] = {"name",         "namespace",        "uid", "resourceVersion",
					      "generateName", "creationTimestamp"};
	const struct api_node *meta = api_get(root, "metadata"), *labels;

	if (!root || root->type != API_OBJECT)
		return refuse(error, "", "the object is no JSON object");
	if (!meta || meta->type != API_OBJECT)
		return refuse(error, "metadata", "metadata is missing or no object");
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		const struct api_node *node = api_get(meta, strings[i]);

		if (node && node->type != API_STRING && node->type != API_NULL)
			return refuse(error, "metadata",
				      "name, namespace, uid, resourceVersion, generateName and "
				      "creationTimestamp of metadata must be strings");
	}
	if (!api_get(meta, "name") || api_is(api_get(meta, "name"), "") ||
	    api_get(meta, "name")->type != API_STRING)
		return refuse(error, "metadata.name", "name or generateName is required");
	if (resource->namespaced && (!api_get(meta, "namespace") || api_is(api_get(meta, "namespace"), "")))
		return refuse(error, "metadata.namespace", "namespace is required");
	labels = api_get(meta, "labels");
	if (labels && labels->type != API_OBJECT && labels->type != API_NULL)
		return refuse(error, "metadata.labels", "labels must be an object of strings");
	for (const struct api_node *child = labels ? labels->child : NULL; child; child = child->next)
		if (child->type != API_STRING)
			return refuse(error, "metadata.labels", "each label's value must be a string");
	return 0;
}

int
api_object_new(const struct api_resource *resource, struct api_doc *doc, struct api_object **ret_object,
	       struct api_object_error *ret_error)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(api_buf_done) struct api_buf side = {0};
	struct api_node *meta, *rv;
	struct api_object *object;
	size_t key_len, labels_at, fields_at, rv_at = 0, meta_at = 0, meta_len = 0;
	uint32_t namespace_len = 0, label_count;
	char *at;
	int r = check(resource, doc->root, ret_error);

	if (r < 0)
		return r;
	meta = api_get(doc->root, "metadata");
	rv = api_new_string(doc, "0"); /* not empty, which its type might omit */
	if (api_get(meta, "resourceVersion"))
		api_set(doc, meta, "resourceVersion", rv);
	else
		api_set_after(doc, meta, "uid", "resourceVersion", rv);
	if (resource->message) {
		char why[API_TYPED_WHY];

		r = api_typed_fit(doc, doc->root, proto_schema_builtin(), resource->message, why);
		if (r < 0)
			return refuse(ret_error, "", why);
	}
	rv = api_get(meta, "resourceVersion");
	rv->text_len = 0; /* until the store knows it */

	if (resource->namespaced) {
		api_text(api_get(meta, "namespace"), &side);
		namespace_len = (uint32_t)side.len;
		api_buf_put(&side, "/", 1);
	}
	api_text(api_get(meta, "name"), &side);
	key_len = side.len;
	if (memchr(side.data, '\0', key_len))
		return refuse(ret_error, "metadata.name", "a name may not contain U+0000");
	api_buf_put(&side, "", 1);
	labels_at = side.len;
	label_count = collect_labels(api_get(meta, "labels"), &side);
	fields_at = side.len;
	collect_fields(resource, doc->root, &side);

	for (const struct api_node *child = doc->root->child; child; child = child->next) {
		if ((child->key_len == 4 && !memcmp(child->key, "kind", 4)) ||
		    (child->key_len == 10 && !memcmp(child->key, "apiVersion", 10)))
			continue;
		if (text.len)
			api_buf_put(&text, ",", 1);
		meta_at = child == meta ? text.len + strlen("\"metadata\":") : meta_at;
		api_print_member(child, &text, rv, &rv_at);
		meta_len = child == meta ? text.len - meta_at : meta_len;
	}
	api_buf_put(&text, "}", 1);

	object = api_alloc(sizeof(*object) + side.len + text.len + RV_DIGITS);
	at = (char *)(object + 1);
	memcpy(at, side.data, side.len);
	*object = (struct api_object){
		.namespace_len = namespace_len,
		.text_len = text.len,
		.rv_at = rv_at,
		.meta_at = meta_at,
		.meta_len = meta_len,
		.label_count = label_count,
		.key = at,
		.labels = at + labels_at,
		.fields = at + fields_at,
		.text = at + side.len,
	};
	atomic_init(&object->refs, 1);
	atomic_init(&object->encoded, NULL);
	memcpy(object->text, text.data, text.len);
	*ret_object = object;
	return 0;
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
	/* acq_rel: whoever frees has seen every other owner's last read */
	if (!object || atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(atomic_load_explicit(&object->encoded, memory_order_relaxed));
	free(object);
}

void
api_object_unrefp(struct api_object **object)
{
	api_object_unref(*object);
}

void
api_object_stamp(struct api_object *object, uint64_t rv)
{
	char digits[RV_DIGITS + 1];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, rv);
	char *at = object->text + object->rv_at;

	memmove(at + len, at + object->rv_len, object->text_len - object->rv_at - object->rv_len);
	memcpy(at, digits, len);
	object->text_len += len - object->rv_len;
	object->meta_len += len - object->rv_len;
	object->rv_len = (uint32_t)len;
	object->rv = rv;
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
api_object_print(const struct api_resource *resource, const struct api_object *object, uint64_t rv,
		 struct api_buf *buf)
{
	api_buf_put(buf, resource->head, resource->head_len);
	if (rv == 0) {
		api_buf_put(buf, object->text, object->text_len);
		return;
	}
	api_buf_put(buf, object->text, object->rv_at);
	api_buf_printf(buf, "%" PRIu64, rv);
	api_buf_put(buf, object->text + object->rv_at + object->rv_len,
		    object->text_len - object->rv_at - object->rv_len);
}

void
api_object_edit(const struct api_resource *resource, const struct api_object *object, struct api_doc *doc)
{
	struct api_doc_error error;
	struct api_buf buf = {0};
	char *copy;

	api_object_print(resource, object, 0, &buf);
	copy = api_doc_alloc(doc, buf.len);
	memcpy(copy, buf.data, buf.len);
	if (api_doc_parse(doc, copy, buf.len, NULL, &error) < 0)
		doc->root = api_new(doc, API_OBJECT); /* memory is damaged, and nothing can be told of it */
	api_buf_done(&buf);
}

/* ---- without a member of metadata ------------------------------------------- */

/* Where a member of an object's text ends: at its comma, or at the object's brace. */
static size_t
end_of_member(const char *text, size_t at, size_t len)
{
	unsigned depth = 0;

	for (bool quoted = false; at < len; at++) {
		char c = text[at];

		if (quoted && c == '\\')
			at++;
		else if (c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (depth == 0 && (c == ',' || c == '}'))
			break;
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
	}
	return at < len ? at : len;
}

/* A member of an object's text, with the comma that goes with it; false: it has none of this name. */
static bool
find_member(const char *text, size_t len, const char *name, size_t *ret_at, size_t *ret_len)
{
	size_t name_len = strlen(name);

	for (size_t at = 1, end; at < len; at = end + 1) {
		end = end_of_member(text, at, len);
		if (end - at < name_len + 3 || text[at] != '"' ||
		    memcmp(text + at + 1, name, name_len) != 0 || text[at + 1 + name_len] != '"')
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
	atomic_init(&bare->encoded, NULL);
	return bare;
}
