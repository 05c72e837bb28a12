/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing discovery's documents; see api_lists.h. */
#include "writer/kube/api_lists.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *
string_member(const cJSON *object, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(member) ? member->valuestring : NULL;
}

/* lower-case letters, digits, '-' and '.': nothing that means something in a path */
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

/* The array `member` of a document of this kind, NULL when it is none. */
static const cJSON *
list_of(const cJSON *document, const char *kind, const char *member)
{
	const char *is = string_member(document, "kind");
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(document, member);

	return is && strcmp(is, kind) == 0 && cJSON_IsArray(list) ? list : NULL;
}

void
api_group_versions_free(struct api_group_version *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].group);
		free(list[i].version);
	}
	free(list);
}

static int
add_group_version(const char *group, const char *version, bool preferred, struct api_group_version **list,
		  size_t *n)
{
	struct api_group_version *larger, *entry;

	if (*n >= API_LISTS_MAX)
		return 0;
	larger = reallocarray(*list, *n + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	*list = larger;
	entry = &larger[*n];
	*entry = (struct api_group_version){strdup(group), strdup(version), preferred};
	(*n)++;
	return entry->group && entry->version ? 0 : -ENOMEM;
}

int
api_group_list_parse(const void *body, size_t len, struct api_group_version **ret_list, size_t *ret_n)
{
	struct api_group_version *list = NULL;
	cJSON *document = len > 0 ? cJSON_ParseWithLength(body, len) : NULL;
	const cJSON *groups = list_of(document, "APIGroupList", "groups"), *group, *version;
	size_t n = 0;
	int r = groups ? 0 : -EPROTO;

	cJSON_ArrayForEach(group, groups) {
		const char *name = string_member(group, "name"), *preferred;

		preferred = string_member(cJSON_GetObjectItemCaseSensitive(group, "preferredVersion"),
					  "version");
		if (!is_dns_name(name))
			continue;
		cJSON_ArrayForEach(version, cJSON_GetObjectItemCaseSensitive(group, "versions")) {
			const char *text = string_member(version, "version");

			if (r == 0 && is_dns_name(text))
				r = add_group_version(name, text, preferred && strcmp(text, preferred) == 0,
						      &list, &n);
		}
	}
	cJSON_Delete(document);
	if (r < 0) {
		api_group_versions_free(list, n);
		return r;
	}
	*ret_list = list;
	*ret_n = n;
	return 0;
}

static bool
has_verb(const cJSON *entry, const char *verb)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(entry, "verbs"))
		if (cJSON_IsString(item) && strcmp(item->valuestring, verb) == 0)
			return true;
	return false;
}

static int
take_short_names(const cJSON *names, struct kube_resource *resource)
{
	const cJSON *name;

	resource->short_names = calloc((size_t)(cJSON_IsArray(names) ? cJSON_GetArraySize(names) : 0) + 1,
				       sizeof(*resource->short_names));
	if (!resource->short_names)
		return -ENOMEM;
	cJSON_ArrayForEach(name, names) {
		if (!cJSON_IsString(name) || !cJSON_IsArray(names))
			continue;
		resource->short_names[resource->n_short_names] = strdup(name->valuestring);
		if (!resource->short_names[resource->n_short_names])
			return -ENOMEM;
		resource->n_short_names++;
	}
	return 0;
}

static int
make_resource(const cJSON *entry, const char *group, const char *version, const char *name, const char *kind,
	      const char *singular, bool namespaced, struct kube_resource *ret)
{
	struct kube_resource resource = {
		.group = strdup(group),
		.version = strdup(version),
		.resource = strdup(name),
		.kind = strdup(kind ? kind : ""),
		.singular = strdup(singular && *singular ? singular : kind ? kind : name),
		.namespaced = namespaced,
		.can_list = has_verb(entry, "list"),
		.can_watch = has_verb(entry, "watch"),
	};

	if (!resource.group || !resource.version || !resource.resource || !resource.kind ||
	    !resource.singular ||
	    take_short_names(cJSON_GetObjectItemCaseSensitive(entry, "shortNames"), &resource) < 0) {
		kube_resource_done(&resource);
		return -ENOMEM;
	}
	for (char *p = resource.singular; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	*ret = resource;
	return 0;
}

/* An entry of an APIResourceList. */
static int
take_resource(const cJSON *entry, const char *group, const char *version, struct kube_resource *ret)
{
	return make_resource(entry, group, version, string_member(entry, "name"),
			     string_member(entry, "kind"), string_member(entry, "singularName"),
			     cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "namespaced")), ret);
}

/* One of a version in an APIGroupDiscoveryList. */
static int
take_discovered(const cJSON *entry, const char *group, const char *version, struct kube_resource *ret)
{
	const char *kind = string_member(cJSON_GetObjectItemCaseSensitive(entry, "responseKind"), "kind");
	const char *scope = string_member(entry, "scope");

	return make_resource(entry, group, version, string_member(entry, "resource"), kind,
			     string_member(entry, "singularResource"),
			     scope && strcmp(scope, "Namespaced") == 0, ret);
}

/* ---- aggregated ---- */

void
api_group_discoveries_free(struct api_group_discovery *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < list[i].n_resources; j++)
			kube_resource_done(&list[i].resources[j]);
		free(list[i].resources);
		free(list[i].group);
		free(list[i].version);
	}
	free(list);
}

/* On failure too, what `ret` has is for api_group_discoveries_free(). */
static int
take_version(const cJSON *version, const char *group, struct api_group_discovery *ret)
{
	const cJSON *resources = cJSON_GetObjectItemCaseSensitive(version, "resources"), *entry;
	const char *name = string_member(version, "version"), *probe = string_member(version, "freshness");
	int r = 0;

	ret->group = strdup(group);
	ret->version = strdup(name);
	ret->current = !probe || strcmp(probe, "Stale") != 0;
	ret->resources = calloc((size_t)(cJSON_IsArray(resources) ? cJSON_GetArraySize(resources) : 0) + 1,
				sizeof(*ret->resources));
	if (!ret->group || !ret->version || !ret->resources)
		return -ENOMEM;
	cJSON_ArrayForEach(entry, resources) {
		if (r < 0 || !cJSON_IsArray(resources))
			break;
		if (!is_dns_name(string_member(entry, "resource")))
			continue;
		r = take_discovered(entry, group, name, &ret->resources[ret->n_resources]);
		if (r == 0)
			ret->n_resources++;
	}
	return r;
}

int
api_group_discovery_parse(const void *body, size_t len, struct api_group_discovery **ret_list, size_t *ret_n)
{
	cJSON *document = len > 0 ? cJSON_ParseWithLength(body, len) : NULL;
	const cJSON *groups = list_of(document, "APIGroupDiscoveryList", "items"), *group, *version;
	struct api_group_discovery *list = NULL, *larger;
	size_t n = 0;
	int r = groups ? 0 : -EPROTO;

	cJSON_ArrayForEach(group, groups) {
		const char *name = string_member(cJSON_GetObjectItemCaseSensitive(group, "metadata"), "name");
		bool first = true;

		if (!is_dns_name(name))
			continue;
		cJSON_ArrayForEach(version, cJSON_GetObjectItemCaseSensitive(group, "versions")) {
			if (r < 0 || n >= API_LISTS_MAX || !is_dns_name(string_member(version, "version")))
				continue;
			larger = reallocarray(list, n + 1, sizeof(*larger));
			if (!larger) {
				r = -ENOMEM;
				continue;
			}
			list = larger;
			list[n] = (struct api_group_discovery){.preferred = first};
			r = take_version(version, name, &list[n++]);
			first = false;
		}
	}
	cJSON_Delete(document);
	if (r < 0) {
		api_group_discoveries_free(list, n);
		return r;
	}
	*ret_list = list;
	*ret_n = n;
	return 0;
}

int
api_resource_list_parse(const void *body, size_t len, const char *group, const char *version,
			struct kube_resource **ret_list, size_t *ret_n)
{
	cJSON *document = len > 0 ? cJSON_ParseWithLength(body, len) : NULL;
	const cJSON *resources = list_of(document, "APIResourceList", "resources"), *entry;
	struct kube_resource *list = NULL;
	size_t n = 0;
	int r = -EPROTO;

	if (resources) {
		list = calloc((size_t)cJSON_GetArraySize(resources) + 1, sizeof(*list));
		r = list ? 0 : -ENOMEM;
	}
	cJSON_ArrayForEach(entry, resources) {
		if (r < 0 || n >= API_LISTS_MAX)
			break;
		if (!is_dns_name(string_member(entry, "name"))) /* "pods/log" too */
			continue;
		r = take_resource(entry, group, version, &list[n]);
		if (r == 0)
			n++;
	}
	cJSON_Delete(document);
	if (r < 0) {
		for (size_t i = 0; i < n; i++)
			kube_resource_done(&list[i]);
		free(list);
		return r;
	}
	*ret_list = list;
	*ret_n = n;
	return 0;
}
