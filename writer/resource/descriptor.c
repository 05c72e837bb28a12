/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the descriptor of a resource as JSON, for resource_spec.c. descriptor.h lists the fields.
 */
#include "writer/resource/descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "shm-layout/index_def.h"
#include "writer/resource/builtin_indexes.h"
#include "writer/base/message.h"
#include "writer/kube/resource_name.h"

static bool
add_strings(cJSON *object, const char *name, const char *const *strings, size_t count)
{
	cJSON *array = cJSON_AddArrayToObject(object, name);

	for (size_t i = 0; array && i < count; i++) {
		cJSON *string = cJSON_CreateString(strings[i]);

		if (!string || !cJSON_AddItemToArray(array, string)) {
			cJSON_Delete(string);
			return false;
		}
	}
	return array != NULL;
}

static bool
add_text(cJSON *object, const char *name, const char *text)
{
	return cJSON_AddStringToObject(object, name, text ? text : "") != NULL;
}

/* Refuse here what the configuration accepts and readers of the arena would refuse. */
static int
check_index(const cJSON *indexes, const struct config_index *index, char **ret_error)
{
	const cJSON *other;

	cJSON_ArrayForEach(other, indexes) if (
		strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "name")), index->name) ==
		0) return message_set(ret_error, -EINVAL,
				      "%s: %s has an index named '%s' already; choose another name",
				      index->origin, index->resource, index->name);
	if (index->n_paths == 0 || index->n_paths > INDEX_RULES_MAX)
		return message_set(ret_error, -EINVAL, "%s: an index has 1 to %u paths", index->origin,
				   INDEX_RULES_MAX);
	if (index->split && strlen(index->split) != 1)
		return message_set(ret_error, -EINVAL, "%s: split must be one character, such as \",\"",
				   index->origin);
	return 0;
}

static bool
add_index(cJSON *indexes, const struct config_index *index)
{
	cJSON *definition = cJSON_CreateObject(), *rules, *rule;

	if (!definition || !cJSON_AddItemToArray(indexes, definition)) {
		cJSON_Delete(definition);
		return false;
	}
	if (!add_text(definition, "name", index->name) ||
	    (index->prefix > 0 && !cJSON_AddNumberToObject(definition, "prefix", index->prefix)))
		return false;
	rules = cJSON_AddArrayToObject(definition, "rules");
	for (size_t i = 0; rules && i < index->n_paths; i++) {
		rule = cJSON_CreateObject();
		if (!rule || !cJSON_AddItemToArray(rules, rule)) {
			cJSON_Delete(rule);
			return false;
		}
		if (!add_text(rule, "path", index->paths[i]) ||
		    !add_text(rule, "as", index->split ? "split" : "string") ||
		    (index->split && !add_text(rule, "separator", index->split)))
			return false;
	}
	return rules != NULL;
}

static int
add_indexes(cJSON *document, const struct descriptor_source *source, char **ret_error)
{
	cJSON *indexes = cJSON_AddArrayToObject(document, "indexes");
	int r;

	if (!indexes || builtin_indexes_append(source->resource, indexes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < source->index_count; i++) {
		r = check_index(indexes, source->indexes[i], ret_error);
		if (r < 0)
			return r;
		if (!add_index(indexes, source->indexes[i]))
			return -ENOMEM;
	}
	return 0;
}

int
descriptor_build(const struct descriptor_source *source, char **ret_json, char **ret_error)
{
	const struct kube_resource *resource = source->resource;
	cJSON *document = cJSON_CreateObject();
	char *json = NULL;
	int r = -ENOMEM;

	if (document && add_text(document, "group", resource->group) &&
	    add_text(document, "version", resource->version) &&
	    add_text(document, "resource", resource->resource) &&
	    add_text(document, "kind", resource->kind) &&
	    add_text(document, "singular", resource->singular) &&
	    add_strings(document, "shortNames", (const char *const *)resource->short_names,
			resource->n_short_names) &&
	    cJSON_AddBoolToObject(document, "namespaced", resource->namespaced) &&
	    add_text(document, "namespace", source->namespace_) &&
	    add_text(document, "labelSelector", source->label_selector) &&
	    add_text(document, "fieldSelector", source->field_selector) &&
	    cJSON_AddBoolToObject(document, "metadataOnly", source->metadata_only) &&
	    cJSON_AddBoolToObject(document, "onDemand", source->on_demand) &&
	    add_strings(document, "drops", source->drops, source->drop_count)) {
		r = add_indexes(document, source, ret_error);
		if (r == 0) {
			json = cJSON_PrintUnformatted(document);
			r = json ? 0 : -ENOMEM;
		}
	}
	cJSON_Delete(document);
	if (r == 0)
		*ret_json = json;
	return r;
}

static char *
copy_text(struct value v)
{
	const char *text = "";
	size_t length = 0;

	value_string(v, &text, &length);
	return strndup(text, length);
}

static int
read_short_names(struct value descriptor, struct kube_resource *resource)
{
	struct value names = value_at_name(descriptor, "shortNames");
	struct value_iter it = value_iterate(names);

	resource->short_names = calloc(value_count(names) + 1, sizeof(char *));
	if (!resource->short_names)
		return -ENOMEM;
	while (value_next(&it)) {
		resource->short_names[resource->n_short_names] = copy_text(it.item);
		if (!resource->short_names[resource->n_short_names])
			return -ENOMEM;
		resource->n_short_names++;
	}
	return 0;
}

bool
descriptor_serves(struct value descriptor, const struct config_resource *entry)
{
	struct kube_resource resource = {
		.group = copy_text(value_at_name(descriptor, "group")),
		.version = copy_text(value_at_name(descriptor, "version")),
		.resource = copy_text(value_at_name(descriptor, "resource")),
		.kind = copy_text(value_at_name(descriptor, "kind")),
		.singular = copy_text(value_at_name(descriptor, "singular")),
	};
	_cleanup_(message_freep) char *namespace_ = copy_text(value_at_name(descriptor, "namespace"));
	struct resource_name name;
	bool serves = false;

	if (resource.group && resource.version && resource.resource && resource.kind && resource.singular &&
	    namespace_ && read_short_names(descriptor, &resource) == 0 &&
	    resource_name_parse(entry->resource, &name, NULL) == 0) {
		serves = resource_name_matches(&name, &resource) &&
			 strcmp(namespace_, entry->namespace_ ? entry->namespace_ : "") == 0;
		resource_name_done(&name);
	}
	kube_resource_done(&resource);
	return serves;
}
