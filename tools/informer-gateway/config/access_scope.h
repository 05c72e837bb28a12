/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope: the configured list of requests that a listener allows. Without reviews the scope alone decides;
 * with SubjectAccessReviews it is an upper bound.
 *
 * A scope is a list of rules. A request is allowed if at least one rule matches.
 *
 *	pods  deployments.apps  pods/status   a resource; its group follows the first dot; a subresource
 *	*  *.apps                             all resources, or all of a group; no secrets, no subresources
 *
 * Secrets are matched only by a rule that names them. A rule with namespaces matches requests within those
 * namespaces: no cluster-wide resource, and no request for all namespaces. Discovery, /version, /openapi and
 * the three health paths need no rule. Other paths (/metrics) need a rule that names them.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_ACCESS_SCOPE_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_ACCESS_SCOPE_H

#include "tools/flags/flags.h"
#include "tools/informer-gateway/config/attributes.h"
#include "tools/informer-gateway/config/text_list.h"

struct gw_rule {
	struct gw_texts resources, paths;
	struct gw_texts namespaces; /* none: all, and cluster-wide resources */
	struct gw_texts verbs;      /* get, list, watch; none: all three */
};

struct gw_scope {
	struct gw_rule *rules;
	size_t count;
};

bool gw_scope_allows(const struct gw_scope *scope, const struct gw_attributes *attributes);

/* Whether a rule names this core resource itself, such as "secrets". */
bool gw_scope_names(const struct gw_scope *scope, const char *resource);

/* Append a rule; takes it over. */
void gw_scope_add(struct gw_scope *scope, struct gw_rule *rule);

/* Check a name and append it to a struct gw_texts. */
flag_take gw_take_resource, gw_take_namespace, gw_take_path, gw_take_verb;

/* Parse RESOURCE[,RESOURCE…][?namespaces=NS[,NS…]][&verbs=VERB[,VERB…]] or /PATH into a struct gw_scope. */
flag_take gw_take_rule;

void gw_rule_done(struct gw_rule *rule);
void gw_scope_done(struct gw_scope *scope);

#endif
