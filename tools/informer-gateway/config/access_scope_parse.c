/* SPDX-License-Identifier: Apache-2.0 */
/* The names of scopes, and rules in one text; see access_scope.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/config/access_scope.h"
#include "writer/base/message.h"

static const char label_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

int
gw_scope_check_resource(const char *text, char **ret_error)
{
	const char *at = text;
	size_t length;

	if (*at == '*') {
		at++;
		if (!*at || (*at == '.' && at[1] && !at[1 + strspn(at + 1, name_letters)]))
			return 0;
	} else if ((length = strspn(at, label_letters)) > 0) {
		at += length;
		if (*at == '.' && strspn(at + 1, name_letters) > 0)
			at += 1 + strspn(at + 1, name_letters);
		if (*at == '/' && at[1])
			at += 1 + strspn(at + 1, label_letters);
		if (!*at)
			return 0;
	}
	return message_set(ret_error, -EINVAL,
			   "'%s' is no resource of a scope; write it as pods, deployments.apps, pods/status, "
			   "*.apps or *",
			   text);
}

int
gw_scope_check_namespace(const char *text, char **ret_error)
{
	size_t length = strspn(text, label_letters);

	if (length == 0 || length > 63 || text[length])
		return message_set(ret_error, -EINVAL,
				   "'%s' is no namespace (of a rule for all of them, leave namespaces out)",
				   text);
	return 0;
}

int
gw_scope_check_path(const char *text, char **ret_error)
{
	if (*text != '/' || strpbrk(text, "*?%# "))
		return message_set(ret_error, -EINVAL, "'%s' is no path; write it whole, as /metrics", text);
	return 0;
}

int
gw_scope_parse_verb(const char *text, unsigned *verbs, char **ret_error)
{
	static const char *const names[] = {"get", "list", "watch"};

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			*verbs |= 1u << i;
			return 0;
		}
	}
	return message_set(ret_error, -EINVAL, "'%s' is not get, list or watch", text);
}

/* ---- a rule in one text ---- */

/* What goes between commas, each checked. */
static int
take_list(char *text, struct gw_texts *texts, int (*check)(const char *, char **), char **ret_error)
{
	char *item;
	int r = 0;

	while (r == 0 && (item = strsep(&text, ","))) {
		r = check(item, ret_error);
		if (r == 0)
			r = gw_texts_add(texts, item, strlen(item));
	}
	return r;
}

static int
take_parameter(char *text, struct gw_rule *rule, char **ret_error)
{
	char *value = strchr(text, '='), *item;
	int r = 0;

	if (value)
		*value++ = '\0';
	if (value && strcmp(text, "namespaces") == 0)
		return take_list(value, &rule->namespaces, gw_scope_check_namespace, ret_error);
	if (!value || strcmp(text, "verbs") != 0)
		return message_set(ret_error, -EINVAL, "'%s' is not namespaces=… or verbs=…", text);
	while (r == 0 && (item = strsep(&value, ",")))
		r = gw_scope_parse_verb(item, &rule->verbs, ret_error);
	return r;
}

static int
parse_rule(char *text, struct gw_rule *rule, char **ret_error)
{
	char *parameters, *parameter;
	int r;

	if (*text == '/')
		return take_list(text, &rule->paths, gw_scope_check_path, ret_error);
	parameters = strchr(text, '?');
	if (parameters)
		*parameters++ = '\0';
	r = take_list(text, &rule->resources, gw_scope_check_resource, ret_error);
	while (r == 0 && (parameter = strsep(&parameters, "&")))
		r = take_parameter(parameter, rule, ret_error);
	return r;
}

int
gw_scope_parse_rule(const char *text, struct gw_scope *scope, char **ret_error)
{
	_cleanup_(message_freep) char *copy = strdup(text);
	struct gw_rule rule = {0};
	int r = copy ? parse_rule(copy, &rule, ret_error) : -ENOMEM;

	if (r == 0)
		return gw_scope_take(scope, &rule);
	gw_rule_done(&rule);
	return r;
}
