/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single objects: get, create, delete, deletecollection; update.c has PUT and PATCH. There is no admission
 * and no namespace lifecycle: a namespace need not exist, only the phase is defaulted, a status given at
 * creation is kept, and a pod without finalizers is deleted at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/body.h"
#include "tools/informer-sim/crd.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/names.h"
#include "tools/informer-sim/time_print.h"
#include "tools/serving/query.h"
#include "tools/informer-sim/reply.h"
#include "tools/informer-sim/scale.h"

/* The object at sim_fault_stale_rv(), referenced; NULL with the status NotFound. */
static struct api_object *
stale_object(struct sim_request *request)
{
	_cleanup_(api_freep) char *key = sim_request_key(request, request->api.name);
	struct api_object *object;
	struct sim_view view;

	if (sim_store_view(request->server->store, request->api.resource, sim_fault_stale_rv(request), &view,
			   NULL) < 0)
		return sim_request_object(request);
	sim_view_seek(&view, key);
	object = sim_view_next(&view);
	object = object && !strcmp(object->key, key) ? api_object_ref(object) : NULL;
	sim_view_done(&view);
	if (!object)
		api_status_not_found(&request->api.status, request->api.resource, request->api.name);
	return object;
}

enum MHD_Result
sim_handle_get(struct sim_request *request)
{
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	_cleanup_(api_query_done) struct api_query query = {0};

	request->verb = "GET";
	if (api_query_parse(&request->api, &query) < 0 ||
	    (query.rv && sim_request_await(request, query.rv) < 0))
		return sim_reply_status(request);
	object = request->stale ? stale_object(request) : sim_request_object(request);
	if (object && sim_is_scale(request))
		return sim_scale_reply(request, object);
	return object ? sim_reply_object(request, 200, object, 0) : sim_reply_status(request);
}

/* ---- create --------------------------------------------------------------- */

/* Set the phase that the server gives to new pods and namespaces. */
static void
set_phase(const struct api_resource *resource, struct api_doc *doc)
{
	bool pod = !resource->group[0] && !strcmp(resource->plural, "pods");
	bool namespace_ = !resource->group[0] && !strcmp(resource->plural, "namespaces");
	struct api_node *status = api_get(doc->root, "status");

	if ((!pod && !namespace_) || (status && status->type != API_OBJECT) || api_get(status, "phase"))
		return;
	if (!status) {
		sim_set(doc, doc->root, "status", api_new(doc, API_OBJECT));
		status = api_get(doc->root, "status");
	}
	sim_set_string(doc, status, "phase", pod ? "Pending" : "Active");
}

/* Put members of metadata into the server's order, other members last. */
static void
order_metadata(struct api_node *meta)
{
	static const char *const order[] = {"name",
					    "generateName",
					    "namespace",
					    "uid",
					    "resourceVersion",
					    "generation",
					    "creationTimestamp",
					    "deletionTimestamp",
					    "deletionGracePeriodSeconds",
					    "labels",
					    "annotations",
					    "ownerReferences",
					    "finalizers",
					    "managedFields"};
	struct api_node ordered = {.type = API_OBJECT}, *next;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct api_node *member = api_get(meta, order[i]);

		if (!member)
			continue;
		sim_remove(meta, order[i]);
		api_append(&ordered, member);
	}
	for (struct api_node *rest = meta->child; rest; rest = next) {
		next = rest->next;
		api_append(&ordered, rest);
	}
	meta->child = ordered.child;
	meta->last = ordered.last;
}

/* Fill the members that the server fills. */
static int
complete(struct sim_request *request, struct api_doc *doc, char **ret_name)
{
	struct api_node *meta = sim_body_metadata(doc);
	char uid[SIM_UID_SIZE], time_text[SIM_TIME_SIZE], suffix[6];
	_cleanup_(api_freep) char *prefix = NULL;
	struct api_buf name = {0};
	int r;

	if (meta->type != API_OBJECT)
		return api_status_set(&request->api.status, 400, "BadRequest", "metadata must be an object");
	api_text(api_get(meta, "name"), &name);
	if (name.len == 0 && api_get(meta, "generateName")) {
		prefix = api_text_dup(api_get(meta, "generateName"));
		if (prefix[0]) {
			sim_server_suffix(request->server, suffix);
			api_buf_printf(&name, "%.58s%s", prefix, suffix);
		}
	}
	*ret_name = api_buf_take(&name);
	r = sim_body_check_name(request, *ret_name);
	if (r < 0)
		return r;
	r = sim_body_check_namespace(request, meta);
	if (r < 0)
		return r;
	sim_set_string(doc, meta, "name", *ret_name);
	if (request->api.namespace_)
		sim_set_string(doc, meta, "namespace", request->api.namespace_);
	sim_server_uid(request->server, uid);
	sim_time_print((int64_t)time(NULL), time_text);
	sim_set_string(doc, meta, "uid", uid);
	sim_remove(meta, "resourceVersion");
	sim_remove(meta, "deletionTimestamp");
	sim_remove(meta, "deletionGracePeriodSeconds");
	sim_set_string(doc, meta, "creationTimestamp", time_text);
	set_phase(request->api.resource, doc);
	if (request->api.resource->custom)
		sim_set_after(doc, meta, "uid", "generation", sim_new_token(doc, API_NUMBER, "1"));
	else
		order_metadata(meta);
	return sim_names_check(request->api.resource, meta, *ret_name, &request->api.status);
}

/* Refuse an RV with a 500, as the real server: it notices only when it stores the object. */
static int
check_rv_unset(struct sim_request *request, struct api_doc *doc)
{
	_cleanup_(api_freep) char *rv = api_text_dup(api_get(sim_body_metadata(doc), "resourceVersion"));

	if (!rv[0] || !strcmp(rv, "0"))
		return 0;
	return api_status_set(&request->api.status, 500, "",
			      "resourceVersion should not be set on objects to be created");
}

static bool
is_being_deleted(struct sim_request *request, const char *name)
{
	_cleanup_(api_freep) char *key = sim_request_key(request, name);
	_cleanup_(api_object_unrefp) struct api_object *object = sim_store_get(request->server->store,
									       request->api.resource, key);
	_cleanup_(api_doc_done) struct api_doc doc = {0};

	if (!object)
		return false;
	sim_object_edit(request->api.resource, object, &doc);
	return sim_path(doc.root, "metadata.deletionTimestamp") != NULL;
}

static int
create(struct sim_request *request, struct api_object **ret_object)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *name = NULL;
	int r;

	r = sim_body_parse(request, &doc);
	if (r < 0)
		return r;
	r = check_rv_unset(request, &doc);
	if (r < 0)
		return r;
	r = complete(request, &doc, &name);
	if (r < 0)
		return r;
	if (sim_is_crd(request->api.resource) &&
	    sim_crd_prepare(request->api.resource, &doc, &request->api.status) < 0)
		return -EINVAL;
	r = sim_body_object(request, &doc, name, ret_object);
	if (r < 0)
		return r;
	if (sim_store_create(request->server->store, request->api.resource, *ret_object) == -EEXIST) {
		api_status_set(&request->api.status, 409, "AlreadyExists", "%s%s \"%s\" already exists",
			       is_being_deleted(request, name) ? "object is being deleted: " : "",
			       request->api.resource->group_resource, name);
		api_status_about(&request->api.status, request->api.resource, NULL, name);
		return -EINVAL;
	}
	if (sim_is_crd(request->api.resource))
		sim_crd_serve(request->server->registry, request->server->store, request->api.resource, NULL,
			      *ret_object);
	return 0;
}

enum MHD_Result
sim_handle_create(struct sim_request *request)
{
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;

	request->verb = "CREATE";
	if (create(request, &object) < 0)
		return sim_reply_status(request);
	return sim_reply_object(request, 201, object, 0);
}

/* ---- delete --------------------------------------------------------------- */

/* Keep the object for its finalizers, with a deletionTimestamp. */
static int
mark_deleted(struct sim_request *request, struct api_object *old, struct api_doc *doc,
	     struct api_object **ret_object)
{
	struct api_node *meta = api_get(doc->root, "metadata");
	struct sim_object_error error;
	char time_text[SIM_TIME_SIZE];
	int r;

	if (api_get(meta, "deletionTimestamp")) {
		*ret_object = api_object_ref(old);
		return 0;
	}
	sim_time_print((int64_t)time(NULL), time_text);
	sim_set_string(doc, meta, "deletionTimestamp", time_text);
	sim_set(doc, meta, "deletionGracePeriodSeconds", sim_new_token(doc, API_NUMBER, "0"));
	r = sim_object_new(request->api.resource, doc, ret_object, &error);
	if (r < 0)
		return r;
	r = sim_store_update(request->server->store, request->api.resource, old, *ret_object);
	if (r < 0) {
		api_object_unref(*ret_object);
		*ret_object = NULL;
	}
	return r;
}

/* Delete or mark. *ret_rv: the RV to show, 0: the object's own. -ESTALE: the object changed, retry. */
static int
delete_one(struct sim_request *request, struct api_object *old, struct api_object **ret_object,
	   uint64_t *ret_rv)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	int r;

	*ret_rv = 0;
	sim_object_edit(request->api.resource, old, &doc);
	if (sim_count(sim_path(doc.root, "metadata.finalizers")))
		return mark_deleted(request, old, &doc, ret_object);
	r = sim_store_delete(request->server->store, request->api.resource, old, ret_rv);
	if (r == 0 && sim_is_crd(request->api.resource))
		sim_crd_withdraw(request->server->registry, request->server->store, request->api.resource,
				 old);
	if (r == 0)
		*ret_object = api_object_ref(old);
	return r;
}

static int
check_preconditions(struct sim_request *request, const struct api_doc *options, const struct api_object *old)
{
	const struct api_node *uid = sim_path(options->root, "preconditions.uid");
	const struct api_node *rv = sim_path(options->root, "preconditions.resourceVersion");
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *want_uid = api_text_dup(uid);
	_cleanup_(api_freep) char *want_rv = api_text_dup(rv);
	_cleanup_(api_freep) char *have = NULL;
	char own_rv[24];

	sim_object_edit(request->api.resource, old, &doc);
	have = api_text_dup(sim_path(doc.root, "metadata.uid"));
	snprintf(own_rv, sizeof(own_rv), "%" PRIu64, old->rv);
	if (want_uid[0] && strcmp(want_uid, have) != 0)
		api_status_set(
			&request->api.status, 409, "Conflict",
			"Operation cannot be fulfilled on %s \"%s\": the UID in the precondition (%s) does "
			"not match "
			"the UID in record (%s). The object might have been deleted and then recreated",
			request->api.resource->kind, request->api.name, want_uid, have);
	else if (want_rv[0] && strcmp(want_rv, own_rv) != 0)
		api_status_set(
			&request->api.status, 409, "Conflict",
			"Operation cannot be fulfilled on %s \"%s\": the ResourceVersion in the precondition "
			"(%s) does "
			"not match the ResourceVersion in record (%s). The object might have been modified",
			request->api.resource->kind, request->api.name, want_rv, own_rv);
	else
		return 0;
	api_status_about(&request->api.status, request->api.resource, request->api.resource->kind,
			 request->api.name);
	return -EINVAL;
}

/*
 * Whether the answer to DELETE shows the object, and not only its name and UID (ReturnDeletedObject in the
 * real registries). A real namespace is shown because its deletion takes time.
 */
static bool
shows_deleted(const struct api_resource *resource)
{
	static const char *const plurals[] = {"pods", "services", "serviceaccounts", "persistentvolumeclaims",
					      "namespaces"};

	for (size_t i = 0; i < sizeof(plurals) / sizeof(*plurals); i++)
		if (!resource->group[0] && !strcmp(resource->plural, plurals[i]))
			return true;
	return false;
}

static enum MHD_Result
reply_deleted(struct sim_request *request, const struct api_object *gone)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *uid = NULL;
	struct api_buf body = {0};

	sim_object_edit(request->api.resource, gone, &doc);
	uid = api_text_dup(sim_path(doc.root, "metadata.uid"));
	api_buf_puts(&body, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
			    "\"Success\",\"details\":{\"name\":");
	api_buf_json_str(&body, request->api.name);
	if (request->api.resource->group[0])
		api_buf_printf(&body, ",\"group\":\"%s\"", request->api.resource->group);
	api_buf_printf(&body, ",\"kind\":\"%s\",\"uid\":", request->api.resource->plural);
	api_buf_json_str(&body, uid);
	api_buf_puts(&body, "}}\n");
	return sim_reply(request, 200, "application/json", &body);
}

/*
 * Check the options in the query or the body. The propagation policy has no effect: there is no garbage
 * collector.
 */
static int
check_delete_options(struct sim_request *request, const struct api_doc *options)
{
	static const char *const policies[] = {"", "Foreground", "Background", "Orphan"};
	const char *asked = api_request_query(&request->api, "propagationPolicy"),
		   *period = api_request_query(&request->api, "gracePeriodSeconds");
	_cleanup_(api_freep) char *said = api_text_dup(api_get(options->root, "propagationPolicy"));
	const char *policy = asked ? asked : said;
	char text[200];

	if (period && period[0] && period[strspn(period, "-0123456789")])
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "strconv.ParseInt: parsing \"%.100s\": invalid syntax", period);
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		if (!strcmp(policy, policies[i]))
			return 0;
	snprintf(text, sizeof(text),
		 "Unsupported value: \"%.100s\": supported values: \"Foreground\", \"Background\", "
		 "\"Orphan\", \"nil\"",
		 policy);
	api_status_set(&request->api.status, 422, "Invalid",
		       "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: %s", text);
	request->api.status.group = "meta.k8s.io";
	request->api.status.kind = "DeleteOptions";
	api_status_cause(&request->api.status, "FieldValueNotSupported", "propagationPolicy", "%s", text);
	return -EINVAL;
}

enum MHD_Result
sim_handle_delete(struct sim_request *request)
{
	_cleanup_(api_doc_done) struct api_doc options = {0};
	struct api_doc_error error;

	request->verb = "DELETE";
	if (request->body.len &&
	    api_doc_parse(&options, request->body.data, request->body.len, NULL, &error) < 0) {
		api_status_set(&request->api.status, 400, "BadRequest",
			       "couldn't get version/kind; json parse error: %s", error.text);
		return sim_reply_status(request);
	}
	if (sim_body_dry_run(request, options.root) < 0 || check_delete_options(request, &options) < 0)
		return sim_reply_status(request);
	for (;;) {
		_cleanup_(api_object_unrefp) struct api_object *old = sim_request_object(request);
		_cleanup_(api_object_unrefp) struct api_object *gone = NULL;
		uint64_t rv;
		int r;

		if (!old || check_preconditions(request, &options, old) < 0)
			return sim_reply_status(request);
		r = delete_one(request, old, &gone, &rv);
		if (r == 0 && rv && !shows_deleted(request->api.resource))
			return reply_deleted(request, gone);
		if (r == 0)
			return sim_reply_object(request, 200, gone, rv);
	}
}

/* Delete an object of a view, even if it changed meanwhile, unless the query no longer matches. */
static void
delete_listed(struct sim_request *request, const struct api_query *query, const struct api_object *listed)
{
	for (;;) {
		_cleanup_(api_object_unrefp) struct api_object *old = sim_store_get(
			request->server->store, request->api.resource, listed->key);
		_cleanup_(api_object_unrefp) struct api_object *gone = NULL;
		uint64_t rv;

		if (!old || !api_query_matches(query, old) || delete_one(request, old, &gone, &rv) == 0)
			return;
	}
}

enum MHD_Result
sim_handle_delete_collection(struct sim_request *request)
{
	_cleanup_(api_query_done) struct api_query query = {0};
	_cleanup_(api_buf_done) struct api_buf prefix = {0};
	const struct api_resource *resource = request->api.resource;
	struct api_buf body = {0};
	struct sim_view view;
	const struct api_object *object;
	bool first = true;

	request->verb = "DELETECOLLECTION";
	if (api_query_parse(&request->api, &query) < 0 || sim_body_dry_run(request, NULL) < 0)
		return sim_reply_status(request);
	api_object_key(&prefix, request->api.namespace_, "");
	sim_store_view(request->server->store, resource, 0, &view, NULL);
	sim_view_seek(&view, prefix.data);
	api_buf_printf(
		&body,
		"{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
		"\"},\"items\":[",
		resource->kind, resource->api_version, view.rv);
	while ((object = sim_view_next(&view)) && !strncmp(object->key, prefix.data, prefix.len)) {
		if (!api_query_matches(&query, object))
			continue;
		api_buf_puts(&body, first ? "" : ",");
		api_buf_put(&body, resource->head, resource->item_head_len);
		api_buf_put(&body, object->text, object->text_len);
		first = false;
		delete_listed(request, &query, object);
	}
	sim_view_done(&view);
	api_buf_puts(&body, "]}\n");
	return sim_reply(request, 200, "application/json", &body);
}
