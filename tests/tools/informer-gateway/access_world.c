/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tools/informer-gateway/access_world.h"

static const struct review_token tokens[] = {
	{"t-admin", "admin", "ops", NULL},
	{"t-viewer", "viewer", NULL, NULL},
	{"t-monitor", "monitor", NULL, NULL},
	{"t-node", "system:node:n1", "system:nodes", NULL},
	{"t-agent", "system:serviceaccount:kube-system:agent", NULL, "informer-gateway"},
	{"t-other", "somebody", NULL, "vault"},
	{0},
};

static const struct review_grant grants[] = {
	{"ops", NULL, NULL, NULL, NULL, NULL, NULL, NULL},
	{"viewer", NULL, "", "pods", "web", NULL, NULL, NULL},
	{"viewer", "get", "", "namespaces", "web", "web", NULL, NULL},
	{"viewer", "list", "apps", "deployments", NULL, NULL, NULL, NULL},
	{"system:nodes", NULL, "", "pods", "", NULL, "spec.nodeName=n1", NULL},
	{"system:authenticated", "get", NULL, NULL, NULL, NULL, NULL, "/api"},
	{"system:serviceaccount:kube-system:agent", "get", "", "pods", NULL, NULL, NULL, NULL},
	{"viewer", "get", "", "nodes/pods", "", "n1", NULL, NULL},
	{"monitor", "get", "", "nodes/proxy", "", "n1", NULL, NULL},
	{0},
};

static uint64_t
wall_s(void)
{
	return 1700000000;
}

void
access_world_open(struct access_world *w)
{
	struct gw_access_options options;

	*w = (struct access_world){.server = {.tokens = tokens, .grants = grants}};
	virtual_clock_init(&w->clock);
	gw_config_init(&w->listeners);
	w->config = w->listeners.access;
	options = (struct gw_access_options){&w->config, review_server_way(&w->server), &w->clock.clock,
					     wall_s};
	w->access = gw_access_new(&options);
	gw_config_init(&w->of_tokens);
	w->tokens = gw_config_add_listener(&w->of_tokens);
	w->tokens->profile = GW_PROFILE_TOKENS;
}

static void
forget(struct access_world *w)
{
	gw_identity_unref(w->got.identity);
	free(w->reason);
	w->got = (struct gw_decision){0};
	w->reason = NULL;
}

void
access_world_close(struct access_world *w)
{
	forget(w);
	gw_access_free(w->access);
	review_server_done(&w->server);
	gw_config_done(&w->listeners);
	gw_config_done(&w->of_tokens);
}

int
access_world_set_up(void **state)
{
	static struct access_world w;

	access_world_open(&w);
	*state = &w;
	return 0;
}

FIXTURE_TEAR_DOWN(access_world_tear_down, access_world_close)

struct gw_listener_config *
access_world_listener(struct access_world *w, enum gw_profile profile, const char *rule)
{
	struct gw_listener_config *l = gw_config_add_listener(&w->listeners);

	l->profile = profile;
	if (rule)
		assert_int_equal(gw_take_rule(&l->scope, rule, NULL), 0);
	return l;
}

void
access_world_decided(void *ctx, const struct gw_decision *decision)
{
	struct access_world *w = ctx;

	forget(w);
	w->got = *decision;
	w->reason = strdup(decision->reason);
	if (decision->identity)
		gw_identity_ref(decision->identity);
	w->decisions++;
}

struct gw_check *
access_world_begin(struct access_world *w, const struct gw_listener_config *l, const char *authorization,
		   const struct gw_attributes *attributes)
{
	struct gw_question question = {
		.listener = l, .attributes = attributes, .authorization = authorization, .client = w->client};

	return gw_access_ask(w->access, &question, access_world_decided, w);
}

enum gw_outcome
access_world_ask(struct access_world *w, const struct gw_listener_config *l, const char *authorization,
		 const struct gw_attributes *attributes)
{
	unsigned before = w->decisions;

	(void)access_world_begin(w, l, authorization, attributes);
	review_server_answer(&w->server);
	assert_int_equal(w->decisions, before + 1);
	return w->got.outcome;
}

struct gw_attributes
access_world_pods(const char *verb, const char *namespace_, const char *name)
{
	return (struct gw_attributes){verb, "", "v1", "pods", "", namespace_, name, "", "", ""};
}
