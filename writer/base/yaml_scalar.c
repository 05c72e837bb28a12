/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars of YAML 1.2's core schema.
 */
#include "writer/base/yaml_scalar.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const struct {
	const char *word;
	int type;
} words[] = {
	{"", cJSON_NULL},       {"~", cJSON_NULL},      {"null", cJSON_NULL},   {"Null", cJSON_NULL},
	{"NULL", cJSON_NULL},   {"true", cJSON_True},   {"True", cJSON_True},   {"TRUE", cJSON_True},
	{"false", cJSON_False}, {"False", cJSON_False}, {"FALSE", cJSON_False},
};

static bool
all_in(const char *text, const char *set)
{
	return *text && text[strspn(text, set)] == '\0';
}

int
yaml_scalar_type(const char *text, double *ret_number)
{
	char *end = NULL;
	double number = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i].word) == 0)
			return words[i].type;
	if (strncmp(text, "0x", 2) == 0 && all_in(text + 2, "0123456789abcdefABCDEF"))
		number = (double)strtoull(text + 2, &end, 16);
	else if (strncmp(text, "0o", 2) == 0 && all_in(text + 2, "01234567"))
		number = (double)strtoull(text + 2, &end, 8);
	else if (all_in(text, "+-.0123456789eE"))
		number = strtod(text, &end);
	if (!end || end == text || *end)
		return cJSON_String;
	*ret_number = number;
	return cJSON_Number;
}
