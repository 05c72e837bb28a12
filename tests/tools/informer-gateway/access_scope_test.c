/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests the rules of a listener's scope allow. */
#include "tests/room.h"
#include "tools/informer-gateway/config/access_scope.h"
#include "writer/base/message.h"

static bool
allows(const char *rule, const struct gw_attributes *attributes)
{
	struct gw_scope scope = {0};
	bool allowed;

	assert_int_equal(gw_take_rule(&scope, rule, NULL), 0);
	allowed = gw_scope_allows(&scope, attributes);
	gw_scope_done(&scope);
	return allowed;
}

static bool
allows_list(const char *rule, const char *group, const char *resource, const char *namespace_)
{
	return allows(rule,
		      &(struct gw_attributes){"list", group, "v1", resource, "", namespace_, "", "", "", ""});
}

/* A rule's name matches that resource in that group alone. */
TEST_CASE(a_name_matches_one_resource)
{
	assert_true(allows_list("pods", "", "pods", ""));
	assert_true(allows_list("services,pods", "", "pods", "web"));
	assert_false(allows_list("pods", "metrics.k8s.io", "pods", ""));
	assert_false(allows_list("pods", "", "podsecurity", ""));
	assert_false(allows_list("podsecurity", "", "pods", ""));
	assert_true(allows_list("deployments.apps", "apps", "deployments", ""));
	assert_false(allows_list("deployments.apps", "apps.example.com", "deployments", ""));
	assert_false(allows_list("deployments", "apps", "deployments", ""));
	assert_false(allows_list("deployments.apps.example.com", "apps", "deployments", ""));
}

/* A star covers all resources, or all of one group. It never covers core secrets: a rule must name them. */
TEST_CASE(a_star_does_not_cover_secrets)
{
	assert_true(allows_list("*", "", "pods", ""));
	assert_true(allows_list("*", "apps", "deployments", "web"));
	assert_true(allows_list("*.apps", "apps", "deployments", ""));
	assert_false(allows_list("*.apps", "", "pods", ""));
	assert_false(allows_list("*", "", "secrets", ""));
	assert_true(allows_list("*,secrets", "", "secrets", "web"));
	assert_true(allows_list("*", "example.com", "secrets", "")); /* secrets of another group */
}

/* A rule covers a subresource only if it names the subresource. */
TEST_CASE(subresources_must_be_named)
{
	struct gw_attributes status = {"get", "", "v1", "pods", "status", "web", "a", "", "", ""};

	assert_false(allows("pods", &status));
	assert_false(allows("*", &status));
	assert_true(allows("pods/status", &status));
	assert_false(allows("pods/log", &status));
	status.group = "apps";
	status.resource = "deployments";
	assert_true(allows("deployments.apps/status", &status));
	assert_false(allows("deployments.apps", &status));
}

/* A rule with namespaces allows neither a list over all namespaces nor a resource without namespaces. */
TEST_CASE(namespaces_limit_a_rule)
{
	assert_true(allows_list("pods?namespaces=web,db", "", "pods", "db"));
	assert_false(allows_list("pods?namespaces=web,db", "", "pods", "kube-system"));
	assert_false(allows_list("pods?namespaces=web", "", "pods", ""));
	assert_false(allows_list("nodes?namespaces=web", "", "nodes", ""));
}

/* A rule allows the verbs that it names, or all reads if it names none. */
TEST_CASE(verbs_limit_a_rule)
{
	struct gw_attributes a = {"watch", "", "v1", "pods", "", "web", "", "", "", ""};

	assert_true(allows("pods", &a));
	assert_false(allows("pods?verbs=get,list", &a));
	assert_true(allows("pods?namespaces=web&verbs=get,watch", &a));
	a.verb = "delete";
	assert_false(allows("pods", &a));
}

static bool
allows_path(const char *rule, const char *verb, const char *path)
{
	struct gw_attributes attributes = gw_attributes_of_path(path);

	attributes.verb = verb;
	return allows(rule, &attributes);
}

/* Discovery and health need no rule. Every other path needs its own, and paths of resources have none. */
TEST_CASE(paths_are_discovery_or_named)
{
	static const char *const open[] = {"/api",     "/api/",        "/api/v1",
					   "/apis",    "/apis/apps",   "/apis/apps/v1",
					   "/version", "/openapi/v2",  "/openapi/v3/apis/apps/v1",
					   "/livez",   "/readyz/ping", "/healthz"};
	static const char *const shut[] = {"/metrics",   "/api/v1/pods", "/apis/apps/v1/deployments",
					   "/",          "/logs/x",      "/apix",
					   "/version/x", "/debug/pprof", "/livezx"};

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		assert_true(allows_path("pods", "get", open[i]));
	for (size_t i = 0; i < sizeof(shut) / sizeof(*shut); i++)
		assert_false(allows_path("pods", "get", shut[i]));
	assert_true(allows_path("/metrics", "get", "/metrics"));
	assert_false(allows_path("*", "get", "/metrics"));
	assert_false(allows_path("/metrics", "post", "/metrics"));
}

TEST_CASE(an_invalid_rule_is_refused_with_a_message)
{
	static const char *const wrong[] = {"",
					    "Pods",
					    "pods,",
					    "pods?",
					    "pods?namespace=web",
					    "p*",
					    "pods?namespaces=",
					    "*.",
					    "pods?verbs=delete",
					    "pods/",
					    "a b",
					    "pods?namespaces=web&x",
					    "/metrics?x=y",
					    "pods?namespaces=*"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct gw_scope scope = {0};

		if (gw_take_rule(&scope, wrong[i], &error) == 0)
			fail_msg("'%s' is taken for a rule", wrong[i]);
		assert_non_null(error);
		assert_int_equal(scope.count, 0);
		gw_scope_done(&scope);
	}
}
