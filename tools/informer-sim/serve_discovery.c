/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery, the old way: APIVersions, APIGroupList and an APIResourceList for each group and version.
 * kubectl falls back to it. Clients that ask for it by Accept are given discovery_v2.h's documents.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_schema.h"
#include "tools/serving/discovery_v2.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/reply.h"

#define AGGREGATED_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static enum MHD_Result
reply_as(struct sim_request *request, cJSON *json, const char *content_type)
{
	char *text = cJSON_PrintUnformatted(json);
	struct api_buf body = {0};

	cJSON_Delete(json);
	api_buf_puts(&body, text ? text : "{}");
	api_buf_puts(&body, "\n");
	cJSON_free(text);
	return sim_reply(request, 200, content_type, &body);
}

/* As upstream does it: the ETag is of the content, and who has that gets 304. */
static enum MHD_Result
reply_aggregated(struct sim_request *request, bool core)
{
	cJSON *json = api_discovery_v2(request->server->registry, core);
	const char *theirs = api_request_header(&request->api, "If-None-Match");
	char *text = cJSON_PrintUnformatted(json);
	uint64_t hash = 14695981039346656037ull;
	struct api_buf nothing = {0};

	for (const char *c = text ? text : ""; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ull; /* FNV-1a */
	cJSON_free(text);
	snprintf(request->etag, sizeof(request->etag), "\"%016llX\"", (unsigned long long)hash);
	if (theirs && strcmp(theirs, request->etag) == 0) {
		cJSON_Delete(json);
		return sim_reply(request, 304, AGGREGATED_TYPE, &nothing);
	}
	return reply_as(request, json, AGGREGATED_TYPE);
}

static enum MHD_Result
reply_json(struct sim_request *request, cJSON *json)
{
	return reply_as(request, json, "application/json");
}

static cJSON *
document(const char *kind, const char *api_version)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "kind", kind);
	if (api_version)
		cJSON_AddStringToObject(json, "apiVersion", api_version);
	return json;
}

static enum MHD_Result
api_versions(struct sim_request *request)
{
	cJSON *json = document("APIVersions", NULL), *list;

	cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "versions"), cJSON_CreateString("v1"));
	list = cJSON_AddArrayToObject(json, "serverAddressByClientCIDRs");
	(void)list; /* no address to offer beyond the one the client used */
	return reply_json(request, json);
}

/* The group with all its versions in order of declaration. */
static cJSON *
api_group(const struct api_registry *registry, const char *group)
{
	cJSON *json = cJSON_CreateObject(), *versions, *preferred = NULL;

	cJSON_AddStringToObject(json, "name", group);
	versions = cJSON_AddArrayToObject(json, "versions");
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		const struct api_resource *r = registry->items[i];
		bool listed = false;
		const cJSON *old;
		cJSON *version;

		cJSON_ArrayForEach(old, versions)
		{
			const cJSON *name = cJSON_GetObjectItem(old, "groupVersion");

			listed |= !strcmp(name->valuestring, r->api_version);
		}
		if (listed || strcmp(r->group, group) != 0 || !api_resource_served(r))
			continue;
		version = cJSON_CreateObject();
		cJSON_AddStringToObject(version, "groupVersion", r->api_version);
		cJSON_AddStringToObject(version, "version", r->version);
		cJSON_AddItemToArray(versions, version);
		if (!preferred)
			preferred = cJSON_Duplicate(version, true);
	}
	cJSON_AddItemToObject(json, "preferredVersion", preferred);
	return json;
}

/* Is it the first one served of its group? */
static bool
first_of_group(const struct api_registry *registry, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (api_resource_served(registry->items[k]) &&
		    !strcmp(registry->items[k]->group, registry->items[i]->group))
			return false;
	return true;
}

static enum MHD_Result
api_groups(struct sim_request *request)
{
	const struct api_registry *registry = request->server->registry;
	cJSON *json = document("APIGroupList", "v1"), *groups = cJSON_AddArrayToObject(json, "groups");

	for (unsigned i = 0; i < api_registry_count(registry); i++)
		if (api_resource_served(registry->items[i]) && registry->items[i]->group[0] &&
		    first_of_group(registry, i))
			cJSON_AddItemToArray(groups, api_group(registry, registry->items[i]->group));
	return reply_json(request, json);
}

static void
add_resource(cJSON *list, const struct api_resource *r, const char *subresource)
{
	cJSON *json = cJSON_CreateObject();
	unsigned count;
	const char *const *verbs = api_resource_verbs(subresource[0] != '\0', &count);
	char name[400];
	cJSON *array;

	snprintf(name, sizeof(name), "%s%s", r->plural, subresource);
	cJSON_AddStringToObject(json, "name", name);
	cJSON_AddStringToObject(json, "singularName", subresource[0] ? "" : r->singular);
	cJSON_AddBoolToObject(json, "namespaced", r->namespaced);
	if (!strcmp(subresource, "/scale")) {
		cJSON_AddStringToObject(json, "group", "autoscaling");
		cJSON_AddStringToObject(json, "version", "v1");
	}
	cJSON_AddStringToObject(json, "kind", strcmp(subresource, "/scale") == 0 ? "Scale" : r->kind);
	cJSON_AddItemToObject(json, "verbs", cJSON_CreateStringArray(verbs, (int)count));
	if (!subresource[0] && r->shorts[0]) {
		array = cJSON_AddArrayToObject(json, "shortNames");
		for (size_t i = 0; i < 3 && r->shorts[i]; i++)
			cJSON_AddItemToArray(array, cJSON_CreateString(r->shorts[i]));
	}
	if (!subresource[0] && r->in_all)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "categories"), cJSON_CreateString("all"));
	cJSON_AddItemToArray(list, json);
}

/* The resources of "v1" or "apps/v1"; false if there are none. */
static bool
resource_list(struct sim_request *request, const char *api_version, enum MHD_Result *ret_result)
{
	const struct api_registry *registry = request->server->registry;
	cJSON *json = document("APIResourceList", "v1"), *list;

	cJSON_AddStringToObject(json, "groupVersion", api_version);
	list = cJSON_AddArrayToObject(json, "resources");
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		const struct api_resource *r = registry->items[i];

		if (strcmp(r->api_version, api_version) != 0 || !api_resource_served(r))
			continue;
		add_resource(list, r, "");
		if (r->scale)
			add_resource(list, r, "/scale");
		if (r->has_status)
			add_resource(list, r, "/status");
	}
	if (cJSON_GetArraySize(list) == 0) {
		cJSON_Delete(json);
		return false;
	}
	*ret_result = reply_json(request, json);
	return true;
}

static bool
one_group(struct sim_request *request, const char *group, enum MHD_Result *ret_result)
{
	const struct api_registry *registry = request->server->registry;
	cJSON *json, *parts;

	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		if (strcmp(registry->items[i]->group, group) != 0 || !api_resource_served(registry->items[i]))
			continue;
		json = document("APIGroup", "v1");
		parts = api_group(registry, group);
		while (parts->child) {
			cJSON *part = cJSON_DetachItemViaPointer(parts, parts->child);

			cJSON_AddItemToObject(json, part->string, part);
		}
		cJSON_Delete(parts);
		*ret_result = reply_json(request, json);
		return true;
	}
	return false;
}

/* The release as which objects are printed. */
static enum MHD_Result
version(struct sim_request *request)
{
	unsigned release = proto_schema_release(proto_schema_builtin());
	char minor[16], full[64];
	cJSON *json;

	if (request->server->options.hide_version) {
		api_status_set(&request->api.status, 403, "Forbidden",
			       "forbidden: cannot get path \"/version\"");
		return sim_reply_status(request);
	}
	json = cJSON_CreateObject();
	snprintf(minor, sizeof(minor), "%u", release % 1000);
	snprintf(full, sizeof(full), "v1.%s.0+informer-sim", minor);
	cJSON_AddStringToObject(json, "major", "1");
	cJSON_AddStringToObject(json, "minor", minor);
	cJSON_AddStringToObject(json, "gitVersion", full);
	cJSON_AddStringToObject(json, "gitCommit", "informer-sim " INFORMER_VERSION);
	cJSON_AddStringToObject(json, "gitTreeState", "clean");
	cJSON_AddStringToObject(json, "buildDate", "1970-01-01T00:00:00Z");
	cJSON_AddStringToObject(json, "goVersion", "none");
	cJSON_AddStringToObject(json, "compiler", "gcc");
	cJSON_AddStringToObject(json, "platform", "linux/amd64");
	return reply_json(request, json);
}

static bool
wants_aggregated(const struct sim_request *request)
{
	const char *accept = api_request_header(&request->api, "Accept");

	return !request->server->options.no_aggregated_discovery && accept &&
	       strstr(accept, "as=APIGroupDiscoveryList") && strstr(accept, "g=apidiscovery.k8s.io") &&
	       (strstr(accept, "v=v2;") || strstr(accept, "v=v2,") ||
		!strcmp(accept + strlen(accept) - 4, "v=v2"));
}

bool
sim_is_discovery(const struct sim_request *request)
{
	const char *url = request->api.url;
	unsigned slashes = 0;

	for (const char *c = url; *c; c++)
		slashes += *c == '/' && c[1];
	return !strcmp(request->api.method, "GET") &&
	       (!strcmp(url, "/version") || (!strncmp(url, "/apis", 5) && slashes <= 3) ||
		(!strncmp(url, "/api", 4) && url[4] != 's' && slashes <= 2) || !strncmp(url, "/openapi/", 9));
}

bool
sim_handle_discovery(struct sim_request *request, enum MHD_Result *ret_result)
{
	_cleanup_(api_freep) char *path = api_strndup(request->api.url, strlen(request->api.url));
	size_t len = strlen(path);

	if (strcmp(request->api.method, "GET") != 0)
		return false;
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	if (!strcmp(path, "/version"))
		*ret_result = version(request);
	else if ((!strcmp(path, "/api") || !strcmp(path, "/apis")) && wants_aggregated(request))
		*ret_result = reply_aggregated(request, !strcmp(path, "/api"));
	else if (!strcmp(path, "/api"))
		*ret_result = api_versions(request);
	else if (!strcmp(path, "/apis"))
		*ret_result = api_groups(request);
	else if (!strncmp(path, "/api/", 5) && !strchr(path + 5, '/'))
		return resource_list(request, path + 5, ret_result);
	else if (!strncmp(path, "/apis/", 6) && !strchr(path + 6, '/'))
		return one_group(request, path + 6, ret_result);
	else if (!strncmp(path, "/apis/", 6) && !strchr(strchr(path + 6, '/') + 1, '/'))
		return resource_list(request, path + 6, ret_result);
	else
		return false;
	return true;
}
