/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of YAML mappings: tables of them, and the kinds of scalars; see yaml_field.h. */
#include "writer/base/yaml_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/nearest.h"
#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"

#define A_STRING "a string (numbers and words like true in quotes)"

int
yaml_field_wrong(const struct yaml_reading *in, const cJSON *value, const char *expected)
{
	return yaml_error(in->yaml, value, YAML_AT_VALUE, in->ret_error, -EINVAL, "%s must be %s",
			  value->string ? value->string : "what stands here", expected);
}

int
yaml_field_placed(const struct yaml_reading *in, const cJSON *value, int code, char **error)
{
	if (code == -ENOMEM)
		return code;
	return yaml_error(in->yaml, value, YAML_AT_VALUE, in->ret_error, code, "%s",
			  *error ? *error : "no memory");
}

char *
yaml_field_place(const struct yaml_reading *in, const cJSON *value)
{
	unsigned line, column;
	char *text;

	yaml_position(value, YAML_AT_VALUE, &line, &column);
	return asprintf(&text, "%s:%u:%u", yaml_name(in->yaml), line, column) < 0 ? NULL : text;
}

static int
unknown(const struct yaml_reading *in, const cJSON *member, const struct yaml_field *mapping)
{
	const char *names[YAML_FIELDS_MAX], *near;

	for (size_t i = 0; i < mapping->field_count; i++)
		names[i] = mapping->fields[i].name;
	near = nearest(member->string, names, mapping->field_count);
	return yaml_error(in->yaml, member, YAML_AT_KEY, in->ret_error, -EINVAL, "unknown field '%s'%s%s%s",
			  member->string, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int
take(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	return field->take(in, value, field, (char *)into + field->offset);
}

int
yaml_field_mapping(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		   void *into)
{
	const cJSON *member;
	size_t i;
	int r = 0;

	if (!cJSON_IsObject(value))
		return yaml_field_wrong(in, value, field->expected);
	cJSON_ArrayForEach(member, value)
	{
		for (i = 0; i < field->field_count && strcmp(field->fields[i].name, member->string) != 0; i++)
			;
		if (i == field->field_count)
			return unknown(in, member, field);
		if (!cJSON_IsNull(member)) /* null: as if the field were absent */
			r = take(in, member, &field->fields[i], into);
		if (r < 0)
			break;
	}
	return r;
}

int
yaml_field_list(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	const cJSON *item;
	int r = 0;

	if (!cJSON_IsArray(value) || (field->least > 0 && !value->child))
		return yaml_field_wrong(in, value, field->expected);
	cJSON_ArrayForEach(item, value)
	{
		if (r == 0)
			r = take(in, item, field->fields, into);
	}
	return r;
}

int
yaml_field_parse(const char *path, const char *data, size_t length, const struct yaml_field *whole,
		 void *into, char **ret_error)
{
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	int r = yaml_parse(path, data, length, &yaml, ret_error);

	if (r == 0)
		r = take(&(struct yaml_reading){yaml, ret_error}, yaml_root(yaml), whole, into);
	return r < 0 ? message_one_line(ret_error, r) : 0;
}

int
yaml_field_load(const char *path, const struct yaml_field *whole, void *into, char **ret_error)
{
	size_t length;
	char *data;
	int r = file_read(path, YAML_MAX_BYTES, &data, &length, ret_error);

	if (r < 0)
		return r;
	r = yaml_field_parse(path, data, length, whole, into, ret_error);
	file_wipe(data, length);
	return r;
}

/* ---- scalars ---- */

int
yaml_field_string(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		  void *into)
{
	(void)field;
	if (!cJSON_IsString(value) || !*value->valuestring)
		return yaml_field_wrong(in, value, A_STRING);
	return flag_take_copy(into, value->valuestring, NULL);
}

int
yaml_field_path(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	const char *file = yaml_name(in->yaml), *slash = strrchr(file, '/');
	char **path = into, *joined;

	if (!cJSON_IsString(value) || *value->valuestring == '/' || !slash)
		return yaml_field_string(in, value, field, into);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - file), file, value->valuestring) < 0)
		return -ENOMEM;
	free(*path);
	*path = joined;
	return 0;
}

int
yaml_field_text(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value) || !*value->valuestring)
		return yaml_field_wrong(in, value, field->expected ? field->expected : A_STRING);
	r = field->parse(into, value->valuestring, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

int
yaml_field_bool(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	const char *yes = field->yes ? field->yes : "true", *no = field->no ? field->no : "false", *text;
	char expected[96];

	text = field->yes            ? cJSON_GetStringValue(value)
	       : cJSON_IsBool(value) ? (cJSON_IsTrue(value) ? yes : no)
				     : NULL;
	if (!text || (strcmp(text, yes) != 0 && strcmp(text, no) != 0)) {
		snprintf(expected, sizeof(expected), field->yes ? "%2$s or %1$s" : "%1$s or %2$s", yes, no);
		return yaml_field_wrong(in, value, expected);
	}
	*(bool *)into = strcmp(text, yes) == 0;
	return 0;
}

int
yaml_field_number(const struct yaml_reading *in, const cJSON *value, double min, double max, uint64_t *ret)
{
	char expected[96];

	if (!cJSON_IsNumber(value) || value->valuedouble < min || value->valuedouble > max ||
	    value->valuedouble != (double)(uint64_t)value->valuedouble) {
		snprintf(expected, sizeof(expected), "a whole number from %.0f to %.0f", min, max);
		return yaml_field_wrong(in, value, expected);
	}
	*ret = (uint64_t)value->valuedouble;
	return 0;
}

int
yaml_field_count(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		 void *into)
{
	uint64_t number;
	int r = yaml_field_number(in, value, (double)field->least, (double)field->most, &number);

	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

int
yaml_field_time(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a time as a string, such as 800ms, 30s or 1m30s");
	r = quantity_time(value->valuestring, field->least, field->most, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

int
yaml_field_size(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	uint64_t bytes;
	char number[32];
	int r;

	(void)field;
	if (cJSON_IsNumber(value))
		snprintf(number, sizeof(number), "%.15g", value->valuedouble); /* for the unit it lacks */
	else if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a size, such as 512Mi or 4Gi");
	r = quantity_size(cJSON_IsNumber(value) ? number : value->valuestring, &bytes, &error);
	if (r < 0)
		return yaml_field_placed(in, value, r, &error);
	if (bytes == 0)
		return yaml_field_wrong(in, value, "a size of more than 0, such as 512Mi or 4Gi");
	*(uint64_t *)into = bytes;
	return 0;
}
