/* SPDX-License-Identifier: Apache-2.0 */
/* The old documents, and which of all is meant; see discovery_documents.h. */
#include "tools/serving/discovery_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_schema.h"
#include "tools/serving/discovery_v2.h"

#define AGGREGATED_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static cJSON *
document(const char *kind, const char *api_version)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "kind", kind);
	if (api_version)
		cJSON_AddStringToObject(json, "apiVersion", api_version);
	return json;
}

static cJSON *
api_versions(void)
{
	cJSON *json = document("APIVersions", NULL);

	cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "versions"), cJSON_CreateString("v1"));
	/* no address to offer beyond the one the client used */
	cJSON_AddArrayToObject(json, "serverAddressByClientCIDRs");
	return json;
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

static cJSON *
api_groups(const struct api_registry *registry)
{
	cJSON *json = document("APIGroupList", "v1"), *groups = cJSON_AddArrayToObject(json, "groups");

	for (unsigned i = 0; i < api_registry_count(registry); i++)
		if (api_resource_served(registry->items[i]) && registry->items[i]->group[0] &&
		    first_of_group(registry, i))
			cJSON_AddItemToArray(groups, api_group(registry, registry->items[i]->group));
	return json;
}

static void
add_resource(cJSON *list, const struct api_registry *registry, const struct api_resource *r,
	     const char *subresource)
{
	cJSON *json = cJSON_CreateObject();
	unsigned count;
	const char *const *verbs = api_resource_verbs(registry, subresource[0] != '\0', &count);
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

/* The resources of a version; NULL if there are none. */
static cJSON *
resource_list(const struct api_registry *registry, const struct api_path *path)
{
	cJSON *json = NULL, *list = NULL;

	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		const struct api_resource *r = registry->items[i];

		if (strcmp(r->group, path->group) != 0 || strcmp(r->version, path->version) != 0 ||
		    !api_resource_served(r))
			continue;
		if (!json) {
			json = document("APIResourceList", "v1");
			cJSON_AddStringToObject(json, "groupVersion", r->api_version);
			list = cJSON_AddArrayToObject(json, "resources");
		}
		add_resource(list, registry, r, "");
		if (r->scale)
			add_resource(list, registry, r, "/scale");
		if (r->has_status)
			add_resource(list, registry, r, "/status");
	}
	return json;
}

static cJSON *
one_group(const struct api_registry *registry, const char *group)
{
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
		return json;
	}
	return NULL;
}

/* The old document of a path; NULL: there is none. */
static cJSON *
old_document(const struct api_registry *registry, const struct api_path *path)
{
	if (path->version)
		return resource_list(registry, path);
	if (!path->group)
		return api_groups(registry);
	return *path->group ? one_group(registry, path->group) : api_versions();
}

static bool
wants_aggregated(const struct api_request *request)
{
	const char *accept = api_request_header(request, "Accept");
	size_t len = accept ? strlen(accept) : 0;

	return accept && strstr(accept, "as=APIGroupDiscoveryList") &&
	       strstr(accept, "g=apidiscovery.k8s.io") &&
	       (strstr(accept, "v=v2;") || strstr(accept, "v=v2,") ||
		(len >= 4 && !strcmp(accept + len - 4, "v=v2")));
}

/* As upstream does it: the ETag is of the content. */
static void
make_etag(const char *text, char ret[API_ETAG_SIZE])
{
	uint64_t hash = 14695981039346656037ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ull; /* FNV-1a */
	snprintf(ret, API_ETAG_SIZE, "\"%016llX\"", (unsigned long long)hash);
}

static void
print(cJSON *json, struct api_buf *body)
{
	char *text = cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	api_buf_puts(body, text ? text : "{}");
	cJSON_free(text);
}

struct api_discovery
api_discovery_answer(const struct api_request *request, const struct api_registry *registry, bool aggregated,
		     struct api_buf *body)
{
	const struct api_path *path = request->path;
	const char *theirs = api_request_header(request, "If-None-Match");
	struct api_discovery answer = {.code = 200, .type = "application/json"};
	bool core = path->group && !*path->group;
	cJSON *json;

	if (path->place != API_DISCOVERY)
		return (struct api_discovery){0};
	aggregated &= !path->version && (core || !path->group) && wants_aggregated(request);
	json = aggregated ? api_discovery_v2(registry, core) : old_document(registry, path);
	if (!json)
		return (struct api_discovery){0};
	print(json, body);
	if (aggregated) {
		answer.type = AGGREGATED_TYPE;
		make_etag(body->data, answer.etag);
		if (theirs && strcmp(theirs, answer.etag) == 0) {
			answer.code = 304;
			api_buf_reset(body);
			return answer;
		}
	}
	api_buf_puts(body, "\n");
	return answer;
}

void
api_version_document(const char *program, struct api_buf *body)
{
	unsigned release = proto_schema_release(proto_schema_builtin());

	api_buf_printf(body,
		       "{\"major\":\"1\",\"minor\":\"%u\",\"gitVersion\":\"v1.%u.0+%s\",\"gitCommit\":\"%"
		       "s " INFORMER_VERSION
		       "\",\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\","
		       "\"goVersion\":\"none\",\"compiler\":\"gcc\",\"platform\":\"linux/amd64\"}\n",
		       release % 1000, release % 1000, program, program);
}
