/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI, as far as kubectl needs it: the kinds; that their PATCH accepts fieldValidation (for
 * `--validate`); and a schema that declares no fields (for `explain`). Nothing is validated.
 *
 *   /openapi/v3                       the list of documents
 *   /openapi/v3/api/v1, /openapi/v3/apis/GROUP/VERSION
 *   /openapi/v2                       all in one, for older clients that accept JSON. kubectl asks here for
 *                                     protobuf if no v3 document has a kind; it gets a document without a
 *                                     schema, and reports that there is no such kind
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/reply.h"

static void
gvk(const struct api_resource *r, struct api_buf *buf)
{
	api_buf_printf(buf, "{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%s\"}", r->group, r->version,
		       r->kind);
}

/* "api/v1", "apis/apps/v1" */
static void
root_of(const struct api_resource *r, struct api_buf *buf)
{
	api_buf_printf(buf, r->group[0] ? "apis/%s" : "api/%s", r->api_version);
}

/* "io.k8s.api.apps.v1.Deployment", "com.example.v1.Widget": the group's parts in reverse */
static void
schema_name(const struct api_resource *r, struct api_buf *buf)
{
	_cleanup_(api_freep) char *group = api_strndup(r->group, strlen(r->group));

	if (r->custom) {
		for (char *dot; (dot = strrchr(group, '.')); *dot = '\0')
			api_buf_printf(buf, "%s.", dot + 1);
		api_buf_printf(buf, "%s.", group);
	} else {
		api_buf_printf(buf, "io.k8s.api.%.*s.", r->group[0] ? (int)strcspn(group, ".") : 4,
			       r->group[0] ? group : "core");
	}
	api_buf_printf(buf, "%s.%s", r->version, r->kind);
}

static void
parameters(bool v2, struct api_buf *buf)
{
	static const char *const names[] = {"fieldManager", "fieldValidation"};

	api_buf_puts(buf, "\"parameters\":[");
	for (size_t i = 0; i < 2; i++)
		api_buf_printf(
			buf,
			v2 ? "%s{\"name\":\"%s\",\"in\":\"query\",\"type\":\"string\",\"uniqueItems\":true}"
			   : "%s{\"name\":\"%s\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}",
			i ? "," : "", names[i]);
	api_buf_puts(buf, "]");
}

static void
operation(const struct api_resource *r, const char *method, const char *action, bool v2, struct api_buf *buf)
{
	api_buf_printf(buf, "\"%s\":{", method);
	if (strcmp(method, "get") != 0) {
		parameters(v2, buf);
		api_buf_puts(buf, ",");
	}
	api_buf_printf(buf,
		       "\"responses\":{\"200\":{\"description\":\"OK\"}},\"x-kubernetes-action\":\"%s\","
		       "\"x-kubernetes-group-version-kind\":",
		       action);
	gvk(r, buf);
	api_buf_puts(buf, "}");
}

static void
paths(const struct api_resource *r, bool v2, struct api_buf *buf)
{
	for (int item = 0; item < 2; item++) {
		api_buf_puts(buf, item ? ",\"/" : "\"/");
		root_of(r, buf);
		api_buf_printf(buf, "%s/%s%s\":{", r->namespaced ? "/namespaces/{namespace}" : "", r->plural,
			       item ? "/{name}" : "");
		operation(r, "get", item ? "get" : "list", v2, buf);
		api_buf_puts(buf, ",");
		operation(r, item ? "put" : "post", item ? "put" : "post", v2, buf);
		if (item) {
			api_buf_puts(buf, ",");
			operation(r, "patch", "patch", v2, buf);
		}
		api_buf_puts(buf, "}");
	}
}

static void
schema(const struct api_resource *r, struct api_buf *buf)
{
	api_buf_puts(buf, "\"");
	schema_name(r, buf);
	api_buf_printf(buf,
		       "\":{\"description\":\"%s, as informer-sim serves it: a document whose fields it "
		       "keeps and does not know. "
		       "A real API server explains "
		       "them.\",\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
		       "\"properties\":{\"apiVersion\":{\"type\":\"string\",\"description\":\"%s\"},"
		       "\"kind\":{\"type\":\"string\",\"description\":\"%s\"},"
		       "\"metadata\":{\"type\":\"object\",\"description\":\"Name, namespace, labels, "
		       "annotations.\"},"
		       "\"spec\":{\"type\":\"object\",\"description\":\"Kept as it is given.\"},"
		       "\"status\":{\"type\":\"object\",\"description\":\"Kept as it is given.\"}},"
		       "\"x-kubernetes-group-version-kind\":[",
		       r->kind, r->api_version, r->kind);
	gvk(r, buf);
	api_buf_puts(buf, "]}");
}

/*
 * Write paths and schemas of the resources of one group and version ("api/v1"), or of all (NULL). Returns the
 * number of resources.
 */
static unsigned
document(const struct api_registry *registry, const char *root, bool v2, struct api_buf *body)
{
	_cleanup_(api_buf_done) struct api_buf schemas = {0};
	unsigned count = api_registry_count(registry), found = 0;

	api_buf_printf(body,
		       "{\"%s\":\"%s\",\"info\":{\"title\":\"informer-sim\",\"version\":\"" INFORMER_VERSION
		       "\"},\"paths\":{",
		       v2 ? "swagger" : "openapi", v2 ? "2.0" : "3.0.0");
	api_buf_puts(&schemas, "");
	for (unsigned i = 0; i < count; i++) {
		const struct api_resource *r = registry->items[i];
		_cleanup_(api_buf_done) struct api_buf own = {0};

		root_of(r, &own);
		if (!api_resource_served(r) || (root && strcmp(own.data, root) != 0))
			continue;
		api_buf_puts(body, found ? "," : "");
		api_buf_puts(&schemas, found ? "," : "");
		paths(r, v2, body);
		schema(r, &schemas);
		found++;
	}
	api_buf_printf(body, v2 ? "},\"definitions\":{%s}}\n" : "},\"components\":{\"schemas\":{%s}}}\n",
		       schemas.data);
	return found;
}

/* List each group and version once, with a hash of its document. */
static void
index_of(const struct api_registry *registry, struct api_buf *body)
{
	unsigned count = api_registry_count(registry);

	api_buf_puts(body, "{\"paths\":{");
	for (unsigned i = 0, n = 0; i < count; i++) {
		const struct api_resource *r = registry->items[i];
		_cleanup_(api_buf_done) struct api_buf root = {0};
		_cleanup_(api_buf_done) struct api_buf text = {0};
		unsigned char hash[16];
		char hex[2 * sizeof(hash) + 1];
		bool listed = !api_resource_served(r);

		for (unsigned k = 0; k < i; k++)
			listed |= api_resource_served(registry->items[k]) &&
				  !strcmp(registry->items[k]->api_version, r->api_version);
		if (listed)
			continue;
		root_of(r, &root);
		document(registry, root.data, false, &text);
		crypto_generichash(hash, sizeof(hash), (const unsigned char *)text.data, text.len, NULL, 0);
		sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
		api_buf_printf(body, "%s\"%s\":{\"serverRelativeURL\":\"/openapi/v3/%s?hash=%s\"}",
			       n++ ? "," : "", root.data, root.data, hex);
	}
	api_buf_puts(body, "}}\n");
}

#define V2_PROTOBUF "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

/* openapi.v2.Document: swagger = 1, info = 2 {title = 1, version = 2}, paths = 8. */
static void
empty_v2(struct api_buf *body)
{
	static const char title[] = "informer-sim", version[] = INFORMER_VERSION;
	unsigned char info[] = {0x12, sizeof(title) - 1 + sizeof(version) - 1 + 4, 0x0a, sizeof(title) - 1};

	api_buf_put(body,
		    "\x0a\x03"
		    "2.0",
		    5);
	api_buf_put(body, info, sizeof(info));
	api_buf_puts(body, title);
	api_buf_put(body, (const unsigned char[]){0x12, sizeof(version) - 1}, 2);
	api_buf_puts(body, version);
	api_buf_put(body, "\x42\x00", 2);
}

bool
sim_handle_openapi(struct sim_request *request, enum MHD_Result *ret_result)
{
	static const char v3[] = "/openapi/v3";
	const struct api_registry *registry = request->server->registry;
	const char *url = request->api.url, *accept = api_request_header(&request->api, "Accept");
	struct api_buf body = {0};

	if (strcmp(request->api.method, "GET") != 0 || strncmp(url, "/openapi/v", 10) != 0)
		return false;
	if (!strcmp(url, "/openapi/v2") && accept && strstr(accept, V2_PROTOBUF) && !strstr(accept, "json")) {
		empty_v2(&body);
		/* upstream's name: Go accepts no '@' in a media type */
		*ret_result = sim_reply(request, 200,
					"application/com.github.proto-openapi.spec.v2.v1.0+protobuf", &body);
		return true;
	}
	if (accept && accept[0] && !strstr(accept, "json") && !strstr(accept, "*/*")) {
		api_status_set(&request->api.status, 406, "NotAcceptable",
			       "406: Not Acceptable\n\nAvailable representations: application/json");
		*ret_result = sim_reply_status(request);
		return true;
	}
	if (!strcmp(url, "/openapi/v2"))
		document(registry, NULL, true, &body);
	else if (!strcmp(url, v3) || !strcmp(url, "/openapi/v3/"))
		index_of(registry, &body);
	else if (strncmp(url, "/openapi/v3/", sizeof(v3)) != 0 ||
		 document(registry, url + sizeof(v3), false, &body) == 0) {
		api_buf_done(&body);
		return false;
	}
	*ret_result = sim_reply(request, 200, "application/json", &body);
	return true;
}
