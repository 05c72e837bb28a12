/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a document, fits it to its type, and prints it once; see new_object.h. */
#include "tools/informer-sim/new_object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/typed.h"

#define RV_DIGITS 20

static int
refuse(struct sim_object_error *error, const char *field, const char *text)
{
	error->field = field;
	snprintf(error->text, sizeof(error->text), "%s", text);
	return -EINVAL;
}

/* Append name, NUL, value, NUL for each label. check() refused values that are not strings. */
static uint32_t
collect_labels(const struct api_node *labels, struct api_buf *buf)
{
	uint32_t n = 0;

	for (const struct api_node *child = labels ? labels->child : NULL; child; child = child->next, n++) {
		sim_key(child, buf);
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
		const struct api_node *node = sim_path(root, field->path);

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
check(const struct api_resource *resource, const struct api_node *root, struct sim_object_error *error)
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
sim_object_new(const struct api_resource *resource, struct api_doc *doc, struct api_object **ret_object,
	       struct sim_object_error *ret_error)
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
	rv = sim_new_string(doc, "0"); /* not "", which its type might omit */
	if (api_get(meta, "resourceVersion"))
		sim_set(doc, meta, "resourceVersion", rv);
	else
		sim_set_after(doc, meta, "uid", "resourceVersion", rv);
	if (resource->message) {
		char why[SIM_TYPED_WHY];

		r = sim_typed_fit(doc, doc->root, proto_schema_builtin(), resource->message, why);
		if (r < 0)
			return refuse(ret_error, "", why);
	}
	rv = api_get(meta, "resourceVersion");
	rv->text_len = 0; /* until the store assigns it */

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
		api_buf_put(&text, "\"", 1);
		api_buf_put(&text, child->key, child->key_len);
		api_buf_put(&text, "\":", 2);
		api_print(child, &text, rv, &rv_at);
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
	memcpy(object->text, text.data, text.len);
	*ret_object = object;
	return 0;
}

void
sim_object_stamp(struct api_object *object, uint64_t rv)
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
