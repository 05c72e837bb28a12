/* SPDX-License-Identifier: Apache-2.0 */
/* Matches requirements, and parses field selectors. label_parse.c parses label selectors. */
#include "tools/serving/selector.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
api_selector_free(struct api_selector *selector)
{
	if (!selector)
		return;
	for (size_t i = 0; i < selector->count; i++) {
		struct api_requirement *r = &selector->items[i];

		free(r->key);
		for (size_t k = 0; k < r->value_count; k++)
			free(r->values[k]);
		free(r->values);
	}
	free(selector->items);
	free(selector->text);
	free(selector);
}

bool
api_selector_empty(const struct api_selector *selector)
{
	return !selector || selector->count == 0;
}

struct api_selector *
api_selector_new(void)
{
	struct api_selector *selector = api_alloc(sizeof(*selector));

	*selector = (struct api_selector){0};
	return selector;
}

struct api_requirement *
api_selector_add(struct api_selector *selector)
{
	selector->items = api_realloc(selector->items, (selector->count + 1) * sizeof(*selector->items));
	selector->items[selector->count] = (struct api_requirement){.field = API_NO_FIELD};
	return &selector->items[selector->count++];
}

void
api_requirement_value(struct api_requirement *r, const char *text, size_t len)
{
	for (size_t i = 0; i < r->value_count; i++)
		if (strlen(r->values[i]) == len && !memcmp(r->values[i], text, len))
			return;
	r->values = api_realloc(r->values, (r->value_count + 1) * sizeof(char *));
	r->values[r->value_count++] = api_strndup(text, len);
}

static bool
has_value(const struct api_requirement *r, const char *value)
{
	for (size_t i = 0; i < r->value_count; i++)
		if (!strcmp(r->values[i], value))
			return true;
	return false;
}

bool
api_requirement_integer(const char *text, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool
meets(const struct api_requirement *r, const char *value)
{
	long long have, want;

	switch (r->op) {
	case API_OP_EXISTS:
		return value != NULL;
	case API_OP_ABSENT:
		return value == NULL;
	case API_OP_IN:
		return value && has_value(r, value);
	case API_OP_NOT_IN:
		return !value || !has_value(r, value);
	default:
		if (!value || !api_requirement_integer(value, &have) ||
		    !api_requirement_integer(r->values[0], &want))
			return false;
		return r->op == API_OP_GREATER ? have > want : have < want;
	}
}

static const char *
field_value(const struct api_requirement *r, const struct api_object *object, char *scratch, size_t size)
{
	if (r->field == API_FIELD_NAME)
		return api_object_name(object);
	if (r->field != API_FIELD_NAMESPACE)
		return api_object_field(object, (unsigned)r->field);
	if (object->namespace_len >= size)
		return "";
	memcpy(scratch, object->key, object->namespace_len);
	scratch[object->namespace_len] = '\0';
	return scratch;
}

bool
api_selector_matches(const struct api_selector *selector, const struct api_object *object)
{
	char scratch[256];

	if (!selector)
		return true;
	for (size_t i = 0; i < selector->count; i++) {
		const struct api_requirement *r = &selector->items[i];
		const char *value = r->field == API_NO_FIELD
					    ? api_object_label(object, r->key)
					    : field_value(r, object, scratch, sizeof(scratch));

		if (!meets(r, value))
			return false;
	}
	return true;
}

static int
met_before(const struct api_requirement *r, const struct api_object *object)
{
	char scratch[256];
	const char *value;

	if (r->field == API_NO_FIELD)
		return -1;
	value = field_value(r, object, scratch, sizeof(scratch));
	if (r->field == API_FIELD_NAME || r->field == API_FIELD_NAMESPACE)
		return meets(r, value);
	/* a pod's node never changes once set, so before it was this node or none */
	if (!strcmp(r->key, "spec.nodeName") && value[0] && r->op == API_OP_IN && !has_value(r, "") &&
	    !meets(r, value))
		return 0;
	return -1;
}

int
api_selector_before(const struct api_selector *selector, const struct api_object *object)
{
	int verdict = 1;

	for (size_t i = 0; verdict && selector && i < selector->count; i++) {
		int met = met_before(&selector->items[i], object);

		verdict = met > 0 ? verdict : met;
	}
	return verdict;
}

/* ---- field selectors ------------------------------------------------------ */

static int
find_field(const struct api_resource *resource, const char *label)
{
	if (!strcmp(label, "metadata.name"))
		return API_FIELD_NAME;
	if (!strcmp(label, "metadata.namespace") && resource->namespaced)
		return API_FIELD_NAMESPACE;
	for (int i = 0; resource->fields && resource->fields[i].label; i++)
		if (!strcmp(resource->fields[i].label, label))
			return i;
	return API_NO_FIELD;
}

int
api_selector_refuse(char **ret_error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(ret_error, format, args) < 0)
		*ret_error = api_strndup("", 0);
	va_end(args);
	return -EINVAL;
}

/* Parse one term "label OP value" of len bytes, with escapes. */
static int
field_term(const struct api_resource *resource, const char *term, size_t len, struct api_selector *selector,
	   char **ret_error)
{
	_cleanup_(api_freep) char *whole = api_strndup(term, len), *label = NULL;
	_cleanup_(api_buf_done) struct api_buf value = {0};
	struct api_requirement *r;
	size_t at, op_len;
	bool negated;
	int field;

	for (at = 0; at < len; at++) {
		if (term[at] == '\\')
			at++;
		else if (term[at] == '=' || (term[at] == '!' && at + 1 < len && term[at + 1] == '='))
			break;
	}
	if (at >= len) /* upstream's message, which does not say that =, == or != is missing */
		return api_selector_refuse(ret_error, "invalid selector: '%s'; can't understand '%s'", whole,
					   whole);
	negated = term[at] == '!';
	op_len = negated || (at + 1 < len && term[at + 1] == '=') ? 2 : 1;
	label = api_strndup(term, at);
	field = find_field(resource, label);
	if (field == API_NO_FIELD) {
		const char *behind = strstr(resource->field_error, "%s");

		return api_selector_refuse(ret_error, "%.*s%s%s", (int)(behind - resource->field_error),
					   resource->field_error, label, behind + 2);
	}
	for (at += op_len; at < len; at++) {
		char c = term[at];

		if (c == '\\' && at + 1 < len && strchr("\\,=", term[at + 1])) {
			c = term[++at];
		} else if (c == '\\' || c == '=') {
			return api_selector_refuse(
				ret_error,
				"invalid field selector: invalid escape sequence or unescaped '=' in %s",
				whole);
		}
		api_buf_put(&value, &c, 1);
	}
	r = api_selector_add(selector);
	r->key = label;
	label = NULL;
	r->field = field;
	r->op = negated ? API_OP_NOT_IN : API_OP_IN;
	api_requirement_value(r, value.data ? value.data : "", value.len);
	return 0;
}

int
api_fields_parse(const struct api_resource *resource, const char *text, struct api_selector **ret_selector,
		 char **ret_error)
{
	struct api_selector *selector = api_selector_new();

	while (*text) {
		size_t len = 0;
		int r = 0;

		for (; text[len] && text[len] != ','; len++)
			if (text[len] == '\\' && text[len + 1])
				len++;
		if (len)
			r = field_term(resource, text, len, selector, ret_error);
		if (r < 0) {
			api_selector_free(selector);
			return r;
		}
		text += len + (text[len] == ',');
	}
	*ret_selector = selector;
	return 0;
}
