/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregated discovery; see discovery_v2.h. */
#include "tools/serving/discovery_v2.h"

#include <string.h>

static cJSON *
verbs(const struct api_registry *registry, bool subresource)
{
	unsigned count;
	const char *const *names = api_resource_verbs(registry, subresource, &count);

	return cJSON_CreateStringArray(names, (int)count);
}

static cJSON *
response_kind(const char *group, const char *version, const char *kind)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "group", group);
	cJSON_AddStringToObject(json, "version", version);
	cJSON_AddStringToObject(json, "kind", kind);
	return json;
}

static void
add_subresource(cJSON *list, const struct api_registry *registry, const char *name, cJSON *kind)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "subresource", name);
	cJSON_AddItemToObject(json, "responseKind", kind);
	cJSON_AddItemToObject(json, "verbs", verbs(registry, true));
	cJSON_AddItemToArray(list, json);
}

static cJSON *
resource_of(const struct api_registry *registry, const struct api_resource *r)
{
	cJSON *json = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(json, "resource", r->plural);
	cJSON_AddItemToObject(json, "responseKind",
			      response_kind(r->custom ? r->group : "", r->custom ? r->version : "", r->kind));
	cJSON_AddStringToObject(json, "scope", r->namespaced ? "Namespaced" : "Cluster");
	cJSON_AddStringToObject(json, "singularResource", r->singular);
	cJSON_AddItemToObject(json, "verbs", verbs(registry, false));
	list = r->shorts[0] ? cJSON_AddArrayToObject(json, "shortNames") : NULL;
	for (size_t i = 0; i < 3 && r->shorts[i]; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(r->shorts[i]));
	if (r->in_all)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "categories"), cJSON_CreateString("all"));
	if (!r->has_status && !r->scale)
		return json;
	list = cJSON_AddArrayToObject(json, "subresources");
	if (r->scale)
		add_subresource(list, registry, "scale", response_kind("autoscaling", "v1", "Scale"));
	if (r->has_status)
		add_subresource(
			list, registry, "status",
			response_kind(r->custom ? r->group : "", r->custom ? r->version : "", r->kind));
	return json;
}

/* The member of an array whose member `key` is the text; made behind the others where there is none. */
static cJSON *
find_or_add(cJSON *array, const char *key, const char *text, cJSON *(*make)(const char *))
{
	cJSON *item;

	cJSON_ArrayForEach(item, array)
	{
		const cJSON *holder = strcmp(key, "name") == 0 ? cJSON_GetObjectItem(item, "metadata") : item;
		const cJSON *have = cJSON_GetObjectItem(holder, key);

		if (!strcmp(have ? have->valuestring : "", text))
			return item;
	}
	item = make(text);
	cJSON_AddItemToArray(array, item);
	return item;
}

static cJSON *
make_group(const char *name)
{
	cJSON *json = cJSON_CreateObject(), *meta = cJSON_AddObjectToObject(json, "metadata");

	if (name[0])
		cJSON_AddStringToObject(meta, "name", name);
	cJSON_AddArrayToObject(json, "versions");
	return json;
}

static cJSON *
make_version(const char *version)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "version", version);
	cJSON_AddArrayToObject(json, "resources");
	cJSON_AddStringToObject(json, "freshness", "Current");
	return json;
}

cJSON *
api_discovery_v2(const struct api_registry *registry, bool core)
{
	unsigned count = api_registry_count(registry);
	cJSON *json = cJSON_CreateObject(), *groups;

	cJSON_AddStringToObject(json, "kind", "APIGroupDiscoveryList");
	cJSON_AddStringToObject(json, "apiVersion", "apidiscovery.k8s.io/v2");
	cJSON_AddObjectToObject(json, "metadata");
	groups = cJSON_AddArrayToObject(json, "items");
	for (unsigned i = 0; i < count; i++) {
		const struct api_resource *r = registry->items[i];
		cJSON *group, *version;

		if (!api_resource_served(r) || (r->group[0] == '\0') != core)
			continue;
		group = find_or_add(groups, "name", r->group, make_group);
		version = find_or_add(cJSON_GetObjectItem(group, "versions"), "version", r->version,
				      make_version);
		cJSON_AddItemToArray(cJSON_GetObjectItem(version, "resources"), resource_of(registry, r));
	}
	return json;
}
