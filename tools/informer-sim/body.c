/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a body's format, kind, name and namespace, with the real server's messages; see body.h. */
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/body.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/informer-sim/refused_write.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *
sim_request_key(const struct sim_request *request, const char *name)
{
	struct api_buf key = {0};

	api_object_key(&key, request->api.resource->namespaced ? request->api.namespace_ : NULL, name);
	return api_buf_take(&key);
}

struct api_object *
sim_request_object(struct sim_request *request)
{
	_cleanup_(api_freep) char *key = sim_request_key(request, request->api.name);
	struct api_object *object = sim_store_get(request->server->store, request->api.resource, key);

	if (!object)
		api_status_not_found(&request->api.status, request->api.resource, request->api.name);
	return object;
}

int
sim_body_dry_run(struct sim_request *request, const struct api_node *delete_options)
{
	const char *dry = api_request_query(&request->api, "dryRun");

	if ((dry && dry[0]) || sim_count(api_get(delete_options, "dryRun")))
		return api_status_set(
			&request->api.status, 400, "BadRequest",
			"informer-sim does not serve dryRun: leave it out, or try it on a real API server");
	return 0;
}

/* Replace a typed client's protobuf body by JSON. */
static int
translate(struct sim_request *request)
{
	struct api_buf json = {0};
	char why[200];
	int r = sim_protobuf_json(request->body.data ? request->body.data : "", request->body.len, &json,
				  why);

	if (r < 0) {
		api_buf_done(&json);
		return r == -EPROTO
			       ? api_status_set(&request->api.status, 400, "BadRequest", "%s", why)
			       : api_status_set(&request->api.status, 415, "UnsupportedMediaType", "%s", why);
	}
	api_buf_done(&request->body);
	request->body = json;
	return 0;
}

static int
check_type(struct sim_request *request)
{
	const char *type = api_request_header(&request->api, "Content-Type");
	size_t len = type ? strcspn(type, "; ") : 0;

	if (len == sizeof(API_PROTOBUF_TYPE) - 1 && !strncasecmp(type, API_PROTOBUF_TYPE, len))
		return translate(request);
	if (len == 0 || (len == 16 && !strncasecmp(type, "application/json", 16)) || !strncmp(type, "*/*", 3))
		return 0;
	return api_status_set(
		&request->api.status, 415, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: "
		"application/json");
}

static int
check_kind(struct sim_request *request, const struct api_doc *doc)
{
	const struct api_resource *resource = request->api.resource;
	const struct api_node *kind = api_get(doc->root, "kind"), *version = api_get(doc->root, "apiVersion");
	_cleanup_(api_freep) char *have_kind = api_text_dup(kind);
	_cleanup_(api_freep) char *have_version = api_text_dup(version);

	if (doc->root->type != API_OBJECT)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "the object provided is unrecognized (must be of type %s): couldn't "
				      "get version/kind; "
				      "json parse error: it is no JSON object",
				      resource->kind);
	if (have_version[0] && strcmp(have_version, resource->api_version) != 0)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "%s in version \"%s\" cannot be handled as a %s",
				      have_kind[0] ? have_kind : resource->kind,
				      strchr(have_version, '/') ? strchr(have_version, '/') + 1
								: have_version,
				      resource->kind);
	if (have_kind[0] && strcmp(have_kind, resource->kind) != 0)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "%s in version \"%s\" cannot be handled as a %s", have_kind,
				      resource->version, resource->kind);
	return 0;
}

int
sim_body_parse(struct sim_request *request, struct api_doc *doc)
{
	struct api_doc_error error;
	int r;

	r = sim_body_dry_run(request, NULL);
	if (r < 0)
		return r;
	r = check_type(request);
	if (r < 0)
		return r;
	api_buf_put(&request->body, "", 0);
	if (api_doc_parse(doc, request->body.data, request->body.len, NULL, &error) < 0)
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "the object provided is unrecognized (must be of type %s): couldn't "
				      "get version/kind; "
				      "json parse error: %s (%.100s)",
				      request->api.resource->kind, error.text,
				      request->body.len ? request->body.data : "<empty>");
	/* a Scale has its own kind */
	return request->api.subresource && !strcmp(request->api.subresource, "scale")
		       ? 0
		       : check_kind(request, doc);
}

struct api_node *
sim_body_metadata(struct api_doc *doc)
{
	struct api_node *meta = api_get(doc->root, "metadata");

	if (!meta || meta->type == API_NULL) {
		sim_set(doc, doc->root, "metadata", api_new(doc, API_OBJECT));
		meta = api_get(doc->root, "metadata");
	}
	return meta;
}

/* Parts of lower-case letters, digits and '-', joined by '.'. Each begins and ends alphanumeric. */
static bool
is_subdomain(const char *name)
{
	char before = '.';

	if (strlen(name) > 253)
		return false;
	for (const char *c = name; *c; before = *c++) {
		bool plain = islower((unsigned char)*c) || isdigit((unsigned char)*c);

		if (!plain && (before == '.' || (*c != '-' && *c != '.') || (*c == '.' && before == '-')))
			return false;
	}
	return before != '.' && before != '-';
}

int
sim_body_check_name(struct sim_request *request, const char *name)
{
	char text[700];

	if (!name[0])
		return sim_status_invalid(&request->api.status, request->api.resource, name,
					  "FieldValueRequired", "metadata.name",
					  "Required value: name or generateName is required");
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		snprintf(text, sizeof(text), "Invalid value: \"%s\": may not be '%s'", name, name);
	else if (strpbrk(name, "/%"))
		snprintf(text, sizeof(text), "Invalid value: \"%.250s\": may not contain '%c'", name,
			 *strpbrk(name, "/%"));
	else if (!is_subdomain(name))
		snprintf(text, sizeof(text),
			 "Invalid value: \"%.250s\": a lowercase RFC 1123 subdomain must consist of lower "
			 "case alphanumeric "
			 "characters, '-' or '.', and must start and end with an alphanumeric character "
			 "(e.g. 'example.com', "
			 "regex used for validation is "
			 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
			 name);
	else
		return 0;
	return sim_status_invalid(&request->api.status, request->api.resource, name, "FieldValueInvalid",
				  "metadata.name", text);
}

int
sim_body_check_namespace(struct sim_request *request, const struct api_node *meta)
{
	_cleanup_(api_freep) char *have = api_text_dup(api_get(meta, "namespace"));

	if (have[0] && (!request->api.namespace_ || strcmp(have, request->api.namespace_) != 0))
		return api_status_set(&request->api.status, 400, "BadRequest",
				      "the namespace of the provided object does not match the namespace "
				      "sent on the request");
	return 0;
}

int
sim_body_object(struct sim_request *request, struct api_doc *doc, const char *name,
		struct api_object **ret_object)
{
	struct sim_object_error error;

	if (sim_object_new(request->api.resource, doc, ret_object, &error) == 0)
		return 0;
	if (!strcmp(error.field, "metadata.name"))
		return sim_status_invalid(&request->api.status, request->api.resource, name,
					  "FieldValueInvalid", error.field, error.text);
	return api_status_set(&request->api.status, 400, "BadRequest",
			      "%s in version \"%s\" cannot be handled as a %s: %s",
			      request->api.resource->kind, request->api.resource->version,
			      request->api.resource->kind, error.text);
}
