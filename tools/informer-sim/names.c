/* SPDX-License-Identifier: Apache-2.0 */
/* Checks labels and annotations of client documents, with the real server's messages. */
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/names.h"
#include "tools/informer-sim/refused_write.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 63u

#define NAME_RULE                                                                                            \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "          \
	"alphanumeric character (e.g. "                                                                      \
	"'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                              \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                                           \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " \
	"must start and end with an "                                                                        \
	"alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define PREFIX_RULE                                                                                          \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "    \
	"and must start and end with an "                                                                    \
	"alphanumeric character (e.g. 'example.com', regex used for validation is "                          \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/* Letters, digits and characters of `more`, beginning and ending alphanumeric. */
static bool
consists_of(const char *text, size_t length, const char *more)
{
	if (length == 0 || !isalnum((unsigned char)text[0]) || !isalnum((unsigned char)text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(more, text[i]))
			return false;
	return strlen(text) >= length;
}

static bool
is_lower(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (isupper((unsigned char)text[i]))
			return false;
	return true;
}

/* Why a key is not a qualified name, or NULL. An annotation's prefix may have capitals. */
static const char *
wrong_key(const char *key, bool is_label)
{
	const char *slash = strchr(key, '/'), *name = slash ? slash + 1 : key;

	if (slash && strchr(name, '/'))
		return "a qualified name " NAME_RULE;
	if (slash && slash == key)
		return "prefix part must be non-empty";
	if (slash && (!consists_of(key, (size_t)(slash - key), "-.") ||
		      (is_label && !is_lower(key, (size_t)(slash - key)))))
		return "prefix part " PREFIX_RULE;
	if (!name[0])
		return "name part must be non-empty";
	if (strlen(name) > LENGTH_MAX)
		return "name part must be no more than 63 bytes";
	return consists_of(name, strlen(name), "-_.") ? NULL : "name part " NAME_RULE;
}

static const char *
wrong_value(const char *value)
{
	if (strlen(value) > LENGTH_MAX)
		return "must be no more than 63 bytes";
	return !value[0] || consists_of(value, strlen(value), "-_.") ? NULL : VALUE_RULE;
}

static int
refuse(const struct api_resource *resource, const char *name, const char *field, const char *what,
       const char *why, struct api_status *status)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};

	api_buf_printf(&text, "Invalid value: \"%.250s\": %s", what, why);
	return sim_status_invalid(status, resource, name, "FieldValueInvalid", field, text.data);
}

static int
check(const struct api_resource *resource, const struct api_node *pairs, bool is_label, const char *name,
      struct api_status *status)
{
	const char *field = is_label ? "metadata.labels" : "metadata.annotations";

	for (const struct api_node *pair = pairs && pairs->type == API_OBJECT ? pairs->child : NULL; pair;
	     pair = pair->next) {
		_cleanup_(api_buf_done) struct api_buf key = {0};
		_cleanup_(api_freep) char *value = api_text_dup(pair);
		const char *why;

		sim_key(pair, &key);
		api_buf_put(&key, "", 0); /* add the NUL even if the key is empty */
		why = wrong_key(key.data, is_label);
		if (why)
			return refuse(resource, name, field, key.data, why, status);
		why = is_label ? wrong_value(value) : NULL;
		if (why)
			return refuse(resource, name, field, value, why, status);
	}
	return 0;
}

int
sim_names_check(const struct api_resource *resource, const struct api_node *meta, const char *name,
		struct api_status *status)
{
	int r = check(resource, api_get(meta, "labels"), true, name, status);

	return r < 0 ? r : check(resource, api_get(meta, "annotations"), false, name, status);
}
