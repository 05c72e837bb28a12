/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and evaluates a condition; see wait_condition.h. */
#include "tools/informerctl/wait_condition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informerctl/json_path.h"
#include "tools/printer/text.h"

/* "Ready", "Ready=False" */
static int
parse_type(const char *text, struct wait_condition *condition, const char **ret_why)
{
	size_t length = strcspn(text, "=");

	condition->kind = WAIT_CONDITION;
	if (length == 0) {
		*ret_why = "a condition has a type: --for=condition=Ready";
		return -EINVAL;
	}
	condition->type = strndup(text, length);
	condition->status = strdup(text[length] ? text + length + 1 : "true");
	return condition->type && condition->status ? 0 : -ENOMEM;
}

/* The first single '='; a double one belongs to the path. NULL: there is none. */
static const char *
single_equals(const char *text)
{
	for (; *text; text++) {
		if (*text != '=')
			continue;
		if (text[1] != '=')
			return text;
		text++;
	}
	return NULL;
}

/* "{.status.phase}", "{.status.phase}=Running" */
static int
parse_json_path(const char *text, struct wait_condition *condition, const char **ret_why)
{
	const char *equals = text, *behind;
	char *path;
	size_t length;
	int r;

	condition->kind = WAIT_JSON_PATH;
	/* "!=" belongs to a filter */
	while ((equals = single_equals(equals)) && equals > text && equals[-1] == '!')
		equals++;
	path = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
	if (!path)
		return -ENOMEM;
	r = json_path_parse(path, &condition->path, ret_why);
	free(path);
	if (r < 0 || !equals)
		return r;
	behind = equals + 1 + strspn(equals + 1, "'\"");
	length = strlen(behind);
	while (length > 0 && strchr("'\"", behind[length - 1]))
		length--;
	if (length == 0 || single_equals(behind)) {
		*ret_why = "write --for=jsonpath='{.status.readyReplicas}'=3, or without =3 for any value";
		return -EINVAL;
	}
	condition->value = strndup(behind, length);
	return condition->value ? 0 : -ENOMEM;
}

int
wait_condition_parse(const char *text, struct wait_condition *ret_condition, const char **ret_why)
{
	struct wait_condition condition = {0};
	int r = 0;

	*ret_why = "";
	if (strcasecmp(text, "delete") == 0) {
		condition.kind = WAIT_DELETE;
	} else if (strcasecmp(text, "create") == 0) {
		condition.kind = WAIT_CREATE;
	} else if (strncasecmp(text, "condition=", 10) == 0) {
		r = parse_type(text + 10, &condition, ret_why);
	} else if (strncasecmp(text, "jsonpath=", 9) == 0) {
		r = parse_json_path(text + 9, &condition, ret_why);
	} else {
		r = -EINVAL;
	}
	if (r < 0)
		wait_condition_done(&condition);
	else
		*ret_condition = condition;
	return r;
}

void
wait_condition_done(struct wait_condition *condition)
{
	free(condition->type);
	free(condition->status);
	json_path_free(condition->path);
	free(condition->value);
	*condition = (struct wait_condition){0};
}

/* Whether a text is in a list separated by commas, ignoring case. */
static bool
is_one_of(struct field_text text, const char *list)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		if (length == text.length && strncasecmp(list, text.data, length) == 0)
			return true;
		if (!list[length])
			return false;
		list += length + 1;
	}
}

/* Whether the condition was observed at an older generation than the object's. */
static bool
is_outdated(struct field object, struct field condition)
{
	struct field generation = field_at(object, "metadata", "generation"),
		     observed = field_get(condition, "observedGeneration");

	if (field_kind(observed) != FIELD_NUMBER)
		observed = field_at(object, "status", "observedGeneration");
	return field_kind(generation) == FIELD_NUMBER && field_kind(observed) == FIELD_NUMBER &&
	       field_int(observed) < field_int(generation);
}

static int
has_condition(const struct wait_condition *wanted, struct field object)
{
	struct field conditions = field_at(object, "status", "conditions");
	struct field_text status;
	struct field_iter it;

	if (field_kind(conditions) != FIELD_ARRAY)
		return 0;
	field_iterate(conditions, &it);
	while (field_next(&it)) {
		if (field_kind(field_get(it.item, "type")) != FIELD_STRING ||
		    field_kind(field_get(it.item, "status")) != FIELD_STRING ||
		    !is_one_of(field_string(field_get(it.item, "type")), wanted->type))
			continue;
		status = field_string(field_get(it.item, "status"));
		return !is_outdated(object, it.item) && status.length == strlen(wanted->status) &&
		       strncasecmp(status.data, wanted->status, status.length) == 0;
	}
	return 0;
}

static void
trim(const char **text, size_t *length)
{
	while (*length > 0 && strchr(" \t\r\n", **text)) {
		++*text;
		--*length;
	}
	while (*length > 0 && strchr(" \t\r\n", (*text)[*length - 1]))
		--*length;
}

static int
has_value(const struct wait_condition *wanted, struct field object, const char **ret_why)
{
	struct text text = TEXT_INIT(-1);
	struct field found;
	size_t hits = json_path_find(wanted->path, object, &found), length, wanted_length;
	const char *data, *value = wanted->value;
	int r = 0;

	if (hits > 1) {
		*ret_why = "given jsonpath expression matches more than one value";
		return -EINVAL;
	}
	if (hits == 0 || !value)
		return hits == 1;
	if (!json_path_text(found, &text)) {
		*ret_why = "jsonpath leads to a nested object or list which is not supported";
		return -EINVAL;
	}
	data = text.data ? text.data : "";
	length = text.length;
	wanted_length = strlen(value);
	trim(&data, &length);
	trim(&value, &wanted_length);
	r = text.error ? text.error : length == wanted_length && memcmp(data, value, length) == 0;
	text_done(&text);
	return r;
}

int
wait_condition_met(const struct wait_condition *condition, struct field object, const char **ret_why)
{
	return condition->kind == WAIT_CONDITION ? has_condition(condition, object)
						 : has_value(condition, object, ret_why);
}
