/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scale: made of an object's metadata, spec.replicas, status.replicas (or what a definition names instead)
 * and selector; what comes back counts only for spec.replicas and the resourceVersion.
 */
#include "tools/informer-sim/scale.h"

#include <errno.h>
#include <string.h>

#include "tools/informer-sim/reply.h"

bool
sim_is_scale(const struct sim_request *request)
{
	return request->subresource && !strcmp(request->subresource, "scale");
}

static void
copy(struct sim_doc *doc, struct sim_node *to, const struct sim_node *from, const char *name)
{
	const struct sim_node *old = sim_get(from, name);

	if (old)
		sim_set(doc, to, name, sim_clone(doc, old));
}

/* matchLabels as "a=b,c=d"; of a ReplicationController the selector itself. */
static void
selector(const struct sim_node *spec, struct sim_buf *buf)
{
	const struct sim_node *labels = sim_path(spec, "selector.matchLabels");

	labels = labels ? labels : sim_get(spec, "selector");
	sim_buf_puts(buf, "");
	for (const struct sim_node *child = labels ? labels->child : NULL; child; child = child->next) {
		if (child->type != SIM_STRING)
			continue;
		sim_buf_puts(buf, buf->len ? "," : "");
		sim_key(child, buf);
		sim_buf_puts(buf, "=");
		sim_text(child, buf);
	}
}

/* A custom resource's is a text that stands in it. */
static void
custom_selector(const struct sim_node *text, struct sim_buf *buf)
{
	sim_buf_puts(buf, "");
	if (text && text->type == SIM_STRING)
		sim_text(text, buf);
}

int
sim_scale_of(struct sim_request *request, struct sim_doc *doc)
{
	const struct sim_resource *r = request->resource;
	static const char *const names[] = {"name", "namespace", "uid", "resourceVersion",
					    "creationTimestamp"};
	const struct sim_node *from = doc->root, *replicas = sim_path(from, r->scale_spec);
	const struct sim_node *ready = sim_path(from, r->scale_status);
	struct sim_node *root = sim_new(doc, SIM_OBJECT), *meta = sim_new(doc, SIM_OBJECT), *part;
	_cleanup_(sim_buf_done) struct sim_buf text = {0};

	if (r->custom && !replicas) /* the API server says so with a 500 */
		return sim_status_set(
			&request->status, 500, "InternalError",
			"Internal error occurred: the spec replicas field \".%s\" does not exist",
			r->scale_spec);
	sim_set_string(doc, root, "kind", "Scale");
	sim_set_string(doc, root, "apiVersion", "autoscaling/v1");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		copy(doc, meta, sim_get(from, "metadata"), names[i]);
	sim_set(doc, root, "metadata", meta);
	part = sim_new(doc, SIM_OBJECT);
	sim_set(doc, part, "replicas",
		replicas ? sim_clone(doc, replicas) : sim_new_token(doc, SIM_NUMBER, "1"));
	sim_set(doc, root, "spec", part);
	part = sim_new(doc, SIM_OBJECT);
	sim_set(doc, part, "replicas", ready ? sim_clone(doc, ready) : sim_new_token(doc, SIM_NUMBER, "0"));
	if (r->custom)
		custom_selector(sim_path(from, r->scale_selector), &text);
	else
		selector(sim_get(from, "spec"), &text);
	sim_set_string(doc, part, "selector", text.data);
	sim_set(doc, root, "status", part);
	doc->root = root;
	return 0;
}

/* Set what stands at a path like "spec.replicas"; what is no object on its way becomes one. */
static void
set_at(struct sim_doc *doc, const char *path, struct sim_node *value)
{
	struct sim_node *at = doc->root;
	_cleanup_(sim_freep) char *copy = sim_strndup(path, strlen(path));
	char *rest = copy, *name = strsep(&rest, ".");

	for (; rest; name = strsep(&rest, ".")) {
		if (!sim_get(at, name) || sim_get(at, name)->type != SIM_OBJECT)
			sim_set(doc, at, name, sim_new(doc, SIM_OBJECT));
		at = sim_get(at, name);
	}
	sim_set(doc, at, name, value);
}

int
sim_scale_apply(struct sim_request *request, const struct sim_object *object, struct sim_doc *doc)
{
	const struct sim_node *replicas = sim_path(doc->root, "spec.replicas");
	const struct sim_node *rv = sim_path(doc->root, "metadata.resourceVersion");
	struct sim_node *meta;

	if (!replicas)
		replicas = sim_new_token(doc, SIM_NUMBER, "0"); /* as Go reads it */
	if (replicas->type != SIM_NUMBER || memchr(replicas->text, '-', replicas->text_len) ||
	    memchr(replicas->text, '.', replicas->text_len))
		return sim_status_invalid(&request->status, request->resource, request->name,
					  "FieldValueInvalid", "spec.replicas",
					  "Invalid value: must be a number greater than or equal to 0");
	sim_object_edit(request->resource, object, doc);
	set_at(doc, request->resource->scale_spec, sim_clone(doc, replicas));
	meta = sim_get(doc->root, "metadata");
	if (rv && rv->type == SIM_STRING && rv->text_len)
		sim_set(doc, meta, "resourceVersion", sim_clone(doc, rv));
	return 0;
}

enum MHD_Result
sim_scale_reply(struct sim_request *request, const struct sim_object *object)
{
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};
	struct sim_buf body = {0};

	sim_object_edit(request->resource, object, &doc);
	if (sim_scale_of(request, &doc) < 0)
		return sim_reply_status(request);
	sim_print(doc.root, &body, NULL, NULL);
	sim_buf_puts(&body, "\n");
	return sim_reply(request, 200, "application/json", &body);
}
