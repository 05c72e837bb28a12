/* SPDX-License-Identifier: Apache-2.0 */
/* `resources:` and `indexes:` of the configuration file; see config_file_entry.h. */
#include "writer/config/config_file_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/index_def.h"
#include "writer/base/drop_path.h"
#include "writer/base/message.h"
#include "writer/config/config_entry.h"
#include "writer/config/config_parse.h"

/* ---- fields of entries ---- */

/* A list of paths, or one. */
static int
take_paths(const struct yaml_reading *in, const cJSON *value, bool one, char ***ret_paths, size_t *ret_n)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!one && !cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of paths");
	if (one && !cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a path (a list of them is named paths)");
	if (*ret_paths)
		return yaml_field_wrong(in, value, "the only one of path and paths");
	*ret_paths = calloc((size_t)cJSON_GetArraySize(value) + 1, sizeof(**ret_paths));
	if (!*ret_paths)
		return -ENOMEM;
	for (const cJSON *item = one ? value : value->child; item; item = one ? NULL : item->next) {
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
take_drop(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	struct config_resource *resource = into;
	int r = take_paths(in, value, false, &resource->drops, &resource->n_drops);
	struct path compiled;

	(void)field;
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
take_index_paths(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		 void *into)
{
	struct config_index *index = into;

	(void)field;
	return take_paths(in, value, false, &index->paths, &index->n_paths);
}

static int
take_index_path(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	struct config_index *index = into;

	(void)field;
	return take_paths(in, value, true, &index->paths, &index->n_paths);
}

static int
take_resource_name(void *at, const char *text, char **ret_error)
{
	struct resource_name name;
	int r = resource_name_parse(text, &name, ret_error);

	if (r < 0)
		return r;
	resource_name_done(&name);
	return flag_take_copy(at, text, ret_error);
}

static int
take_index_name(void *at, const char *text, char **ret_error)
{
	int r = config_check_index_name(text, ret_error);

	return r < 0 ? r : flag_take_copy(at, text, ret_error);
}

int
config_file_namespace(void *at, const char *text, char **ret_error)
{
	/* values of variables are checked later */
	int r = strstr(text, "${") ? 0 : config_check_namespace(text, ret_error);

	return r < 0 ? r : flag_take_copy(at, text, ret_error);
}

int
config_file_choice(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		   void *into)
{
	bool yes = false;
	int r = yaml_field_bool(in, value, field, &yes);

	if (r == 0)
		*(enum config_choice *)into = yes ? CONFIG_YES : CONFIG_NO;
	return r;
}

static int
take_tombstone_count(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		     void *into)
{
	struct config_tombstones *tombstones = into;

	(void)field;
	tombstones->count_said = true;
	return yaml_field_number(in, value, 0, CONFIG_LIMIT_TOMBSTONES, &tombstones->count);
}

const struct yaml_field config_file_tombstones[CONFIG_FILE_TOMBSTONE_FIELDS] = {
	{"count", .take = take_tombstone_count},
	{"bytes", YAML_SIZE, YAML_AT(struct config_tombstones, bytes)},
	{"seconds", YAML_COUNT(1, 86400), YAML_AT(struct config_tombstones, seconds)},
};

/* Join the names into one string, in which variables are replaced later. */
static int
take_namespaces(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	char **names = into, *longer;
	const cJSON *item;
	int r;

	(void)field;
	if (!cJSON_IsArray(value) || cJSON_GetArraySize(value) == 0)
		return yaml_field_wrong(in, value, "a list of namespaces");
	if (*names)
		return yaml_field_wrong(in, value, "the only one of namespace and namespaces");
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item))
			return yaml_field_wrong(in, item, "a namespace");
		r = config_check_namespaces(item->valuestring, &error);
		if (r < 0)
			return yaml_field_placed(in, item, r, &error);
		if (asprintf(&longer, "%s%s%s", *names ? *names : "", *names ? "," : "", item->valuestring) <
		    0)
			return -ENOMEM;
		free(*names);
		*names = longer;
	}
	return 0;
}

/* ---- entries ---- */

static int
take_resource(const struct yaml_reading *in, const cJSON *entry, const struct yaml_field *field, void *into)
{
#define AT(member) YAML_AT(struct config_resource, member)
	static const struct yaml_field fields[] = {
		{"resource", YAML_TEXT(take_resource_name, NULL), AT(resource)},
		{"namespace", YAML_TEXT(config_file_namespace, NULL), AT(namespace_)},
		{"namespaces", .take = take_namespaces, AT(namespace_)},
		{"labelSelector", YAML_STRING, AT(label_selector)},
		{"fieldSelector", YAML_STRING, AT(field_selector)},
		{"drop", .take = take_drop},
		{"metadataOnly", YAML_BOOL, AT(metadata_only)},
		{"onDemand", YAML_BOOL, AT(on_demand)},
		{"optional", YAML_BOOL, AT(optional)},
		{"watchList", .take = config_file_choice, AT(watch_list)},
		{"pageSize", YAML_COUNT(1, CONFIG_LIMIT_PAGE_SIZE), AT(page_size)},
		{"resourceVersion", YAML_TEXT(config_take_version, "any or latest"), AT(version)},
		{"wire", YAML_TEXT(config_take_wire, "auto, json or protobuf"), AT(wire)},
		{"tombstones", CONFIG_FILE_TOMBSTONES, AT(tombstones)},
	};
	static const struct yaml_field mapping = {
		YAML_MAPPING(fields, "a mapping (resource: pods) or a name")};
	_cleanup_(message_freep) char *error = NULL;
	struct config_resource resource = {0};
	int r;

	(void)field;
	if (cJSON_IsString(entry)) { /* as --resource */
		r = config_parse_resource(entry->valuestring, &resource, &error);
		if (r < 0)
			r = yaml_field_placed(in, entry, r, &error);
	} else {
		r = yaml_field_mapping(in, entry, &mapping, &resource);
		if (r == 0 && !resource.resource)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "this entry has no 'resource', such as pods");
	}
	if (r == 0 && !(resource.origin = yaml_field_place(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_resource_done(&resource);
		return r;
	}
	return config_take_resource(into, &resource, in->ret_error);
}

#undef AT

static int
take_index(const struct yaml_reading *in, const cJSON *entry, const struct yaml_field *field, void *into)
{
	static const struct yaml_field fields[] = {
		{"name", YAML_TEXT(take_index_name, NULL), YAML_AT(struct config_index, name)},
		{"resource", YAML_TEXT(take_resource_name, NULL), YAML_AT(struct config_index, resource)},
		{"path", .take = take_index_path},
		{"paths", .take = take_index_paths},
		{"split", YAML_STRING, YAML_AT(struct config_index, split)},
		{"prefix", YAML_COUNT(1, INDEX_PREFIX_MAX), YAML_AT(struct config_index, prefix)},
	};
	static const struct yaml_field mapping = {
		YAML_MAPPING(fields, "a mapping with name, resource and path")};
	_cleanup_(message_freep) char *error = NULL;
	struct config_index index = {0};
	const char *missing;
	int r;

	(void)field;
	if (cJSON_IsString(entry)) { /* as --index */
		r = config_parse_index(entry->valuestring, &index, &error);
		if (r < 0)
			r = yaml_field_placed(in, entry, r, &error);
	} else {
		r = yaml_field_mapping(in, entry, &mapping, &index);
		missing = !index.name          ? "name"
			  : !index.resource    ? "resource"
			  : index.n_paths == 0 ? "path"
					       : NULL;
		if (r == 0 && missing)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "this index has no '%s'", missing);
	}
	if (r == 0 && !(index.origin = yaml_field_place(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_index_done(&index);
		return r;
	}
	return config_take_index(into, &index, in->ret_error);
}

const struct yaml_field config_file_resource = {.take = take_resource};
const struct yaml_field config_file_index = {.take = take_index};
