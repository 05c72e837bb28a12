/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars: YAML 1.2's core schema.
 */
#include "writer/base/yaml_scalar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <yaml.h>

static bool
all_in(const char *text, const char *set)
{
	return *text && text[strspn(text, set)] == '\0';
}

static bool
is_float(const char *s)
{
	size_t before, after = 0;

	s += *s == '-' || *s == '+';
	before = strspn(s, "0123456789");
	s += before;
	if (*s == '.') {
		s++;
		after = strspn(s, "0123456789");
		s += after;
	}
	if (before + after == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		return all_in(s, "0123456789");
	}
	return *s == '\0';
}

static bool
one_of(const char *text, const char *a, const char *b, const char *c)
{
	return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* What a plain scalar is; a string when it is nothing else. */
static int
plain_type(const char *text, double *ret_number)
{
	if (!*text || strcmp(text, "~") == 0 || one_of(text, "null", "Null", "NULL"))
		return cJSON_NULL;
	if (one_of(text, "true", "True", "TRUE"))
		return cJSON_True;
	if (one_of(text, "false", "False", "FALSE"))
		return cJSON_False;
	if (strncmp(text, "0x", 2) == 0 && all_in(text + 2, "0123456789abcdefABCDEF")) {
		*ret_number = (double)strtoull(text + 2, NULL, 16);
		return cJSON_Number;
	}
	if (strncmp(text, "0o", 2) == 0 && all_in(text + 2, "01234567")) {
		*ret_number = (double)strtoull(text + 2, NULL, 8);
		return cJSON_Number;
	}
	if (is_float(text)) {
		*ret_number = strtod(text, NULL);
		return cJSON_Number;
	}
	return cJSON_String;
}

int
yaml_scalar_type(const char *text, const char *tag, bool plain, double *ret_number, const char **ret_why)
{
	static const struct {
		const char *tag;
		int types;
	} tags[] = {{YAML_INT_TAG, cJSON_Number},
		    {YAML_FLOAT_TAG, cJSON_Number},
		    {YAML_NULL_TAG, cJSON_NULL},
		    {YAML_BOOL_TAG, cJSON_True | cJSON_False}};

	if (!tag)
		return plain ? plain_type(text, ret_number) : cJSON_String;
	if (strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0)
		return cJSON_String;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (strcmp(tag, tags[i].tag) == 0) {
			int type = plain_type(text, ret_number);

			*ret_why = "the value does not fit its tag";
			return type & tags[i].types ? type : -EINVAL;
		}
	*ret_why = "unknown tag";
	return -EINVAL;
}
