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

#include "tools/informer-gateway/config/attributes.h"
#include "tools/informer-gateway/config/text_list.h"

enum gw_verbs { GW_VERB_GET = 1, GW_VERB_LIST = 2, GW_VERB_WATCH = 4, GW_VERBS_ALL = 7 };

struct gw_rule {
	struct gw_texts resources, namespaces, paths; /* no namespaces: all of them, and the cluster's own */
	unsigned verbs;                               /* enum gw_verbs; 0: all */
};

struct gw_scope {
	struct gw_rule *rules;
	size_t count;
};

bool gw_scope_allows(const struct gw_scope *scope, const struct gw_attributes *attributes);

/* Does a rule name this resource of the core group itself? As "secrets". */
bool gw_scope_names(const struct gw_scope *scope, const char *resource);

/* Append a rule, which is taken over. Returns 0; -ENOMEM, and it is freed. */
int gw_scope_take(struct gw_scope *scope, struct gw_rule *rule);

/*
 * Check one name of a rule. Each returns 0, or -EINVAL with a message that begins with what was wrong. A verb
 * is added to *verbs.
 */
int gw_scope_check_resource(const char *text, char **ret_error);
int gw_scope_check_namespace(const char *text, char **ret_error);
int gw_scope_check_path(const char *text, char **ret_error);
int gw_scope_parse_verb(const char *text, unsigned *verbs, char **ret_error);

/* RESOURCE[,RESOURCE…][?namespaces=NS[,NS…]][&verbs=VERB[,VERB…]], or /PATH: a rule, appended. */
int gw_scope_parse_rule(const char *text, struct gw_scope *scope, char **ret_error);

void gw_rule_done(struct gw_rule *rule);
void gw_scope_done(struct gw_scope *scope);

#endif
