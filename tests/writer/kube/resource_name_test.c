/* SPDX-License-Identifier: Apache-2.0 */
/* Resource names, request paths, and the RBAC rule. */
#include "tests/room.h"
#include "writer/kube/rbac.h"
#include "writer/kube/resource_name.h"
#include "writer/base/message.h"

static char *short_names[] = {(char *)(uintptr_t)"deploy"};

static struct kube_resource
resource(const char *group, const char *version, const char *plural, const char *kind, const char *singular,
	 bool namespaced)
{
	return (struct kube_resource){.group = (char *)(uintptr_t)group,
				      .version = (char *)(uintptr_t)version,
				      .resource = (char *)(uintptr_t)plural,
				      .kind = (char *)(uintptr_t)kind,
				      .singular = (char *)(uintptr_t)singular,
				      .short_names = short_names,
				      .n_short_names = strcmp(plural, "deployments") == 0,
				      .namespaced = namespaced};
}

static bool
matches(const char *text, const struct kube_resource *r)
{
	struct resource_name name;
	bool result;

	assert_int_equal(resource_name_parse(text, &name, NULL), 0);
	result = resource_name_matches(&name, r);
	resource_name_done(&name);
	return result;
}

/*
 * Plural, singular, kind and short name mean the resource, in any case. A group with dots is told from a
 * version before it. A group may begin like a version.
 */
TEST_CASE(every_spelling_means_the_resource)
{
	const struct {
		struct kube_resource resource;
		const char *right[10], *wrong[7];
	} cases[] = {
		{resource("apps", "v1", "deployments", "Deployment", "deployment", true),
		 {"deployments", "deployment", "Deployment", "deploy", "DEPLOY", "deployments.apps",
		  "deploy.apps", "deployments.v1.apps", "Deployment.v1.apps"},
		 {"deploymen", "pods", "deployments.batch", "deployments.v2.apps", "deployments.v1.",
		  "deployments."}},
		{resource("example.com", "v1", "widgets", "Widget", "widget", true),
		 {"widgets.v1.example.com", "widgets.example.com"},
		 {"widgets.v2.example.com"}},
		{resource("v1.example.com", "v2", "widgets", "Widget", "widget", true),
		 {"widgets.v1.example.com", "widgets.v2.v1.example.com"},
		 {NULL}},
		{resource("", "v1", "pods", "Pod", "pod", true),
		 {"pods.v1.", "pods.v1", "pods."},
		 {"pods.v2."}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (const char *const *name = cases[i].right; *name; name++)
			if (!matches(*name, &cases[i].resource))
				fail_msg("%s does not match", *name);
		for (const char *const *name = cases[i].wrong; *name; name++)
			if (matches(*name, &cases[i].resource))
				fail_msg("%s matches", *name);
	}
}

/* Names that could change a request path are refused. */
TEST_CASE(impossible_names_are_refused)
{
	static const char *const wrong[] = {"",       "pods/log", "../secrets", "a b",
					    "pods?x", ".apps",    "a..b",       "pods%2f"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct resource_name name;

		assert_int_equal(resource_name_parse(wrong[i], &name, &error), -EINVAL);
		assert_non_null(strstr(error, "deployments.apps"));
	}
}

TEST_CASE(versions_are_recognised)
{
	static const char *const right[] = {"v1", "v2", "v12", "v1alpha1", "v2beta3"};
	static const char *const wrong[] = {"v",       "v0",      "1",    "vx", "v1gamma1",
					    "v1alpha", "v1beta0", "apps", "v1x"};

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		assert_true(resource_name_is_version(right[i]));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(resource_name_is_version(wrong[i]));
}

static void
assert_path(const struct kube_resource *r, const char *namespace_, const char *expected)
{
	char *path = kube_resource_path(r, namespace_);

	assert_string_equal(path, expected);
	free(path);
}

/* Core is under /api, groups are under /apis. A namespace is a part of the path. */
TEST_CASE(paths_follow_group_and_namespace)
{
	struct kube_resource pods = resource("", "v1", "pods", "Pod", "pod", true);
	struct kube_resource nodes = resource("", "v1", "nodes", "Node", "node", false);
	struct kube_resource deployments = resource("apps", "v1", "deployments", "Deployment", "deployment",
						    true);

	assert_path(&pods, NULL, "/api/v1/pods");
	assert_path(&pods, "", "/api/v1/pods");
	assert_path(&pods, "web", "/api/v1/namespaces/web/pods");
	assert_path(&pods, "../x", "/api/v1/namespaces/..%2Fx/pods");
	assert_path(&nodes, "web", "/api/v1/nodes");
	assert_path(&deployments, NULL, "/apis/apps/v1/deployments");
	assert_path(&deployments, "web", "/apis/apps/v1/namespaces/web/deployments");
}

/* A copy is deep. Its group name is the short unambiguous one. */
TEST_CASE(a_copy_is_deep)
{
	struct kube_resource r = resource("apps", "v1", "deployments", "Deployment", "deployment", true),
			     copy;
	char *name;

	assert_int_equal(kube_resource_copy(&r, &copy), 0);
	assert_string_equal(copy.short_names[0], "deploy");
	assert_ptr_not_equal(copy.group, r.group);
	name = kube_resource_group_name(&copy);
	assert_string_equal(name, "deployments.apps");
	free(name);
	kube_resource_done(&copy);
}

/* The missing rule is one line of YAML, for a role of the right kind. */
TEST_CASE(the_rbac_rule_can_be_pasted)
{
	struct kube_resource r = resource("apps", "v1", "deployments", "Deployment", "deployment", true);
	char *all = rbac_hint(&r, NULL), *one = rbac_hint(&r, "web");

	assert_string_equal(all, "add to informerd's ClusterRole: {apiGroups: [\"apps\"], resources: "
				 "[\"deployments\"], verbs: [\"list\", \"watch\"]}");
	assert_non_null(strstr(one, "Role in namespace web: {"));
	free(all);
	free(one);
}
