/* SPDX-License-Identifier: Apache-2.0 */
/* Names of workloads, and the objects that belong to them. */
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"
#include "tools/informerctl/workload_name.h"

/* From a Pod: ReplicaSet, Deployment, Proxy, Mesh; the Mesh is not cached. */
static const struct kind_fixture kinds[] = {
	{.group = "apps",
	 .resource = "replicasets",
	 .kind = "ReplicaSet",
	 .objects = {OWNED("web-6d4", "apps/v1", "Deployment", "web", "")}},
	{.group = "apps",
	 .resource = "deployments",
	 .kind = "Deployment",
	 .objects = {OWNED("web", "example.org/v1", "Proxy", "front", "")}},
	{.group = "example.org",
	 .resource = "proxies",
	 .kind = "Proxy",
	 .objects = {OWNED("front", "example.org/v1", "Mesh", "all", "")}},
};
static const char *const pods[] = {
	OWNED("web-1", "apps/v1", "ReplicaSet", "web-6d4", ""),
	OWNED("hashed", "apps/v1", "ReplicaSet", "api-58c", ",\"labels\":{\"pod-template-hash\":\"58c\"}"),
	OWNED("db-0", "apps/v1", "StatefulSet", "db", ""),
	OWNED("night-1-x", "batch/v1", "Job", "night-1", ""),
	OWNED("argo-0", "argoproj.io/v1alpha1", "Rollout", "argo", ""),
	OBJECT("bare", ""),
	NULL,
};

static struct reader_world *
world_of_pods(void)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	broker_fixture_put(fx, pods);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kind_fixture_add(fx, &kinds[i]);
	broker_fixture_start(fx);
	w = reader_world_over(fx, "pods", INFORMER_VERIFY);
	reader_world_renew(w);
	return w;
}

SET_UP(set_up, world_of_pods())

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

static void
expect(struct reader_world *w, const char *pod, const char *text, int result)
{
	struct workload_name name;
	int r;

	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", pod, &w->pod), 0);
	if (!workload_name_parse(text, &name))
		fail_msg("%s is no name", text);
	workload_name_resolve(&name, w->inf, &w->snap, "n");
	r = workload_name_matches(&name, &w->pod);
	if (r != result)
		fail_msg("%s of %s: %d", pod, text, r);
}

/* texts: up to a NULL */
static void
expect_each(struct reader_world *w, const char *pod, const char *const *texts, int result)
{
	for (; *texts; texts++)
		expect(w, pod, *texts, result);
}

TEST(each_controller_above_a_pod_has_it)
{
	static const char *const names[] = {"rs/web-6d4", "deploy/web", "proxy/front", "mesh/all", NULL};

	expect_each(w, "web-1", names, 1);
	expect_each(w, "db-0", names, 0);
	expect(w, "web-1", "rs/web", 0);
	expect(w, "web-1", "deploy/web-6d4", 0);
	expect(w, "web-1", "deploy/we", 0);
	expect(w, "web-1", "other/other", 0);
}

TEST(a_kind_is_written_in_many_ways)
{
	static const char *const yes[] = {
		"deploy/web",    "deployment/web",      "deployments/web",           "Deployment/web",
		"DEPLOY/web",    "deployment.apps/web", "deployments.v1.apps/web",   "Deployment.v1.apps/web",
		"proxies/front", "Proxy/front",         "proxies.example.org/front", NULL
	};
	static const char *const no[] = {"deploymen/web", "deploymentss/web", "deployments.example.org/web",
					 "deployments.v1/web", "proxy.apps/front", NULL};

	expect_each(w, "web-1", yes, 1);
	expect_each(w, "web-1", no, 0);
}

/* Only the reference is known: it has the kind and the group. */
TEST(a_kind_that_is_not_cached_is_compared_by_its_words)
{
	static const char *const yes[] = {"sts/db",         "statefulset/db",       "StatefulSets/db",
					  "STATEFULSET/db", "statefulsets.apps/db", "statefulset.v1.Apps/db",
					  NULL};
	static const char *const no[] = {"statefulset.app/db",
					 "statefulset.v1/db",
					 "statefulset.batch/db",
					 "ss/db",
					 "stateful/db",
					 "sts/db-0",
					 "ds/db",
					 NULL};

	expect_each(w, "db-0", yes, 1);
	expect_each(w, "db-0", no, 0);
	expect(w, "argo-0", "rollouts/argo", 1);
	expect(w, "argo-0", "rollout.argoproj.io/argo", 1);
	expect(w, "night-1-x", "job/night-1", 1);
	expect(w, "night-1-x", "cj/night", 0);
}

TEST(a_deployment_is_found_by_the_hash_in_its_replicasets_name)
{
	expect(w, "hashed", "deploy/api", 1);
	expect(w, "hashed", "rs/api-58c", 1);
	expect(w, "hashed", "rollout/api", 0);
}

TEST(a_pod_without_a_controller_is_its_own_workload)
{
	expect(w, "bare", "pod/bare", 1);
	expect(w, "bare", "po.v1/bare", 1);
	expect(w, "bare", "pod/web-1", 0);
	expect(w, "web-1", "pod/web-1", 0);
}

TEST(the_cache_says_whether_it_has_the_workload)
{
	static const struct {
		const char *text, *ns;
		bool cached, lacking;
	} cases[] = {
		{"pod/bare", "n", true, false},   {"pod/none", "n", true, true},
		{"pod/bare", "else", true, true}, {"pod/none", NULL, true, false},
		{"sts/db", "n", false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload_name name;

		assert_true(workload_name_parse(cases[i].text, &name));
		workload_name_resolve(&name, w->inf, &w->snap, cases[i].ns);
		if (name.cached != cases[i].cached || name.lacking != cases[i].lacking)
			fail_msg("%s in %s: %d %d", cases[i].text, cases[i].ns ? cases[i].ns : "all",
				 name.cached, name.lacking);
	}
}

TEST(without_a_workload_every_object_matches)
{
	struct workload_name none = {0};

	workload_name_resolve(&none, w->inf, &w->snap, "n");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "bare", &w->pod), 0);
	assert_int_equal(workload_name_matches(&none, &w->pod), 1);
}

TEST_CASE(a_name_of_another_form_is_refused)
{
	static const char *const texts[] = {"",        "web",         "/",     "/web",
					    "deploy/", "deploy/web/", "a/b/c", ".apps/web"};
	struct workload_name name;
	char text[400];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (workload_name_parse(texts[i], &name))
			fail_msg("'%s' is taken", texts[i]);
	for (size_t length = 63; length <= 64; length++) {
		memset(text, 'k', length);
		strcpy(text + length, "/web");
		assert_int_equal(workload_name_parse(text, &name), length == 63);
	}
	memset(text, 'g', sizeof(text));
	memcpy(text, "kind.", 5);
	strcpy(text + 320, "/web");
	assert_false(workload_name_parse(text, &name));
	strcpy(text + 319, "/web");
	assert_true(workload_name_parse(text, &name));
}
