/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of YAML mappings: tables of them, and the kinds of scalars; see yaml_field.h. */
#include "writer/base/yaml_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/nearest.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"

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

int
yaml_field_mapping(const struct yaml_reading *in, const cJSON *object, const struct yaml_field *fields,
		   size_t n, void *into, const char *what)
{
	const char *names[YAML_FIELDS_MAX], *near;
	const cJSON *member;
	size_t i;
	int r;

	if (!cJSON_IsObject(object))
		return yaml_field_wrong(in, object, what);
	for (i = 0; i < n; i++)
		names[i] = fields[i].name;
	cJSON_ArrayForEach(member, object)
	{
		for (i = 0; i < n && strcmp(fields[i].name, member->string) != 0; i++)
			;
		if (i == n) {
			near = nearest(member->string, names, n);
			return yaml_error(in->yaml, member, YAML_AT_KEY, in->ret_error, -EINVAL,
					  "unknown field '%s'%s%s%s", member->string,
					  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		}
		if (cJSON_IsNull(member))
			continue; /* as if it were not there */
		r = fields[i].take(in, member, (char *)into + fields[i].offset);
		if (r < 0)
			return r;
	}
	return 0;
}

int
yaml_field_string(const struct yaml_reading *in, const cJSON *value, void *into)
{
	char **field = into;

	if (!cJSON_IsString(value) || !*value->valuestring)
		return yaml_field_wrong(in, value, "a string (numbers and words like true in quotes)");
	*field = strdup(value->valuestring);
	return *field ? 0 : -ENOMEM;
}

int
yaml_field_path(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const char *file = yaml_name(in->yaml), *slash = strrchr(file, '/');
	char **field = into;

	if (!cJSON_IsString(value) || *value->valuestring == '/' || !slash)
		return yaml_field_string(in, value, into);
	if (asprintf(field, "%.*s/%s", (int)(slash - file), file, value->valuestring) < 0)
		*field = NULL;
	return *field ? 0 : -ENOMEM;
}

int
yaml_field_bool(const struct yaml_reading *in, const cJSON *value, void *into)
{
	if (!cJSON_IsBool(value))
		return yaml_field_wrong(in, value, "true or false");
	*(bool *)into = cJSON_IsTrue(value);
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
yaml_field_time(const struct yaml_reading *in, const cJSON *value, uint64_t least_ms, uint64_t most_ms,
		uint64_t *ret_ms)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a time as a string, such as 800ms, 30s or 1m30s");
	r = quantity_time(value->valuestring, least_ms, most_ms, ret_ms, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

int
yaml_field_seconds(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = yaml_field_number(in, value, 1, 86400, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

int
yaml_field_size(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (cJSON_IsNumber(value))
		return yaml_field_number(in, value, 1, 9007199254740992.0, into);
	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a size, such as 512Mi or 4Gi");
	r = quantity_size(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}
