/* SPDX-License-Identifier: Apache-2.0 */
/* Reading discovery's documents; see api_lists.h. */
#include "writer/kube/api_lists.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *
member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static char *
string_member(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(member(object, name));
}

static const cJSON *
list_member(const cJSON *object, const char *name)
{
	const cJSON *list = member(object, name);

	return cJSON_IsArray(list) ? list : NULL;
}

/* True if the text has only lower-case letters, digits, '-' and '.': nothing special in a path. */
static bool
is_dns_name(const char *text)
{
	if (!text || !*text || strlen(text) > 253 || *text == '.')
		return false;
	for (; *text; text++)
		if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != '-' &&
		    *text != '.')
			return false;
	return true;
}

/* The list `name` of a document of this kind, NULL when it is none. */
static const cJSON *
list_of(const cJSON *document, const char *kind, const char *name)
{
	const char *is = string_member(document, "kind");

	return is && strcmp(is, kind) == 0 ? list_member(document, name) : NULL;
}

static bool
has_verb(const cJSON *entry, const char *verb)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, member(entry, "verbs"))
		if (cJSON_IsString(item) && strcmp(item->valuestring, verb) == 0)
			return true;
	return false;
}

/* Read an entry of an APIResourceList, or (aggregated) of an APIGroupDiscoveryList's version. */
static int
take_resource(const cJSON *entry, bool aggregated, const struct api_version *of, struct kube_resource *ret)
{
	const cJSON *names = list_member(entry, "shortNames"), *name;
	const char *scope = string_member(entry, "scope");
	struct kube_resource r = {
		.group = of->group,
		.version = of->version,
		.resource = string_member(entry, aggregated ? "resource" : "name"),
		.kind = string_member(aggregated ? member(entry, "responseKind") : entry, "kind"),
		.singular = string_member(entry, aggregated ? "singularResource" : "singularName"),
		.short_names = calloc((size_t)cJSON_GetArraySize(names) + 1, sizeof(char *)),
		.namespaced = aggregated ? scope && strcmp(scope, "Namespaced") == 0
					 : cJSON_IsTrue(member(entry, "namespaced")),
		.can_list = has_verb(entry, "list"),
		.can_watch = has_verb(entry, "watch"),
	};
	char none[] = "";
	int code = -ENOMEM;

	if (!r.singular || !*r.singular)
		r.singular = r.kind ? r.kind : r.resource;
	if (!r.kind)
		r.kind = none;
	cJSON_ArrayForEach (name, names)
		if (r.short_names && cJSON_IsString(name))
			r.short_names[r.n_short_names++] = name->valuestring;
	if (r.short_names)
		code = kube_resource_copy(&r, ret);
	free(r.short_names);
	for (char *p = code == 0 ? ret->singular : NULL; p && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return code;
}

static int
take_resources(const cJSON *resources, bool aggregated, struct api_version *version)
{
	const char *name = aggregated ? "resource" : "name";
	const cJSON *entry;
	int r = 0;

	version->resources = calloc((size_t)cJSON_GetArraySize(resources) + 1, sizeof(*version->resources));
	if (!version->resources)
		return -ENOMEM;
	cJSON_ArrayForEach (entry, resources) {
		if (!is_dns_name(string_member(entry, name))) /* "pods/log" too */
			continue;
		r = take_resource(entry, aggregated, version, &version->resources[version->n_resources]);
		if (r < 0)
			break;
		version->n_resources++;
	}
	return r;
}

int
api_resources_read(const cJSON *document, struct api_version *version)
{
	const cJSON *resources = list_of(document, "APIResourceList", "resources");

	return resources ? take_resources(resources, false, version) : -EPROTO;
}

void
api_version_done(struct api_version *version)
{
	for (size_t i = 0; i < version->n_resources; i++)
		kube_resource_done(&version->resources[i]);
	free(version->resources);
	free(version->group);
	free(version->version);
	*version = (struct api_version){0};
}

static int
take_version(const cJSON *entry, const char *group, bool preferred, bool aggregated, struct api_version *ret)
{
	const char *freshness = string_member(entry, "freshness");

	*ret = (struct api_version){.group = strdup(group),
				    .version = strdup(string_member(entry, "version")),
				    .preferred = preferred,
				    .is_read = aggregated && !(freshness && strcmp(freshness, "Stale") == 0)};
	if (!ret->group || !ret->version)
		return -ENOMEM;
	return ret->is_read ? take_resources(list_member(entry, "resources"), true, ret) : 0;
}

static int
take_group(const cJSON *group, bool aggregated, struct api_version **list, size_t *n)
{
	const char *name = string_member(aggregated ? member(group, "metadata") : group, "name"), *text;
	const char *preferred = string_member(member(group, "preferredVersion"), "version");
	const cJSON *version;
	struct api_version *larger;
	bool first = true;
	int r = 0;

	if (!is_dns_name(name))
		return 0;
	cJSON_ArrayForEach (version, member(group, "versions")) {
		text = string_member(version, "version");
		if (!is_dns_name(text))
			continue;
		larger = reallocarray(*list, *n + 1, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		*list = larger;
		r = take_version(version, name,
				 aggregated ? first : preferred && strcmp(text, preferred) == 0, aggregated,
				 &larger[(*n)++]);
		if (r < 0)
			break;
		first = false;
	}
	return r;
}

int
api_groups_read(const cJSON *document, struct api_version **ret_list, size_t *ret_n)
{
	const cJSON *groups = list_of(document, "APIGroupDiscoveryList", "items"), *group;
	bool aggregated = groups;
	int r = 0;

	*ret_list = NULL;
	*ret_n = 0;
	if (!groups)
		groups = list_of(document, "APIGroupList", "groups");
	if (!groups)
		return -EPROTO;
	cJSON_ArrayForEach (group, groups)
		if (r == 0)
			r = take_group(group, aggregated, ret_list, ret_n);
	return r;
}

void
api_versions_free(struct api_version *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		api_version_done(&list[i]);
	free(list);
}
