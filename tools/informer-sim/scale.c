/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Scale has the object's metadata, spec.replicas, status.replicas (or the fields that a definition names)
 * and selector. A write takes only spec.replicas and the resourceVersion of a Scale.
 */
#include "tools/informer-sim/scale.h"

#include <errno.h>
#include <string.h>

#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/refused_write.h"
#include "tools/informer-sim/reply.h"

bool
sim_is_scale(const struct sim_request *request)
{
	return request->api.subresource && !strcmp(request->api.subresource, "scale");
}

static void
copy(struct api_doc *doc, struct api_node *to, const struct api_node *from, const char *name)
{
	const struct api_node *old = api_get(from, name);

	if (old)
		sim_set(doc, to, name, sim_clone(doc, old));
}

/* Write matchLabels as "a=b,c=d"; for a ReplicationController the selector itself. */
static void
selector(const struct api_node *spec, struct api_buf *buf)
{
	const struct api_node *labels = sim_path(spec, "selector.matchLabels");

	labels = labels ? labels : api_get(spec, "selector");
	api_buf_puts(buf, "");
	for (const struct api_node *child = labels ? labels->child : NULL; child; child = child->next) {
		if (child->type != API_STRING)
			continue;
		api_buf_puts(buf, buf->len ? "," : "");
		sim_key(child, buf);
		api_buf_puts(buf, "=");
		api_text(child, buf);
	}
}

/* Write a custom object's selector, which is a text. */
static void
custom_selector(const struct api_node *text, struct api_buf *buf)
{
	api_buf_puts(buf, "");
	if (text && text->type == API_STRING)
		api_text(text, buf);
}

int
sim_scale_of(struct sim_request *request, struct api_doc *doc)
{
	const struct api_resource *r = request->api.resource;
	static const char *const names[] = {"name", "namespace", "uid", "resourceVersion",
					    "creationTimestamp"};
	const struct api_node *from = doc->root, *replicas = sim_path(from, r->scale_spec);
	const struct api_node *ready = sim_path(from, r->scale_status);
	struct api_node *root = api_new(doc, API_OBJECT), *meta = api_new(doc, API_OBJECT), *part;
	_cleanup_(api_buf_done) struct api_buf text = {0};

	if (r->custom && !replicas) /* the API server answers 500 */
		return api_status_set(
			&request->api.status, 500, "InternalError",
			"Internal error occurred: the spec replicas field \".%s\" does not exist",
			r->scale_spec);
	sim_set_string(doc, root, "kind", "Scale");
	sim_set_string(doc, root, "apiVersion", "autoscaling/v1");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		copy(doc, meta, api_get(from, "metadata"), names[i]);
	sim_set(doc, root, "metadata", meta);
	part = api_new(doc, API_OBJECT);
	sim_set(doc, part, "replicas",
		replicas ? sim_clone(doc, replicas) : sim_new_token(doc, API_NUMBER, "1"));
	sim_set(doc, root, "spec", part);
	part = api_new(doc, API_OBJECT);
	sim_set(doc, part, "replicas", ready ? sim_clone(doc, ready) : sim_new_token(doc, API_NUMBER, "0"));
	if (r->custom)
		custom_selector(sim_path(from, r->scale_selector), &text);
	else
		selector(api_get(from, "spec"), &text);
	sim_set_string(doc, part, "selector", text.data);
	sim_set(doc, root, "status", part);
	doc->root = root;
	return 0;
}

/* Set the value at a path like "spec.replicas". Objects on the path are created. */
static void
set_at(struct api_doc *doc, const char *path, struct api_node *value)
{
	struct api_node *at = doc->root;
	_cleanup_(api_freep) char *copy = api_strndup(path, strlen(path));
	char *rest = copy, *name = strsep(&rest, ".");

	for (; rest; name = strsep(&rest, ".")) {
		if (!api_get(at, name) || api_get(at, name)->type != API_OBJECT)
			sim_set(doc, at, name, api_new(doc, API_OBJECT));
		at = api_get(at, name);
	}
	sim_set(doc, at, name, value);
}

int
sim_scale_apply(struct sim_request *request, const struct api_object *object, struct api_doc *doc)
{
	const struct api_node *replicas = sim_path(doc->root, "spec.replicas");
	const struct api_node *rv = sim_path(doc->root, "metadata.resourceVersion");
	struct api_node *meta;

	if (!replicas)
		replicas = sim_new_token(doc, API_NUMBER, "0"); /* Go's default */
	if (replicas->type != API_NUMBER || memchr(replicas->text, '-', replicas->text_len) ||
	    memchr(replicas->text, '.', replicas->text_len))
		return sim_status_invalid(&request->api.status, request->api.resource, request->api.name,
					  "FieldValueInvalid", "spec.replicas",
					  "Invalid value: must be a number greater than or equal to 0");
	sim_object_edit(request->api.resource, object, doc);
	set_at(doc, request->api.resource->scale_spec, sim_clone(doc, replicas));
	meta = api_get(doc->root, "metadata");
	if (rv && rv->type == API_STRING && rv->text_len)
		sim_set(doc, meta, "resourceVersion", sim_clone(doc, rv));
	return 0;
}

enum MHD_Result
sim_scale_reply(struct sim_request *request, const struct api_object *object)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_buf body = {0};

	sim_object_edit(request->api.resource, object, &doc);
	if (sim_scale_of(request, &doc) < 0)
		return sim_reply_status(request);
	api_print(doc.root, &body, NULL, NULL);
	api_buf_puts(&body, "\n");
	return sim_reply(request, 200, "application/json", &body);
}
