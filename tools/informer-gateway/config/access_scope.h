/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope: what a listener lets be asked at all, written in the configuration. Where nobody else decides it is
 * the whole answer; beside SubjectAccessReviews it is an upper bound.
 *
 * A scope is a list of rules; a request is within it when one rule has it. What no rule names is refused.
 *
 *	pods  deployments.apps  pods/status   a resource, its group behind the first dot, a subresource
 *	*  *.apps                             all of them, or of a group; never secrets, nor subresources
 *
 * Secrets are within a rule that names them, and no other. A rule with namespaces has what is asked within
 * one of these: neither "all namespaces" nor what has no namespace. Discovery, /version, /openapi and the
 * three of health need no rule; other paths (/metrics) are named by one.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_ACCESS_SCOPE_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_ACCESS_SCOPE_H

#include "tools/flags/flags.h"
#include "tools/informer-gateway/config/attributes.h"
#include "tools/informer-gateway/config/text_list.h"

struct gw_rule {
	struct gw_texts resources, paths;
	struct gw_texts namespaces; /* none: all of them, and the cluster's own */
	struct gw_texts verbs;      /* of get, list, watch; none: all */
};

struct gw_scope {
	struct gw_rule *rules;
	size_t count;
};

bool gw_scope_allows(const struct gw_scope *scope, const struct gw_attributes *attributes);

/* Does a rule name this resource of the core group itself? As "secrets". */
bool gw_scope_names(const struct gw_scope *scope, const char *resource);

/* Append a rule, which is taken over. */
void gw_scope_add(struct gw_scope *scope, struct gw_rule *rule);

/* Check one name of a rule, and append it to a struct gw_texts. */
flag_take gw_take_resource, gw_take_namespace, gw_take_path, gw_take_verb;

/* RESOURCE[,RESOURCE…][?namespaces=NS[,NS…]][&verbs=VERB[,VERB…]], or /PATH: for a struct gw_scope. */
flag_take gw_take_rule;

void gw_rule_done(struct gw_rule *rule);
void gw_scope_done(struct gw_scope *scope);

#endif
