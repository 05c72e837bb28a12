/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors, and the indexes that every cache has: what stands beside a resource's content.
 */

#include "shm-layout/index_def.h"
#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "writer/resource/descriptor.h"

static char *shorts[] = { "po", NULL };
static struct kube_resource pods = {
	.group = "",
	.version = "v1",
	.resource = "pods",
	.kind = "Pod",
	.singular = "pod",
	.short_names = shorts,
	.n_short_names = 1,
	.namespaced = true,
};
static struct kube_resource nodes = {
	.group = "", .version = "v1", .resource = "nodes", .kind = "Node", .singular = "node"};
static struct kube_resource other_pods = {
	.group = "metrics.k8s.io",
	.version = "v1",
	.resource = "pods",
	.kind = "PodMetrics",
	.singular = "",
	.namespaced = true,
};

/* A pod's descriptor, whole: this text is the format that LAYOUT.md describes. */
TEST_CASE(a_descriptor_of_pods)
{
	char *users[] = { "metadata.annotations.users" };
	struct config_index by_user = {.name = "byUser",
				       .resource = "pods",
				       .paths = users,
				       .n_paths = 1,
				       .split = ",",
				       .origin = "--index"};
	const struct config_index *indexes[] = { &by_user };
	const char *drops[] = { "metadata.managedFields" };
	struct descriptor_source lister_watcher = {
		.resource = &pods,
		.label_selector = "app=w",
		.drops = drops,
		.drop_count = 1,
		.indexes = indexes,
		.index_count = 1,
	};
	char *json = NULL;

	assert_int_equal(descriptor_build(&lister_watcher, &json, NULL), 0);
	assert_string_equal(
		json, "{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\","
		      "\"singular\":\"pod\",\"shortNames\":[\"po\"],\"namespaced\":true,\"namespace\":\"\","
		      "\"labelSelector\":\"app=w\",\"fieldSelector\":\"\",\"metadataOnly\":false,"
		      "\"onDemand\":false,\"drops\":[\"metadata.managedFields\"],"
		      "\"indexes\":[{\"name\":\"namespace\",\"rules\":[{\"as\":\"namespace\"}]},"
		      "{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"},"
		      "{\"path\":\"metadata.annotations[\\\"kubernetes.io/config.mirror\\\"]\","
		      "\"as\":\"string\"}]},{\"name\":\"owner\",\"rules\":[{\"path\":\"metadata.ownerReferenc"
		      "es[*].uid\",\"as\":\"string\"}]},{\"name\":\"labels\","
		      "\"rules\":[{\"path\":\"metadata.labels\",\"as\":\"keyvalue\"}]},"
		      "{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]},"
		      "{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
		      "{\"name\":\"containerID\",\"rules\":[{\"path\":\"status.containerStatuses[*].container"
		      "ID\",\"as\":\"scheme\"},{\"path\":\"status.initContainerStatuses[*].containerID\","
		      "\"as\":\"scheme\"},{\"path\":\"status.ephemeralContainerStatuses[*].containerID\","
		      "\"as\":\"scheme\"}]},{\"name\":\"byUser\",\"rules\":[{\"path\":\"metadata.annotations."
		      "users\",\"as\":\"split\",\"separator\":\",\"}]}]}");
	free(json);
}

/* Only the core group's pods have a pod's indexes. */
TEST_CASE(only_pods_have_a_pods_indexes)
{
	const struct kube_resource *others[] = { &nodes, &other_pods };

	for (size_t i = 0; i < 2; i++) {
		struct descriptor_source lister_watcher = { .resource = others[i] };
		char *json = NULL;

		assert_int_equal(descriptor_build(&lister_watcher, &json, NULL), 0);
		assert_non_null(strstr(json, "\"owner\""));
		assert_null(strstr(json, "podIP"));
		assert_null(strstr(json, "config.mirror"));
		free(json);
	}
}

static void
refused(struct config_index index, const char *expected)
{
	const struct config_index *indexes[] = { &index };
	struct descriptor_source lister_watcher = { .resource = &pods, .indexes = indexes, .index_count = 1 };
	char *json = NULL, *error = NULL;

	index.resource = "pods";
	index.origin = "file:3:1";
	assert_int_equal(descriptor_build(&lister_watcher, &json, &error), -EINVAL);
	assert_null(json);
	assert_non_null(strstr(error, "file:3:1"));
	assert_non_null(strstr(error, expected));
	free(error);
}

/* What the arena could not hold is refused with place and reason. */
TEST_CASE(an_impossible_index_is_refused)
{
	char *good[] = {"a.b"};
	char *many[9] = {"a", "a", "a", "a", "a", "a", "a", "a", "a"};

	refused((struct config_index){.name = "uid", .paths = good, .n_paths = 1},
		"has an index named 'uid' already");
	refused((struct config_index){ .name = "x", .paths = many, .n_paths = 9 }, "1 to 8 paths");
	refused((struct config_index){.name = "x", .paths = good, .n_paths = 1, .split = "ab"},
		"one character");
}

/* Two declared indexes of one name are one too many. */
TEST_CASE(a_name_is_declared_once)
{
	char *paths[] = { "a.b" };
	struct config_index index = {
		.name = "x", .resource = "pods", .paths = paths, .n_paths = 1, .origin = "here"};
	const struct config_index *indexes[] = { &index, &index };
	struct descriptor_source lister_watcher = { .resource = &pods, .indexes = indexes, .index_count = 2 };
	char *json = NULL;

	assert_int_equal(descriptor_build(&lister_watcher, &json, NULL), -EINVAL);
}

/* Whether the one pod of a store has this value in an index of its descriptor; -1: there is no such index. */
static int
has(struct store_fixture *fx, const char *index, const char *value)
{
	const struct arena_view *view = &fx->arena->view;
	struct value document = value_of_block(view, store_resource(fx->store, fx->pods)->descriptor);
	struct value_iter it = value_iterate(
		value_field(document, "indexes", 7, shape_fingerprint("indexes", 7)));
	struct index_def def;
	const char *why;
	int r = -1;

	while (r < 0 && value_next(&it)) {
		assert_int_equal(index_def_read(&def, it.item, &why), 0);
		if (strcmp(def.name, index) == 0)
			r = index_def_has(&def,
					  value_of_object(view, store_by_ordinal(fx->store, fx->pods, 0)),
					  value, strlen(value));
		index_def_done(&def);
	}
	return r;
}

/* The built-in indexes find a pod by what agents know of it, mirror annotation and container IDs included. */
TEST_CASE(builtin_indexes_find_a_pod)
{
	static const char pod[] = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u-1\","
				  "\"labels\":{\"app\":\"web\"},\"annotations\":{\"kubernetes.io/config.mirro"
				  "r\":\"hash-of-file\"},\"ownerReferences\":[{\"uid\":\"o-1\"},"
				  "{\"uid\":\"o-2\"}]},\"spec\":{\"nodeName\":\"node-1\"},"
				  "\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"fd00::1\"}],"
				  "\"containerStatuses\":[{\"containerID\":\"containerd://c1\"}],"
				  "\"initContainerStatuses\":[{\"containerID\":\"cri-o://i1\"}],"
				  "\"ephemeralContainerStatuses\":[{\"containerID\":\"docker://e1\"}]}}";
	static const struct { const char *index, *value;
	} expected[] = {
		{"namespace", "ns"},  {"uid", "u-1"},        {"uid", "hash-of-file"}, {"owner", "o-1"},
		{"owner", "o-2"},     {"labels", "app=web"}, {"nodeName", "node-1"},  {"podIP", "10.0.0.1"},
		{"podIP", "fd00::1"}, {"containerID", "c1"}, {"containerID", "i1"},   {"containerID", "e1"},
	};

	static const uint8_t fingerprint[32] = "descriptor_test";
	struct store_fixture *fx = store_fixture_new(0);
	struct descriptor_source lister_watcher = { .resource = &pods };
	char *json = NULL;

	assert_int_equal(descriptor_build(&lister_watcher, &json, NULL), 0);
	assert_int_equal(store_add_resource(fx->store, json, fingerprint, &fx->pods), 0);
	assert_int_equal(store_fixture_put(fx, pod), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(has(fx, expected[i].index, expected[i].value), 1);
	assert_int_equal(has(fx, "containerID", "containerd://c1"), 0);
	assert_int_equal(has(fx, "byUser", "x"), -1);
	free(json);
	store_fixture_free(fx);
}

/* What an earlier life left serves an entry that names it, in any spelling, for the same namespace. */
TEST_CASE(a_descriptor_serves_the_entries_that_mean_it)
{
	static const struct {
		const char *name, *namespace_;
		bool serves;
	} cases[] = {
		{"pods", NULL, true},     {"po", NULL, true},         {"Pod", NULL, true},
		{"pods.v1.", NULL, true}, {"pods.apps", NULL, false}, {"nodes", NULL, false},
		{"pods", "a", false},
	};
	struct store_fixture *fx = store_fixture_new(0);
	struct value descriptor = value_of_block(&fx->arena->view,
						 store_resource(fx->store, fx->pods)->descriptor);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[16], ns[16];
		struct config_resource entry = {.resource = name};

		snprintf(name, sizeof(name), "%s", cases[i].name);
		if (cases[i].namespace_) {
			snprintf(ns, sizeof(ns), "%s", cases[i].namespace_);
			entry.namespace_ = ns;
		}
		assert_int_equal(descriptor_serves(descriptor, &entry), cases[i].serves);
	}
	store_fixture_free(fx);
}
