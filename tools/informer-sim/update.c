/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PUT and PATCH of an object, its status or its scale.
 *
 * Both build the new document from the current object, then replace exactly that object. If the object
 * changed meanwhile, a PATCH (and a PUT without an RV) starts again, and a PUT with an RV is a Conflict. An
 * unchanged document keeps its RV and makes no event. An object with a deletionTimestamp is deleted when its
 * last finalizer is removed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-sim/body.h"
#include "tools/informer-sim/crd.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/merge.h"
#include "tools/informer-sim/names.h"
#include "tools/informer-sim/refused_write.h"
#include "tools/informer-sim/reply.h"
#include "tools/informer-sim/scale.h"

#define UNCONDITIONAL_MESSAGE "Invalid value: 0: must be specified for an update"
#define MODIFIED_MESSAGE                                                                                     \
	"the object has been modified; please apply your changes to the latest version and try again"

/* Restore a member that clients may not change. */
static void
keep(struct api_doc *doc, struct api_node *to, const struct api_node *from, const char *key)
{
	const struct api_node *old = api_get(from, key);

	if (old)
		sim_set(doc, to, key, sim_clone(doc, old));
	else
		sim_remove(to, key);
}

static int
check_identity(struct sim_request *request, const struct api_node *meta, const struct api_object *old,
	       const struct api_node *old_meta)
{
	_cleanup_(api_freep) char *name = api_text_dup(api_get(meta, "name"));
	_cleanup_(api_freep) char *uid = api_text_dup(api_get(meta, "uid"));
	_cleanup_(api_freep) char *old_uid = api_text_dup(api_get(old_meta, "uid"));
	_cleanup_(api_freep) char *rv = api_text_dup(api_get(meta, "resourceVersion"));
	char own_rv[24], why[400];

	if (name[0] && strcmp(name, request->api.name) != 0)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "the name of the object (%s) does not match the name on the URL (%s)",
				      name, request->api.name);
	if (sim_body_check_namespace(request, meta) < 0)
		return -EINVAL;
	if (uid[0] && strcmp(uid, old_uid) != 0 && !strcmp(request->api.method, "PATCH")) {
		snprintf(why, sizeof(why), "Invalid value: \"%.100s\": field is immutable", uid);
		return sim_status_invalid(&request->api.status, request->api.resource, request->api.name,
					  "FieldValueInvalid", "metadata.uid", why);
	}
	if (uid[0] && strcmp(uid, old_uid) != 0) {
		snprintf(why, sizeof(why),
			 "Precondition failed: UID in precondition: %.100s, UID in object meta: %.100s", uid,
			 old_uid);
		return sim_status_conflict(&request->api.status, request->api.resource, request->api.name,
					   why);
	}
	snprintf(own_rv, sizeof(own_rv), "%" PRIu64, old->rv);
	if (!rv[0] && request->api.resource->custom && !strcmp(request->api.method, "PUT")) {
		api_status_set(&request->api.status, 422, "Invalid",
			       "%s \"%s\" is invalid: metadata.resourceVersion: " UNCONDITIONAL_MESSAGE,
			       request->api.resource->group_resource, request->api.name);
		api_status_about(&request->api.status, request->api.resource, request->api.resource->plural,
				 request->api.name);
		api_status_cause(&request->api.status, "FieldValueInvalid", "metadata.resourceVersion", "%s",
				 UNCONDITIONAL_MESSAGE);
		return -EINVAL;
	}
	if (rv[0] && strcmp(rv, own_rv) != 0)
		return sim_status_conflict(&request->api.status, request->api.resource, request->api.name,
					   MODIFIED_MESSAGE);
	return 0;
}

static bool
has_text(const struct api_node *list, const char *text)
{
	for (const struct api_node *n = list && list->type == API_ARRAY ? list->child : NULL; n; n = n->next)
		if (api_is(n, text))
			return true;
	return false;
}

/* Refuse new finalizers of an object that is being deleted. */
static int
check_finalizers(struct sim_request *request, const struct api_node *meta, const struct api_node *old_meta)
{
	const struct api_node *list = api_get(meta, "finalizers");

	for (const struct api_node *n = list && list->type == API_ARRAY ? list->child : NULL; n;
	     n = n->next) {
		_cleanup_(api_freep) char *finalizer = api_text_dup(n);
		char text[400];

		if (has_text(api_get(old_meta, "finalizers"), finalizer))
			continue;
		snprintf(text, sizeof(text),
			 "Forbidden: no new finalizers can be added if the object is being deleted, found "
			 "new finalizers []string{\"%.200s\"}",
			 finalizer);
		return sim_status_invalid(&request->api.status, request->api.resource, request->api.name,
					  "FieldValueForbidden", "metadata.finalizers", text);
	}
	return 0;
}

/* Count a custom object's generation: changes outside metadata and status. */
static void
count_generation(struct api_doc *doc, const struct api_doc *old_doc, struct api_node *meta)
{
	static const char *const apart[] = {"metadata", "status"};
	_cleanup_(api_doc_done) struct api_doc plain = {0};
	const struct api_node *was = sim_path(old_doc->root, "metadata.generation");
	struct api_node *now = sim_clone(&plain, doc->root), *old = sim_clone(&plain, old_doc->root);
	char text[24];

	for (size_t i = 0; i < 2; i++) {
		sim_remove(now, apart[i]);
		sim_remove(old, apart[i]);
	}
	snprintf(text, sizeof(text), "%d",
		 (was && was->type == API_NUMBER ? atoi(was->text) : 0) + !sim_equal(now, old));
	if (strcmp(text, "0") != 0)
		sim_set_after(doc, meta, "uid", "generation", sim_new_token(doc, API_NUMBER, text));
}

/*
 * Replace `old` (whose document is old_doc) by doc. Returns 0 with the object and the RV to show, -ESTALE if
 * `old` was no longer current, -EINVAL with the status.
 */
static int
replace(struct sim_request *request, struct api_object *old, const struct api_doc *old_doc,
	struct api_doc *doc, struct api_object **ret_object, uint64_t *ret_rv)
{
	const struct api_resource *resource = request->api.resource;
	const struct api_node *old_meta = api_get(old_doc->root, "metadata");
	struct api_node *meta = sim_body_metadata(doc);
	int r;

	if (meta->type != API_OBJECT)
		return api_status_set(&request->api.status, 400, "BadRequest", "metadata must be an object");
	r = check_identity(request, meta, old, old_meta);
	if (r < 0)
		return r;
	sim_set_string(doc, meta, "name", request->api.name);
	if (request->api.namespace_)
		sim_set_string(doc, meta, "namespace", request->api.namespace_);
	if (request->api.subresource && !sim_is_scale(request)) {
		/* take only the status */
		struct api_node *status = api_get(doc->root, "status");

		doc->root = sim_clone(doc, old_doc->root);
		meta = api_get(doc->root, "metadata");
		if (status)
			sim_set(doc, doc->root, "status", status);
		else
			sim_remove(doc->root, "status");
	} else if (resource->has_status) {
		keep(doc, doc->root, old_doc->root, "status");
	}
	keep(doc, doc->root, old_doc->root, "kind");
	keep(doc, doc->root, old_doc->root, "apiVersion");
	keep(doc, meta, old_meta, "uid");
	keep(doc, meta, old_meta, "resourceVersion");
	keep(doc, meta, old_meta, "creationTimestamp");
	if (resource->custom)
		keep(doc, meta, old_meta, "generation");
	keep(doc, meta, old_meta, "deletionTimestamp");
	keep(doc, meta, old_meta, "deletionGracePeriodSeconds");
	*ret_rv = 0;
	if (sim_equal(doc->root, old_doc->root)) {
		*ret_object = api_object_ref(old);
		return 0;
	}
	r = sim_names_check(resource, meta, request->api.name, &request->api.status);
	if (r == 0 && api_get(old_meta, "deletionTimestamp"))
		r = check_finalizers(request, meta, old_meta);
	if (r < 0)
		return r;
	if (resource->custom)
		count_generation(doc, old_doc, meta);
	if (sim_is_crd(resource) && !request->api.subresource &&
	    sim_crd_prepare(resource, doc, &request->api.status) < 0)
		return -EINVAL;
	r = sim_body_object(request, doc, request->api.name, ret_object);
	if (r < 0)
		return r;
	if (api_get(meta, "deletionTimestamp") && sim_count(api_get(meta, "finalizers")) == 0)
		r = sim_store_delete(request->server->store, resource, old, ret_rv);
	else
		r = sim_store_update(request->server->store, resource, old, *ret_object);
	if (r == 0 && sim_is_crd(resource) && *ret_rv)
		sim_crd_withdraw(request->server->registry, request->server->store, resource, old);
	else if (r == 0 && sim_is_crd(resource))
		sim_crd_serve(request->server->registry, request->server->store, resource, old, *ret_object);
	if (r < 0) {
		api_object_unref(*ret_object);
		*ret_object = NULL;
	}
	return r;
}

enum MHD_Result
sim_handle_update(struct sim_request *request)
{
	request->verb = "UPDATE";
	for (;;) {
		_cleanup_(api_object_unrefp) struct api_object *old = NULL;
		_cleanup_(api_object_unrefp) struct api_object *now = NULL;
		_cleanup_(api_doc_done) struct api_doc old_doc = {0};
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		uint64_t rv = 0;
		int r;

		if (sim_body_parse(request, &doc) < 0)
			return sim_reply_status(request);
		old = sim_request_object(request);
		if (!old)
			return sim_reply_status(request);
		sim_object_edit(request->api.resource, old, &old_doc);
		r = sim_is_scale(request) ? sim_scale_apply(request, old, &doc) : 0;
		if (r == 0)
			r = replace(request, old, &old_doc, &doc, &now, &rv);
		if (r == 0)
			return sim_is_scale(request) ? sim_scale_reply(request, now)
						     : sim_reply_object(request, 200, now, rv);
		if (r != -ESTALE)
			return sim_reply_status(request);
	}
}

enum patch_type { PATCH_MERGE, PATCH_STRATEGIC, PATCH_JSON };

static int
patch_type(struct sim_request *request, enum patch_type *ret_type)
{
	static const char *const types[] = {[PATCH_MERGE] = "application/merge-patch+json",
					    [PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
					    [PATCH_JSON] = "application/json-patch+json"};
	const char *type = api_request_header(&request->api, "Content-Type");
	size_t len = type ? strcspn(type, "; ") : 0;

	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		/* custom objects have no Go types, and so no merge keys */
		if (i == PATCH_STRATEGIC && request->api.resource->custom)
			continue;
		if (len == strlen(types[i]) && !strncasecmp(type, types[i], len)) {
			*ret_type = (enum patch_type)i;
			return 0;
		}
	}
	/* like a server without server-side apply, which kubectl reports */
	return api_status_set(
		&request->api.status, 415, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: "
		"application/json-patch+json, application/merge-patch+json%s",
		request->api.resource->custom ? "" : ", application/strategic-merge-patch+json");
}

/* Apply the patch to doc, the current object. */
static int
patch_doc(struct sim_request *request, enum patch_type type, const struct api_node *patch,
	  struct api_doc *doc)
{
	_cleanup_(api_freep) char *error = NULL;
	int r = 0;

	switch (type) {
	case PATCH_MERGE:
		doc->root = sim_merge(doc, doc->root, patch);
		break;
	case PATCH_STRATEGIC:
		r = sim_merge_strategic(doc, doc->root, patch, &error);
		break;
	case PATCH_JSON:
		r = sim_patch_json(doc, patch, &error);
		break;
	}
	if (r < 0 && type == PATCH_JSON)
		return api_status_set(&request->api.status, 422, "Invalid", "%s", error);
	if (r < 0 && strstr(error, "merge key"))
		/* the server answers 500 too */
		return api_status_set(&request->api.status, 500, "", "%s", error);
	return r < 0 ? api_status_set(&request->api.status, 400, "BadRequest", "%s", error) : 0;
}

/* The server's answer for a document that is not a patch. */
static int
no_patch(struct sim_request *request, enum patch_type type, const struct api_node *root)
{
	static const char *const types[] = {[API_STRING] = "string", [API_NUMBER] = "number",
					    [API_TRUE] = "bool",     [API_FALSE] = "bool",
					    [API_ARRAY] = "array",   [API_NULL] = "null"};

	return api_status_set(&request->api.status, 400, "BadRequest",
			      "%sjson: cannot unmarshal %s into Go value of type map[string]interface {}",
			      type == PATCH_STRATEGIC ? "" : "error decoding patch: ", types[root->type]);
}

enum MHD_Result
sim_handle_patch(struct sim_request *request)
{
	_cleanup_(api_doc_done) struct api_doc patch = {0};
	struct api_doc_error error;
	enum patch_type type = PATCH_MERGE;

	request->verb = "PATCH";
	api_buf_put(&request->body, "", 0);
	if (sim_body_dry_run(request, NULL) < 0 || patch_type(request, &type) < 0)
		return sim_reply_status(request);
	if (api_doc_parse(&patch, request->body.data, request->body.len, NULL, &error) < 0) {
		api_status_set(&request->api.status, 400, "BadRequest", "error decoding patch: %s",
			       error.text);
		return sim_reply_status(request);
	}
	if (type == PATCH_JSON && patch.root->type == API_OBJECT) {
		api_status_set(&request->api.status, 400, "BadRequest",
			       "error decoding patch: json: cannot unmarshal object into Go value of type "
			       "[]handlers.jsonPatchOp");
		return sim_reply_status(request);
	}
	if (type != PATCH_JSON && patch.root->type != API_OBJECT) {
		no_patch(request, type, patch.root);
		return sim_reply_status(request);
	}
	for (;;) {
		_cleanup_(api_object_unrefp) struct api_object *old = sim_request_object(request);
		_cleanup_(api_object_unrefp) struct api_object *now = NULL;
		_cleanup_(api_doc_done) struct api_doc old_doc = {0};
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		uint64_t rv = 0;
		int r;

		if (!old)
			return sim_reply_status(request);
		sim_object_edit(request->api.resource, old, &old_doc);
		sim_object_edit(request->api.resource, old, &doc);
		r = sim_is_scale(request) ? sim_scale_of(request, &doc) : 0;
		if (r == 0)
			r = patch_doc(request, type, patch.root, &doc);
		if (r == 0 && sim_is_scale(request))
			r = sim_scale_apply(request, old, &doc);
		if (r == 0)
			r = replace(request, old, &old_doc, &doc, &now, &rv);
		if (r == 0)
			return sim_is_scale(request) ? sim_scale_reply(request, now)
						     : sim_reply_object(request, 200, now, rv);
		if (r != -ESTALE)
			return sim_reply_status(request);
	}
}
