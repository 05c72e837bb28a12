/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain scalars: YAML 1.2's core schema.
 */
#include "writer/base/yaml_scalar.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

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
int
yaml_plain_type(const char *text, double *ret_number)
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
