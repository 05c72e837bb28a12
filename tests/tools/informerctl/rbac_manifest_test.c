/* SPDX-License-Identifier: Apache-2.0 */
/* The RBAC objects for a report of informerd. */
#include <errno.h>

#include "tests/room.h"
#include "tools/informerctl/rbac_manifest.h"

#define RESOURCE(group, name, rest) "{\"group\":\"" group "\",\"resource\":\"" name "\"" rest "}"
#define IN(namespace_) ",\"namespace\":\"" namespace_ "\""

static const struct rbac_account plain = {.name = "informerd", .namespace_ = "agents"};

static int
write_all(const char *resources, const struct rbac_account *account, struct text *out)
{
	char report[2048];
	cJSON *tree;
	int r;

	snprintf(report, sizeof(report), "{\"resources\":[%s]}", resources);
	tree = cJSON_Parse(report);
	assert_non_null(tree);
	*out = (struct text)TEXT_INIT(-1);
	r = rbac_manifest_write(tree, account, out);
	cJSON_Delete(tree);
	assert_int_equal(out->error, 0);
	text_addc(out, '\0');
	return r;
}

static void
expect(const char *resources, const struct rbac_account *account, const char *manifest)
{
	struct text out;

	assert_int_equal(write_all(resources, account, &out), 0);
	assert_string_equal(out.data, manifest);
	text_done(&out);
}

static void
expect_part(const char *resources, int result, const char *part)
{
	struct text out;

	assert_int_equal(write_all(resources, &plain, &out), result);
	if (!strstr(out.data, part))
		fail_msg("'%s' is not in:\n%s", part, out.data);
	text_done(&out);
}

#define HEAD "# What informerd needs to list and watch what it caches.\n"
#define ACCOUNT                                                                                              \
	"---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: informerd\n  namespace: agents\n"
#define KUBE_SYSTEM                                                                                          \
	"- apiGroups:\n  - \"\"\n  resourceNames:\n  - kube-system\n  resources:\n  - namespaces\n"          \
	"  verbs:\n  - get\n"
#define RULE(group, resources)                                                                               \
	"- apiGroups:\n  - " group "\n  resources:\n" resources "  verbs:\n  - list\n  - watch\n"
#define ROLE(kind, where)                                                                                    \
	"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " kind "\nmetadata:\n  name: "                 \
								     "informerd\n" where
#define REF(kind, name)                                                                                      \
	"roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: " kind "\n  name: " name "\n"              \
	"subjects:\n- kind: ServiceAccount\n  name: informerd\n  namespace: agents\n"

TEST_CASE(resources_in_all_namespaces_are_granted_by_a_sorted_rule_for_each_group)
{
	expect(RESOURCE("", "services", "") "," RESOURCE("apps", "deployments", "") "," RESOURCE(
		       "", "pods", IN("")) "," RESOURCE("", "services", ""),
	       &plain,
	       HEAD ACCOUNT ROLE("ClusterRole", "") "rules:\n" RULE("\"\"", "  - pods\n  - services\n")
		       RULE("apps", "  - deployments\n") KUBE_SYSTEM ROLE("ClusterRoleBinding", "")
			       REF("ClusterRole", "informerd"));
}

TEST_CASE(a_resource_of_some_namespaces_is_granted_by_a_role_in_each)
{
	expect(RESOURCE("", "pods", IN("web")) "," RESOURCE("", "pods", IN("db")), &plain,
	       HEAD ACCOUNT ROLE("ClusterRole", "") "rules:\n" KUBE_SYSTEM ROLE("ClusterRoleBinding", "")
		       REF("ClusterRole", "informerd") ROLE("Role", "  namespace: db\n") "rules:\n" RULE(
			       "\"\"", "  - pods\n") ROLE("RoleBinding", "  namespace: db\n") REF("Role",
												  "informerd")
			       ROLE("Role", "  namespace: web\n") "rules:\n" RULE("\"\"", "  - pods\n")
				       ROLE("RoleBinding", "  namespace: web\n") REF("Role", "informerd"));
}

TEST_CASE(a_namespace_is_made_and_the_gateway_may_ask_for_reviews_on_demand)
{
	const struct rbac_account account = {
		.name = "informerd", .namespace_ = "agents", .create_namespace = true, .gateway = true};

	expect(RESOURCE("", "pods", ""), &account,
	       HEAD "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: agents\n" ACCOUNT ROLE(
		       "ClusterRole",
		       "") "rules:\n" RULE("\"\"", "  - pods\n") KUBE_SYSTEM ROLE("ClusterRoleBinding", "")
		       REF("ClusterRole", "informerd") "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: "
						       "ClusterRoleBinding\n"
						       "metadata:\n  name: informerd-auth-delegator\n" REF(
							       "ClusterRole", "system:auth-delegator"));
}

TEST_CASE(a_comment_says_that_selectors_do_not_narrow)
{
	expect_part(RESOURCE("", "pods", ",\"fieldSelector\":\"spec.nodeName=a\"") "," RESOURCE(
			    "", "nodes", ",\"labelSelector\":\"a=b\"") "," RESOURCE("", "services", ""),
		    0,
		    "\n# RBAC does not narrow by selectors; all objects are granted of: pods, nodes\n---\n");
}

TEST_CASE(a_resource_that_is_not_resolved_is_counted_and_has_no_rule)
{
	expect_part("{\"resource\":\"widgets\"}," RESOURCE("", "pods", ""), 1,
		    "\n# Without a rule, as their API group is not known yet: widgets\n---\n");
	expect_part("{\"resource\":\"widgets\"}", 1, "rules:\n" KUBE_SYSTEM);
}

TEST_CASE(a_name_of_the_report_is_a_text_in_the_manifest_and_in_its_comments)
{
	expect_part("{\"resource\":\"a\\nkind: Secret\"}", 1, "known yet: a?kind: Secret\n---\n");
	expect_part(RESOURCE("", "true", ""), 0, "  - \"true\"\n");
	expect_part(RESOURCE("", "a\\n- secrets", ""), 0, "  - |-\n    a\n    - secrets\n");
}

TEST_CASE(a_report_without_resources_is_refused)
{
	static const char *const reports[] = {
		"{}", "[]", "1", "{\"resources\":[]}", "{\"resources\":{}}", "{\"resources\":null}"};
	struct text out = TEXT_INIT(-1);

	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
		cJSON *tree = cJSON_Parse(reports[i]);

		assert_non_null(tree);
		assert_int_equal(rbac_manifest_write(tree, &plain, &out), -EINVAL);
		cJSON_Delete(tree);
	}
	assert_int_equal(rbac_manifest_write(NULL, &plain, &out), -EINVAL);
	assert_int_equal(out.length, 0);
	text_done(&out);
}

TEST_CASE(any_json_is_taken)
{
	expect_part("1,null,{\"group\":1,\"resource\":[],\"namespace\":{}}", 2, "kind: ClusterRole\n");
}
