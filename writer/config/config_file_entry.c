/* SPDX-License-Identifier: Apache-2.0 */
/* `resources:` and `indexes:` of the configuration file; see config_file_entry.h. */
#include "writer/config/config_file_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/drop_path.h"
#include "writer/base/message.h"
#include "writer/config/config_entry.h"
#include "writer/config/config_parse.h"

/* ---- their fields ---- */

static int
take_paths(const struct yaml_reading *in, const cJSON *value, char ***ret_paths, size_t *ret_n)
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *item;
	int r;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of paths");
	if (*ret_paths)
		return yaml_field_wrong(in, value, "the only one of path and paths");
	*ret_paths = calloc((size_t)cJSON_GetArraySize(value) + 1, sizeof(**ret_paths));
	if (!*ret_paths)
		return -ENOMEM;
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item))
			return yaml_field_wrong(in, item, "a path");
		r = config_check_path(item->valuestring, &error);
		if (r < 0)
			return yaml_field_placed(in, item, r, &error);
		(*ret_paths)[*ret_n] = strdup(item->valuestring);
		if (!(*ret_paths)[*ret_n])
			return -ENOMEM;
		(*ret_n)++;
	}
	return 0;
}

static int
take_drop(const struct yaml_reading *in, const cJSON *value, void *into)
{
	struct config_resource *resource = into;
	int r = take_paths(in, value, &resource->drops, &resource->n_drops);
	struct path compiled;

	for (size_t i = 0; i < resource->n_drops && r == 0; i++)
		if (i >= DROP_PATHS_MAX || drop_path_compile(resource->drops[i], &compiled) < 0)
			r = yaml_error(in->yaml, cJSON_GetArrayItem(value, (int)i), YAML_AT_VALUE,
				       in->ret_error, -EINVAL,
				       "'%s' cannot be dropped: an object is found by its name, namespace, "
				       "uid and resourceVersion, and a list cannot lose single elements",
				       resource->drops[i]);
	return r;
}

static int
take_index_paths(const struct yaml_reading *in, const cJSON *value, void *into)
{
	struct config_index *index = into;

	return take_paths(in, value, &index->paths, &index->n_paths);
}

static int
take_index_path(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config_index *index = into;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a path (a list of them is named paths)");
	if (index->paths)
		return yaml_field_wrong(in, value, "the only one of path and paths");
	r = config_check_path(value->valuestring, &error);
	if (r < 0)
		return yaml_field_placed(in, value, r, &error);
	index->paths = calloc(1, sizeof(*index->paths));
	if (!index->paths || !(index->paths[0] = strdup(value->valuestring)))
		return -ENOMEM;
	index->n_paths = 1;
	return 0;
}

static char *
origin(const struct yaml_reading *in, const cJSON *entry)
{
	unsigned line, column;
	char *text;

	yaml_position(entry, YAML_AT_VALUE, &line, &column);
	return asprintf(&text, "%s:%u:%u", yaml_name(in->yaml), line, column) < 0 ? NULL : text;
}

static int
take_resource_name(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	struct resource_name name;
	int r;

	r = yaml_field_string(in, value, into);
	if (r < 0)
		return r;
	r = resource_name_parse(value->valuestring, &name, &error);
	if (r < 0)
		return yaml_field_placed(in, value, r, &error);
	resource_name_done(&name);
	return 0;
}

static int
take_index_name(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	r = yaml_field_string(in, value, into);
	if (r < 0)
		return r;
	r = config_check_index_name(value->valuestring, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

static int
take_tombstone_count(const struct yaml_reading *in, const cJSON *value, void *into)
{
	struct config_tombstones *tombstones = into;

	tombstones->count_said = true;
	return yaml_field_number(in, value, 0, CONFIG_LIMIT_TOMBSTONES, &tombstones->count);
}

int
config_file_tombstones(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"count", take_tombstone_count, 0},
		{"bytes", yaml_field_size, offsetof(struct config_tombstones, bytes)},
		{"seconds", yaml_field_seconds, offsetof(struct config_tombstones, seconds)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with count, bytes, seconds");
}

/* One string, so that variables are replaced and names checked at one place. */
static int
take_namespaces(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	char **field = into, *longer;
	const cJSON *item;
	int r;

	if (!cJSON_IsArray(value) || cJSON_GetArraySize(value) == 0)
		return yaml_field_wrong(in, value, "a list of namespaces");
	if (*field)
		return yaml_field_wrong(in, value, "the only one of namespace and namespaces");
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item))
			return yaml_field_wrong(in, item, "a namespace");
		r = config_check_namespaces(item->valuestring, &error);
		if (r < 0)
			return yaml_field_placed(in, item, r, &error);
		if (asprintf(&longer, "%s%s%s", *field ? *field : "", *field ? "," : "", item->valuestring) <
		    0)
			return -ENOMEM;
		free(*field);
		*field = longer;
	}
	return 0;
}

static int
take_page_size(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r = yaml_field_number(in, value, 1, CONFIG_LIMIT_PAGE_SIZE, &number);

	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_version(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "any or latest");
	r = config_parse_version(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

int
config_file_wire(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "auto, json or protobuf");
	r = config_parse_wire(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

/* ---- entries ---- */

static int
take_resource(const struct yaml_reading *in, const cJSON *entry)
{
	static const struct yaml_field fields[] = {
		{"resource", take_resource_name, offsetof(struct config_resource, resource)},
		{"namespace", config_field_namespace, offsetof(struct config_resource, namespace_)},
		{"namespaces", take_namespaces, offsetof(struct config_resource, namespace_)},
		{"labelSelector", yaml_field_string, offsetof(struct config_resource, label_selector)},
		{"fieldSelector", yaml_field_string, offsetof(struct config_resource, field_selector)},
		{"drop", take_drop, 0},
		{"metadataOnly", yaml_field_bool, offsetof(struct config_resource, metadata_only)},
		{"onDemand", yaml_field_bool, offsetof(struct config_resource, on_demand)},
		{"optional", yaml_field_bool, offsetof(struct config_resource, optional)},
		{"watchList", config_field_choice, offsetof(struct config_resource, watch_list)},
		{"pageSize", take_page_size, offsetof(struct config_resource, page_size)},
		{"resourceVersion", take_version, offsetof(struct config_resource, version)},
		{"wire", config_file_wire, offsetof(struct config_resource, wire)},
		{"tombstones", config_file_tombstones, offsetof(struct config_resource, tombstones)},
	};
	_cleanup_(message_freep) char *error = NULL;
	struct config_resource resource = {0};
	int r;

	if (cJSON_IsString(entry)) { /* as --resource */
		r = config_parse_resource(entry->valuestring, &resource, &error);
		if (r < 0)
			r = yaml_field_placed(in, entry, r, &error);
	} else {
		r = yaml_field_mapping(in, entry, YAML_FIELDS(fields), &resource,
				       "a mapping (resource: pods) or a name");
		if (r == 0 && !resource.resource)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "this entry has no 'resource', such as pods");
	}
	if (r == 0 && !(resource.origin = origin(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_resource_done(&resource);
		return r;
	}
	return config_take_resource(in->context, &resource, in->ret_error);
}

static int
take_index(const struct yaml_reading *in, const cJSON *entry)
{
	static const struct yaml_field fields[] = {
		{"name", take_index_name, offsetof(struct config_index, name)},
		{"resource", take_resource_name, offsetof(struct config_index, resource)},
		{"path", take_index_path, 0},
		{"paths", take_index_paths, 0},
		{"split", yaml_field_string, offsetof(struct config_index, split)},
	};
	_cleanup_(message_freep) char *error = NULL;
	struct config_index index = {0};
	const char *missing;
	int r;

	if (cJSON_IsString(entry)) { /* as --index */
		r = config_parse_index(entry->valuestring, &index, &error);
		if (r < 0)
			r = yaml_field_placed(in, entry, r, &error);
	} else {
		r = yaml_field_mapping(in, entry, YAML_FIELDS(fields), &index,
				       "a mapping with name, resource and path");
		missing = !index.name          ? "name"
			  : !index.resource    ? "resource"
			  : index.n_paths == 0 ? "path"
					       : NULL;
		if (r == 0 && missing)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "this index has no '%s'", missing);
	}
	if (r == 0 && !(index.origin = origin(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_index_done(&index);
		return r;
	}
	return config_take_index(in->context, &index, in->ret_error);
}

int
config_file_resources(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const cJSON *entry;
	int r = 0;

	(void)into;
	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list (- resource: pods)");
	cJSON_ArrayForEach(entry, value)
		if (r == 0)
			r = take_resource(in, entry);
	return r;
}

int
config_file_indexes(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const cJSON *entry;
	int r = 0;

	(void)into;
	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list (- name: byUser)");
	cJSON_ArrayForEach(entry, value)
		if (r == 0)
			r = take_index(in, entry);
	return r;
}
