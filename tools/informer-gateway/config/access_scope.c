/* SPDX-License-Identifier: Apache-2.0 */
/* What a listener lets be asked; see access_scope.h. */
#include "tools/informer-gateway/config/access_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/api_path.h"
#include "tools/serving/buf.h"

/* ---- matching ---- */

static bool
is_secrets(const struct gw_attributes *a)
{
	return !*a->group && strcmp(a->resource, "secrets") == 0;
}

/* "deployments.apps/scale" of the attributes: does this name say just that? */
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

static unsigned
verb_of(const char *verb)
{
	return strcmp(verb, "get") == 0     ? GW_VERB_GET
	       : strcmp(verb, "list") == 0  ? GW_VERB_LIST
	       : strcmp(verb, "watch") == 0 ? GW_VERB_WATCH
					    : 0;
}

static bool
rule_allows(const struct gw_rule *rule, const struct gw_attributes *a)
{
	unsigned verbs = rule->verbs ? rule->verbs : GW_VERBS_ALL;

	if (!(verbs & verb_of(a->verb)))
		return false;
	if (*a->path)
		return gw_texts_have(&rule->paths, a->path);
	if (rule->namespaces.count > 0 &&
	    (!*a->namespace_ || !gw_texts_have(&rule->namespaces, a->namespace_)))
		return false;
	return rule_has_resource(rule, a);
}

/* Discovery and health. */
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

/* ---- owning ---- */

int
gw_scope_take(struct gw_scope *scope, struct gw_rule *rule)
{
	struct gw_rule *longer = reallocarray(scope->rules, scope->count + 1, sizeof(*longer));

	if (!longer) {
		gw_rule_done(rule);
		return -ENOMEM;
	}
	scope->rules = longer;
	scope->rules[scope->count++] = *rule;
	*rule = (struct gw_rule){0};
	return 0;
}

void
gw_rule_done(struct gw_rule *rule)
{
	gw_texts_done(&rule->resources);
	gw_texts_done(&rule->namespaces);
	gw_texts_done(&rule->paths);
	*rule = (struct gw_rule){0};
}

void
gw_scope_done(struct gw_scope *scope)
{
	for (size_t i = 0; i < scope->count; i++)
		gw_rule_done(&scope->rules[i]);
	free(scope->rules);
	*scope = (struct gw_scope){0};
}
