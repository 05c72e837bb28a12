/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors, and the indexes that every cache has. */

#include "shm-layout/index_def.h"
#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "writer/resource/descriptor.h"

static char *shorts[] = {"po", NULL};
static struct kube_resource pods = {.group = "",
				    .version = "v1",
				    .resource = "pods",
				    .kind = "Pod",
				    .singular = "pod",
				    .short_names = shorts,
				    .n_short_names = 1,
				    .namespaced = true},
			    nodes = {.group = "",
				     .version = "v1",
				     .resource = "nodes",
				     .kind = "Node",
				     .singular = "node"},
			    other_pods = {.group = "metrics.k8s.io",
					  .version = "v1",
					  .resource = "pods",
					  .kind = "PodMetrics",
					  .singular = "",
					  .namespaced = true};

/* The whole text of a pod's descriptor: LAYOUT.md describes this format. */
TEST_CASE(a_descriptor_of_pods)
{
	char *users[] = { "metadata.annotations.users" }, *images[] = { "spec.containers[*].image" };
	struct config_index by_user = {.name = "byUser",
				       .resource = "pods",
				       .paths = users,
				       .n_paths = 1,
				       .split = ",",
				       .origin = "--index"};
	struct config_index image = {.name = "image",
				     .resource = "pods",
				     .paths = images,
				     .n_paths = 1,
				     .prefix = 8,
				     .origin = "--index"};
	const struct config_index *indexes[] = { &by_user, &image };
	const char *drops[] = { "metadata.managedFields" };
	struct descriptor_source lister_watcher = {
		.resource = &pods,
		.label_selector = "app=w",
		.drops = drops,
		.drop_count = 1,
		.indexes = indexes,
		.index_count = 2,
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
		      "{\"name\":\"containerID\",\"prefix\":12,\"rules\":[{\"path\":"
		      "\"status.containerStatuses[*].containerID\",\"as\":\"scheme\"},"
		      "{\"path\":\"status.initContainerStatuses[*].containerID\","
		      "\"as\":\"scheme\"},{\"path\":\"status.ephemeralContainerStatuses[*].containerID\","
		      "\"as\":\"scheme\"}]},{\"name\":\"byUser\",\"rules\":[{\"path\":\"metadata.annotations."
		      "users\",\"as\":\"split\",\"separator\":\",\"}]},{\"name\":\"image\",\"prefix\":8,"
		      "\"rules\":[{\"path\":\"spec.containers[*].image\",\"as\":\"string\"}]}]}");
	free(json);
}

/* Only pods of the core group have the built-in indexes of pods. */
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

/* An index that the arena cannot hold is refused with place and reason. So is a second index of one name. */
TEST_CASE(an_impossible_index_is_refused)
{
	char *paths[] = {"a", "a", "a", "a", "a", "a", "a", "a", "a"};
	static const struct {
		char *name, *split;
		size_t n_paths, count;
		const char *why;
	} cases[] = {
		{"uid", NULL, 1, 1, "has an index named 'uid' already"},
		{"x", NULL, 9, 1, "1 to 8 paths"},
		{"x", "ab", 1, 1, "one character"},
		{"x", NULL, 1, 2, "has an index named 'x' already"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config_index index = {.name = cases[i].name,
					     .resource = "pods",
					     .paths = paths,
					     .n_paths = cases[i].n_paths,
					     .split = cases[i].split,
					     .origin = "file:3:1"};
		const struct config_index *indexes[] = {&index, &index};
		struct descriptor_source source = {
			.resource = &pods, .indexes = indexes, .index_count = cases[i].count};
		char *json = NULL, *error = NULL;

		assert_int_equal(descriptor_build(&source, &json, &error), -EINVAL);
		assert_null(json);
		assert_non_null(strstr(error, "file:3:1"));
		assert_non_null(strstr(error, cases[i].why));
		free(error);
	}
}

/* 1 if the one pod of a store has this value in the descriptor's index, else 0; -1: no such index. */
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

/* The built-in indexes find a pod by mirror annotation and container IDs, too. */
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

/* A descriptor of an earlier writer serves an entry of the same resource and namespace, in any spelling. */
TEST_CASE(a_descriptor_serves_entries_of_its_resource)
{
	static const struct {
		char *name, *namespace_;
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
		struct config_resource entry = {.resource = cases[i].name, .namespace_ = cases[i].namespace_};

		assert_int_equal(descriptor_serves(descriptor, &entry), cases[i].serves);
	}
	store_fixture_free(fx);
}
