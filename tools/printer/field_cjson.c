/* SPDX-License-Identifier: Apache-2.0 */
/* Fields in a cJSON tree, and terminated strings as fields. */
#include "tools/printer/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const cJSON *
node_of(const struct field *field)
{
	return field->at.private_[0];
}

static enum field_kind
node_kind(const struct field *field)
{
	switch (node_of(field)->type & 0xff) {
	case cJSON_NULL:
		return FIELD_NULL;
	case cJSON_True:
	case cJSON_False:
		return FIELD_BOOL;
	case cJSON_Number:
		return FIELD_NUMBER;
	case cJSON_String:
		return FIELD_STRING;
	case cJSON_Array:
		return FIELD_ARRAY;
	case cJSON_Object:
		return FIELD_OBJECT;
	default:
		return FIELD_NONE;
	}
}

static bool
node_string(const struct field *field, struct field_text *ret)
{
	*ret = (struct field_text){node_of(field)->valuestring, strlen(node_of(field)->valuestring)};
	return true;
}

static bool
node_boolean(const struct field *field)
{
	return cJSON_IsTrue(node_of(field));
}

static bool
node_integer(const struct field *field, int64_t *ret)
{
	double d = node_of(field)->valuedouble;

	if (!(fabs(d) < 9e18) || d != floor(d))
		return false;
	*ret = (int64_t)d;
	return true;
}

static size_t
node_number(const struct field *field, char *buffer, size_t size)
{
	double d = node_of(field)->valuedouble, again;
	int n = 0;

	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(buffer, size, "%.*g", digits, d);
		if (sscanf(buffer, "%lf", &again) == 1 && !(again < d) && !(again > d))
			break;
	}
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static size_t
node_count(const struct field *field)
{
	return (size_t)cJSON_GetArraySize(node_of(field));
}

static bool
found(const struct field *parent, const cJSON *node, struct field *ret)
{
	*ret = *parent;
	ret->at.private_[0] = node;
	return node != NULL;
}

static bool
node_get(const struct field *object, const char *name, size_t length, struct field *ret)
{
	const cJSON *node = node_of(object)->child;

	while (node && (strlen(node->string) != length || memcmp(node->string, name, length) != 0))
		node = node->next;
	return found(object, node, ret);
}

static bool
node_element(const struct field *array, size_t i, struct field *ret)
{
	return found(array, i < node_count(array) ? cJSON_GetArrayItem(node_of(array), (int)i) : NULL, ret);
}

static void
node_begin(const struct field *field, struct field_iter *it)
{
	it->item.source = field->source;
	it->private_.next = node_of(field)->child;
}

static bool
node_next(struct field_iter *it)
{
	const cJSON *node = it->private_.next;

	if (!node)
		return false;
	it->private_.next = node->next;
	it->key = node->string;
	it->key_length = node->string ? strlen(node->string) : 0;
	it->item.at.private_[0] = node;
	return true;
}

static const struct field_source source = {
	.kind = node_kind,
	.string = node_string,
	.boolean = node_boolean,
	.integer = node_integer,
	.number = node_number,
	.count = node_count,
	.get = node_get,
	.element = node_element,
	.begin = node_begin,
	.next = node_next,
};

struct field
field_of_cjson(const cJSON *node)
{
	return (struct field){.source = node ? &source : NULL, .at.private_[0] = node};
}

/* ---- strings ---- */

static enum field_kind
text_kind(const struct field *field)
{
	(void)field;
	return FIELD_STRING;
}

static bool
text_string(const struct field *field, struct field_text *ret)
{
	*ret = (struct field_text){field->at.private_[0], strlen(field->at.private_[0])};
	return true;
}

static const struct field_source text_source = {.kind = text_kind, .string = text_string};

struct field
field_of_text(const char *text)
{
	return (struct field){.source = &text_source, .at.private_[0] = text};
}
