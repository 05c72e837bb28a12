/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements and how objects meet them, and the field selector's parser. The
 * label selector's is label_parse.c.
 */
#include "tools/informer-sim/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/requirement.h"

void
sim_selector_free(struct sim_selector *selector)
{
	if (!selector)
		return;
	for (size_t i = 0; i < selector->count; i++) {
		struct sim_requirement *r = &selector->items[i];

		free(r->key);
		for (size_t k = 0; k < r->value_count; k++)
			free(r->values[k]);
		free(r->values);
	}
	free(selector->items);
	free(selector);
}

bool
sim_selector_empty(const struct sim_selector *selector)
{
	return !selector || selector->count == 0;
}

struct sim_selector *
sim_selector_new(void)
{
	struct sim_selector *selector = sim_alloc(sizeof(*selector));

	*selector = (struct sim_selector){0};
	return selector;
}

struct sim_requirement *
sim_selector_add(struct sim_selector *selector)
{
	selector->items = sim_realloc(selector->items, (selector->count + 1) * sizeof(*selector->items));
	selector->items[selector->count] = (struct sim_requirement){.field = SIM_NO_FIELD};
	return &selector->items[selector->count++];
}

void
sim_requirement_value(struct sim_requirement *r, const char *text, size_t len)
{
	for (size_t i = 0; i < r->value_count; i++)
		if (strlen(r->values[i]) == len && !memcmp(r->values[i], text, len))
			return;
	r->values = sim_realloc(r->values, (r->value_count + 1) * sizeof(char *));
	r->values[r->value_count++] = sim_strndup(text, len);
}

static bool
has_value(const struct sim_requirement *r, const char *value)
{
	for (size_t i = 0; i < r->value_count; i++)
		if (!strcmp(r->values[i], value))
			return true;
	return false;
}

static bool
integer(const char *text, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool
meets(const struct sim_requirement *r, const char *value)
{
	long long have, want;

	switch (r->op) {
	case SIM_OP_EXISTS:
		return value != NULL;
	case SIM_OP_ABSENT:
		return value == NULL;
	case SIM_OP_IN:
		return value && has_value(r, value);
	case SIM_OP_NOT_IN:
		return !value || !has_value(r, value);
	default:
		if (!value || !integer(value, &have) || !integer(r->values[0], &want))
			return false;
		return r->op == SIM_OP_GREATER ? have > want : have < want;
	}
}

static const char *
field_value(const struct sim_requirement *r, const struct sim_object *object, char *scratch, size_t size)
{
	if (r->field == SIM_FIELD_NAME)
		return sim_object_name(object);
	if (r->field != SIM_FIELD_NAMESPACE)
		return sim_object_field(object, (unsigned)r->field);
	if (object->namespace_len >= size)
		return "";
	memcpy(scratch, object->key, object->namespace_len);
	scratch[object->namespace_len] = '\0';
	return scratch;
}

bool
sim_selector_matches(const struct sim_selector *selector, const struct sim_object *object)
{
	char scratch[256];

	if (!selector)
		return true;
	for (size_t i = 0; i < selector->count; i++) {
		const struct sim_requirement *r = &selector->items[i];
		const char *value = r->field == SIM_NO_FIELD
					    ? sim_object_label(object, r->key)
					    : field_value(r, object, scratch, sizeof(scratch));

		if (!meets(r, value))
			return false;
	}
	return true;
}

/* ---- field selectors ------------------------------------------------------ */

static int
find_field(const struct sim_resource *resource, const char *label)
{
	if (!strcmp(label, "metadata.name"))
		return SIM_FIELD_NAME;
	if (!strcmp(label, "metadata.namespace") && resource->namespaced)
		return SIM_FIELD_NAMESPACE;
	for (int i = 0; resource->fields && resource->fields[i].label; i++)
		if (!strcmp(resource->fields[i].label, label))
			return i;
	return SIM_NO_FIELD;
}

static char *
message(const char *before, const char *middle, const char *after)
{
	struct sim_buf buf = {0};

	sim_buf_puts(&buf, before);
	sim_buf_puts(&buf, middle);
	sim_buf_puts(&buf, after);
	return sim_buf_take(&buf);
}

/* The part of the resource's message before and behind %s. */
static char *
unsupported(const struct sim_resource *resource, const char *label)
{
	const char *mark = strstr(resource->field_error, "%s");
	_cleanup_(sim_freep) char *before =
		sim_strndup(resource->field_error, (size_t)(mark - resource->field_error));

	return message(before, label, mark + 2);
}

/* In the real server's words, which do not say that =, == or != is missing. */
static char *
cannot_understand(const char *term)
{
	_cleanup_(sim_freep) char *first = message("invalid selector: '", term, "'; can't understand '");

	return message(first, term, "'");
}

/* One term "label OP value" of len bytes, still escaped. */
static int
field_term(const struct sim_resource *resource, const char *term, size_t len, struct sim_selector *selector,
	   char **ret_error)
{
	_cleanup_(sim_freep) char *label = NULL;
	_cleanup_(sim_buf_done) struct sim_buf value = {0};
	struct sim_requirement *r;
	size_t at, op_len;
	bool negated;
	int field;

	for (at = 0; at < len; at++) {
		if (term[at] == '\\')
			at++;
		else if (term[at] == '=' || (term[at] == '!' && at + 1 < len && term[at + 1] == '='))
			break;
	}
	if (at >= len) {
		label = sim_strndup(term, len);
		*ret_error = cannot_understand(label);
		return -EINVAL;
	}
	negated = term[at] == '!';
	op_len = negated || (at + 1 < len && term[at + 1] == '=') ? 2 : 1;
	label = sim_strndup(term, at);
	field = find_field(resource, label);
	if (field == SIM_NO_FIELD) {
		*ret_error = unsupported(resource, label);
		return -EINVAL;
	}
	for (at += op_len; at < len; at++) {
		char c = term[at];

		if (c == '\\' && at + 1 < len && strchr("\\,=", term[at + 1])) {
			c = term[++at];
		} else if (c == '\\' || c == '=') {
			_cleanup_(sim_freep) char *whole = sim_strndup(term, len);

			*ret_error = message(
				"invalid field selector: invalid escape sequence or unescaped '=' in ", whole,
				"");
			return -EINVAL;
		}
		sim_buf_put(&value, &c, 1);
	}
	r = sim_selector_add(selector);
	r->key = label;
	label = NULL;
	r->field = field;
	r->op = negated ? SIM_OP_NOT_IN : SIM_OP_IN;
	sim_requirement_value(r, value.data ? value.data : "", value.len);
	return 0;
}

int
sim_fields_parse(const struct sim_resource *resource, const char *text, struct sim_selector **ret_selector,
		 char **ret_error)
{
	struct sim_selector *selector = sim_selector_new();

	while (*text) {
		size_t len = 0;
		int r = 0;

		for (; text[len] && text[len] != ','; len++)
			if (text[len] == '\\' && text[len + 1])
				len++;
		if (len)
			r = field_term(resource, text, len, selector, ret_error);
		if (r < 0) {
			sim_selector_free(selector);
			return r;
		}
		text += len + (text[len] == ',');
	}
	*ret_selector = selector;
	return 0;
}
