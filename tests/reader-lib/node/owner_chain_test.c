/* SPDX-License-Identifier: Apache-2.0 */
/* From a Pod up to its workload. */
#include "reader-lib/informer-node.h"
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"

#define LABEL(key, value) ",\"labels\":{\"" key "\":\"" value "\"}"

static const struct kind_fixture kinds[] = {
	{.group = "apps",
	 .resource = "replicasets",
	 .kind = "ReplicaSet",
	 .objects = {OWNED("web-6d4", "apps/v1", "Deployment", "web", ""),
		     OWNED("shop-77", "argoproj.io/v1alpha1", "Rollout", "shop", ""), OBJECT("reused", "")}},
	{.group = "apps", .resource = "deployments", .kind = "Deployment", .objects = {OBJECT("web", "")}},
	{.group = "argoproj.io", .resource = "rollouts", .kind = "Rollout", .objects = {OBJECT("shop", "")}},
	{.group = "batch",
	 .resource = "jobs",
	 .kind = "Job",
	 .objects = {OWNED("night-2", "batch/v1", "CronJob", "night", "")}},
	{.group = "batch", .resource = "cronjobs", .kind = "CronJob", .objects = {OBJECT("night", "")}},
	{.group = "example.org",
	 .resource = "rings",
	 .kind = "Ring",
	 .objects = {OWNED("a", "example.org/v1", "Ring", "b", ""),
		     OWNED("b", "example.org/v1", "Ring", "a", "")}},
	{.group = "", .resource = "pods", .kind = "Pod"},
};

SET_UP(set_up, kind_fixture_world(kinds, sizeof(kinds) / sizeof(kinds[0])))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

static const char *
said(const struct informer_object *object)
{
	struct informer_workload l = {.size = sizeof(l)};
	static char text[512];

	assert_int_equal(informer_workload(object, &l), 0);
	assert_int_equal(l.size, sizeof(l));
	snprintf(text, sizeof(text), "%.*s%s%.*s %.*s/%.*s %.*s%s%s", (int)l.group.length, l.group.data,
		 l.group.length ? "/" : "", (int)l.kind.length, l.kind.data, (int)l.ns.length, l.ns.data,
		 (int)l.name.length, l.name.data, (int)l.uid.length, l.uid.data,
		 l.cached ? "" : " not cached", l.from_names ? " from names" : "");
	assert_int_equal(informer_object_seq(&l.object) != 0, l.cached);
	return text;
}

/* Put this Pod, and say its workload. */
static const char *
workload_of(struct reader_world *w, const char *json, const char *name)
{
	struct informer_object pod;

	broker_fixture_put(w->fx, (const char *const[]){json, NULL});
	reader_world_renew(w);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", name, &pod), 0);
	return said(&pod);
}

TEST(a_pod_leads_to_its_topmost_controller)
{
	assert_string_equal(workload_of(w, OWNED("p", "apps/v1", "ReplicaSet", "web-6d4", ""), "p"),
			    "apps/Deployment n/web u-web");
	assert_string_equal(workload_of(w, OWNED("p", "batch/v1", "Job", "night-2", ""), "p"),
			    "batch/CronJob n/night u-night");
	assert_string_equal(workload_of(w, OWNED("p", "apps/v1", "ReplicaSet", "shop-77", ""), "p"),
			    "argoproj.io/Rollout n/shop u-shop");
}

/* Versions of a group are one kind: a reference may be of another version than the cache. */
TEST(another_version_of_the_kind_is_the_same)
{
	assert_string_equal(workload_of(w, OWNED("p", "apps/v1beta2", "ReplicaSet", "web-6d4", ""), "p"),
			    "apps/Deployment n/web u-web");
	assert_string_equal(
		workload_of(w, OWNED("p", "extensions/v1beta1", "ReplicaSet", "web-6d4", ""), "p"),
		"extensions/ReplicaSet n/web-6d4 u-web-6d4 not cached");
}

TEST(a_pod_without_a_controller_is_its_own_workload)
{
	assert_string_equal(workload_of(w, OBJECT("p", ""), "p"), "Pod n/p u-p");
	assert_string_equal(workload_of(w, OWNED("static", "v1", "Node", "n1", ""), "static"),
			    "Pod n/static u-static");
}

/* Where a kind is, or that it is not cached, is remembered until the cached resources change. */
TEST(a_kind_that_is_cached_later_is_found)
{
	static const struct kind_fixture sets = {.group = "apps",
						 .resource = "statefulsets",
						 .kind = "StatefulSet",
						 .objects = {OBJECT("db", "")}};
	struct informer_object pod;

	assert_string_equal(workload_of(w, OWNED("p", "apps/v1", "StatefulSet", "db", ""), "p"),
			    "apps/StatefulSet n/db u-db not cached");
	kind_fixture_add(w->fx, &sets);
	reader_world_renew(w);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "p", &pod), 0);
	assert_string_equal(said(&pod), "apps/StatefulSet n/db u-db");
}

TEST(a_controller_that_is_not_cached_is_said)
{
	assert_string_equal(workload_of(w, OWNED("p", "apps/v1", "StatefulSet", "db", ""), "p"),
			    "apps/StatefulSet n/db u-db not cached");
	assert_string_equal(workload_of(w, OWNED("p", "batch/v1", "Job", "night-1", ""), "p"),
			    "batch/Job n/night-1 u-night-1 not cached");
}

/* Another object has the controller's name now: the controller is gone. */
TEST(another_object_of_the_name_is_not_the_controller)
{
	static const char pod[] = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"ownerReferences\":[{"
				  "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"reused\","
				  "\"uid\":\"u-before\",\"controller\":true}]}}";

	assert_string_equal(workload_of(w, pod, "p"), "apps/ReplicaSet n/reused u-before not cached");
}

TEST(a_deployment_is_known_by_the_hash_in_its_replicasets_name)
{
	assert_string_equal(workload_of(w,
					OWNED("p", "apps/v1", "ReplicaSet", "api-v2-58c",
					      LABEL("pod-template-hash", "58c")),
					"p"),
			    "apps/Deployment n/api-v2  not cached from names");
	assert_string_equal(workload_of(w,
					OWNED("p", "apps/v1", "ReplicaSet", "api-58c",
					      LABEL("rollouts-pod-template-hash", "58c")),
					"p"),
			    "argoproj.io/Rollout n/api  not cached from names");
}

TEST(a_name_without_the_hash_is_not_cut)
{
	static const char *const hashes[] = {"59c", "i-58c", "api-58c", "-58c", "pi-58c", ""};

	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		char pod[1024];

		snprintf(pod, sizeof(pod),
			 OWNED("p", "apps/v1", "ReplicaSet", "api-58c", LABEL("pod-template-hash", "%s")),
			 hashes[i]);
		assert_string_equal(workload_of(w, pod, "p"),
				    "apps/ReplicaSet n/api-58c u-api-58c not cached");
	}
}

TEST(controllers_in_a_circle_come_to_an_end)
{
	workload_of(w, OWNED("p", "example.org/v1", "Ring", "a", ""), "p");
}

/* The UID of an object's controller, or the error's name. */
static const char *
controller(const struct informer_object *object)
{
	struct informer_object found;
	static char text[64];
	const char *data;
	size_t length;
	int r = informer_controller_of(object, &found);

	if (r < 0)
		return informer_error_name(r);
	assert_int_equal(informer_object_uid(&found, &data, &length), 0);
	snprintf(text, sizeof(text), "%.*s", (int)length, data);
	return text;
}

TEST(a_controller_is_found_step_by_step)
{
	struct informer_object at;

	workload_of(w, OWNED("p", "apps/v1", "ReplicaSet", "web-6d4", ""), "p");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "p", &at), 0);
	assert_string_equal(controller(&at), "u-web-6d4");
	assert_int_equal(informer_controller_of(&at, &at), 0);
	assert_string_equal(controller(&at), "u-web");
	assert_int_equal(informer_controller_of(&at, &at), 0);
	assert_string_equal(controller(&at), "INFORMER_E_NOT_FOUND");
}

TEST(a_controller_that_is_not_cached_is_not_found)
{
	struct informer_object pod;

	workload_of(w, OWNED("p", "apps/v1", "StatefulSet", "db", ""), "p");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "p", &pod), 0);
	assert_string_equal(controller(&pod), "INFORMER_E_NO_RESOURCE");
	workload_of(w, OWNED("q", "batch/v1", "Job", "night-1", ""), "q");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "q", &pod), 0);
	assert_string_equal(controller(&pod), "INFORMER_E_NOT_FOUND");
}

/* A copy has no snapshot: its controller is known by the reference. */
TEST(a_copy_has_its_own_reference_alone)
{
	struct informer_object copy;

	workload_of(w, OWNED("p", "apps/v1", "ReplicaSet", "web-6d4", ""), "p");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "p", &w->pod), 0);
	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	assert_string_equal(said(&copy), "apps/ReplicaSet n/web-6d4 u-web-6d4 not cached");
	assert_string_equal(controller(&copy), "INFORMER_E_NO_RESOURCE");
	informer_object_free(&copy);
}

TEST(a_wrong_call_is_refused)
{
	struct informer_workload l = {.size = 0};

	workload_of(w, OBJECT("p", ""), "p");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "p", &w->pod), 0);
	assert_int_equal(informer_workload(&w->pod, &l), -EINVAL);
	assert_int_equal(informer_workload(&w->pod, NULL), -EINVAL);
	assert_int_equal(informer_workload(NULL, &l), -EINVAL);
	assert_int_equal(informer_controller_of(&w->pod, NULL), -EINVAL);
	assert_int_equal(informer_controller_of(NULL, &w->pod), -EINVAL);
}
