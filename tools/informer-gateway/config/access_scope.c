/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of scopes: matching and parsing; see access_scope.h. */
#include "tools/informer-gateway/config/access_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/api_path.h"
#include "tools/serving/buf.h"
#include "writer/base/message.h"

static bool
is_verb(const char *text)
{
	return strcmp(text, "get") == 0 || strcmp(text, "list") == 0 || strcmp(text, "watch") == 0;
}

/* ---- matching ---- */

static bool
is_secrets(const struct gw_attributes *a)
{
	return !*a->group && strcmp(a->resource, "secrets") == 0;
}

/*
 * Whether the name equals the attributes in the form RESOURCE.GROUP/SUBRESOURCE, as deployments.apps/scale.
 */
static bool
names_it(const char *name, const struct gw_attributes *a)
{
	size_t resource = strlen(a->resource), group = strlen(a->group);

	if (strncmp(name, a->resource, resource) != 0)
		return false;
	name += resource;
	if (group > 0) {
		if (*name != '.' || strncmp(name + 1, a->group, group) != 0)
			return false;
		name += group + 1;
	}
	return *a->subresource ? *name == '/' && strcmp(name + 1, a->subresource) == 0 : !*name;
}

static bool
covers_it(const char *name, const struct gw_attributes *a)
{
	if (*name != '*' || is_secrets(a) || *a->subresource)
		return false;
	return !name[1] || strcmp(name + 2, a->group) == 0;
}

static bool
rule_has_resource(const struct gw_rule *rule, const struct gw_attributes *a)
{
	for (size_t i = 0; i < rule->resources.count; i++)
		if (names_it(rule->resources.items[i], a) || covers_it(rule->resources.items[i], a))
			return true;
	return false;
}

static bool
rule_allows(const struct gw_rule *rule, const struct gw_attributes *a)
{
	if (!is_verb(a->verb) || (rule->verbs.count > 0 && !gw_texts_have(&rule->verbs, a->verb)))
		return false;
	if (*a->path)
		return gw_texts_have(&rule->paths, a->path);
	if (rule->namespaces.count > 0 &&
	    (!*a->namespace_ || !gw_texts_have(&rule->namespaces, a->namespace_)))
		return false;
	return rule_has_resource(rule, a);
}

/* Discovery and health: open to every client of the listener. */
static bool
is_open_path(const char *text)
{
	static const char *const open[] = {"/healthz", "/livez", "/readyz"};
	_cleanup_(api_path_done) struct api_path path = {0};

	if (api_place_is_discovery(api_path_parse(text, &path)))
		return true;
	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++) {
		size_t length = strlen(open[i]);

		if (!strncmp(text, open[i], length) && (!text[length] || text[length] == '/'))
			return true;
	}
	return false;
}

bool
gw_scope_allows(const struct gw_scope *scope, const struct gw_attributes *attributes)
{
	if (*attributes->path && is_open_path(attributes->path))
		return true;
	for (size_t i = 0; i < scope->count; i++)
		if (rule_allows(&scope->rules[i], attributes))
			return true;
	return false;
}

bool
gw_scope_names(const struct gw_scope *scope, const char *resource)
{
	for (size_t i = 0; i < scope->count; i++)
		if (gw_texts_have(&scope->rules[i].resources, resource))
			return true;
	return false;
}

/* ---- adding and freeing ---- */

void
gw_scope_add(struct gw_scope *scope, struct gw_rule *rule)
{
	scope->rules = api_realloc(scope->rules, (scope->count + 1) * sizeof(*scope->rules));
	scope->rules[scope->count++] = *rule;
}

void
gw_rule_done(struct gw_rule *rule)
{
	gw_texts_done(&rule->resources);
	gw_texts_done(&rule->namespaces);
	gw_texts_done(&rule->verbs);
	gw_texts_done(&rule->paths);
}

void
gw_scope_done(struct gw_scope *scope)
{
	for (size_t i = 0; i < scope->count; i++)
		gw_rule_done(&scope->rules[i]);
	free(scope->rules);
	*scope = (struct gw_scope){0};
}

/* ---- parsing ---- */

static const char label_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

static int
take_name(struct gw_texts *texts, const char *name)
{
	gw_texts_add(texts, name);
	return 0;
}

int
gw_take_resource(void *at, const char *text, char **ret_error)
{
	const char *in = text;
	size_t length;

	if (*in == '*') {
		in++;
		if (!*in || (*in == '.' && in[1] && !in[1 + strspn(in + 1, name_letters)]))
			return take_name(at, text);
	} else if ((length = strspn(in, label_letters)) > 0) {
		in += length;
		if (*in == '.' && strspn(in + 1, name_letters) > 0)
			in += 1 + strspn(in + 1, name_letters);
		if (*in == '/' && in[1])
			in += 1 + strspn(in + 1, label_letters);
		if (!*in)
			return take_name(at, text);
	}
	return message_set(ret_error, -EINVAL,
			   "'%s' is no resource of a scope; write it as pods, deployments.apps, pods/status, "
			   "*.apps or *",
			   text);
}

int
gw_take_namespace(void *at, const char *text, char **ret_error)
{
	size_t length = strspn(text, label_letters);

	if (length == 0 || length > 63 || text[length])
		return message_set(ret_error, -EINVAL,
				   "'%s' is no namespace (of a rule for all of them, leave namespaces out)",
				   text);
	return take_name(at, text);
}

int
gw_take_path(void *at, const char *text, char **ret_error)
{
	if (*text != '/' || strpbrk(text, "*?%# "))
		return message_set(ret_error, -EINVAL, "'%s' is no path; write it whole, as /metrics", text);
	return take_name(at, text);
}

int
gw_take_verb(void *at, const char *text, char **ret_error)
{
	if (!is_verb(text))
		return message_set(ret_error, -EINVAL, "'%s' is not get, list or watch", text);
	return take_name(at, text);
}

/* Take each item of a comma-separated list. */
static int
take_list(char *list, flag_take *take, struct gw_texts *texts, char **ret_error)
{
	char *item;
	int r = 0;

	while (r == 0 && (item = strsep(&list, ",")))
		r = take(texts, item, ret_error);
	return r;
}

static int
take_parameter(char *text, struct gw_rule *rule, char **ret_error)
{
	char *value = strchr(text, '=');

	if (value)
		*value++ = '\0';
	if (value && strcmp(text, "namespaces") == 0)
		return take_list(value, gw_take_namespace, &rule->namespaces, ret_error);
	if (value && strcmp(text, "verbs") == 0)
		return take_list(value, gw_take_verb, &rule->verbs, ret_error);
	return message_set(ret_error, -EINVAL, "'%s' is not namespaces=… or verbs=…", text);
}

static int
parse_rule(char *text, struct gw_rule *rule, char **ret_error)
{
	char *resources, *parameter;
	int r;

	if (*text == '/')
		return take_list(text, gw_take_path, &rule->paths, ret_error);
	resources = strsep(&text, "?");
	r = take_list(resources, gw_take_resource, &rule->resources, ret_error);
	while (r == 0 && (parameter = strsep(&text, "&")))
		r = take_parameter(parameter, rule, ret_error);
	return r;
}

int
gw_take_rule(void *at, const char *text, char **ret_error)
{
	_cleanup_(api_freep) char *copy = api_strndup(text, strlen(text));
	struct gw_rule rule = {0};
	int r = parse_rule(copy, &rule, ret_error);

	if (r == 0)
		gw_scope_add(at, &rule);
	else
		gw_rule_done(&rule);
	return r;
}
