/* SPDX-License-Identifier: Apache-2.0 */
/* Loading and replicating in informer-sim: inputs, fields filled in, and what differs between replicas. */
#include "tests/room.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/printer/age.h"
#include "tools/informer-sim/cluster.h"
#include "tools/informer-sim/load.h"
#include "tools/informer-sim/registry.h"

struct world {
	struct api_registry registry;
	struct sim_store *store;
	struct sim_rng rng;
	struct sim_hosts hosts;
	struct sim_loader loader;
	char *error;
};

static int
setup(void **state)
{
	static struct world w;

	api_registry_init(&w.registry);
	w.store = sim_store_new(1000, 0);
	w.rng.state = 7;
	sim_hosts_init(&w.hosts, 20, &w.rng);
	w.loader = (struct sim_loader){.registry = &w.registry,
				       .store = w.store,
				       .rng = &w.rng,
				       .hosts = &w.hosts,
				       .replicas = 1,
				       .now = 1767225600};
	*state = &w;
	return 0;
}

static void
end(struct world *w)
{
	free(w->error);
	sim_hosts_done(&w->hosts);
	sim_store_free(w->store);
	api_registry_done(&w->registry);
}

TEAR_DOWN(teardown, end)
#define TEST(name) TEST_CASE_OF(struct world *w, setup, teardown, name)

static int
load(struct world *w, const char *text)
{
	free(w->error);
	w->error = NULL;
	return sim_load_text(&w->loader, "in.json", text, strlen(text), &w->error);
}

static size_t
count(struct world *w, const char *group, const char *plural)
{
	const struct api_resource *resource = api_registry_find(&w->registry, group, "v1", plural);

	return resource ? sim_store_count(w->store, resource) : 0;
}

/* The text of an object as a GET shows it; free it. */
static char *
shown(struct world *w, const char *group, const char *plural, const char *key)
{
	const struct api_resource *resource = api_registry_find(&w->registry, group, "v1", plural);
	_cleanup_(api_object_unrefp) struct api_object *object = sim_store_get(w->store, resource, key);
	struct api_buf text = {0};

	assert_non_null(object);
	api_object_print(resource, object, 0, &text);
	return api_buf_take(&text);
}

/* The input may be a List, a PodList with items without kind, single manifests, and all of them in a row. */
TEST(every_shape_of_dump_is_taken)
{
	assert_int_equal(load(w, "{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Service\",\"apiVersion\":"
				 "\"v1\",\"metadata\":{\"name\":"
				 "\"s\",\"namespace\":\"n\"}},{\"kind\":\"Node\",\"apiVersion\":\"v1\","
				 "\"metadata\":{\"name\":\"w1\"}}],\"kind\":\"List\"}"),
			 0);
	assert_int_equal(
		load(w,
		     "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[{\"metadata\":{"
		     "\"name\":\"a\","
		     "\"namespace\":\"n\"}} , {\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"}}]}\n"
		     "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\"},\"spec\":{\"containers\":[]}}"
		     "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"d\"}}\n"),
		0);
	assert_int_equal(load(w, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[]}"), 0);
	assert_int_equal(count(w, "", "services"), 1);
	assert_int_equal(count(w, "", "nodes"), 1);
	assert_int_equal(count(w, "", "pods"), 3);
	assert_int_equal(count(w, "apps", "deployments"), 1);
	assert_int_equal(w->loader.objects, 6);
}

/* A missing namespace, UID and creation time are filled in. The RV is always the server's. */
TEST(missing_fields_are_filled_in)
{
	_cleanup_(api_freep) char *text = NULL;

	assert_int_equal(load(w, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\","
				 "\"resourceVersion\":\"777\"},\"data\":{\"big\":\"9007199254740993\"}}"),
			 0);
	text = shown(w, "", "configmaps", "default/c");
	assert_non_null(strstr(text, "\"resourceVersion\":\"1\""));
	assert_non_null(strstr(text, "\"uid\":\""));
	assert_non_null(strstr(text, "\"creationTimestamp\":\"2026-01-01T00:00:00Z\""));
}

/* An unknown kind becomes a resource with a guessed plural. */
TEST(an_unknown_kind_becomes_a_resource)
{
	assert_int_equal(load(w, "{\"kind\":\"NetworkPolicy\",\"apiVersion\":\"networking.k8s.io/"
				 "v1\",\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"}}"),
			 0);
	assert_int_equal(count(w, "networking.k8s.io", "networkpolicies"), 1);
	assert_true(
		api_registry_find(&w->registry, "networking.k8s.io", "v1", "networkpolicies")->namespaced);
	assert_int_equal(load(w, "{\"kind\":\"StorageClass\",\"apiVersion\":\"storage.k8s.io/"
				 "v1\",\"metadata\":{\"name\":\"gp3\"}}"),
			 0);
	assert_false(api_registry_find(&w->registry, "storage.k8s.io", "v1", "storageclasses")->namespaced);
}

/* The message for bad input names file, place and reason. Earlier input stays loaded. */
TEST(bad_input_says_where_and_why)
{
	assert_int_equal(load(w, "{\"kind\":\"Node\",\n\"apiVersion\":}"), -EINVAL);
	assert_string_equal(
		w->error,
		"in.json: line 2, byte 29: not JSON: invalid character '}' looking for beginning of value");
	assert_int_equal(load(w, "{\"metadata\":{\"name\":\"x\"}}"), -EINVAL);
	assert_non_null(strstr(w->error, "object at byte 0: cannot tell what it is"));
	assert_int_equal(load(w, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{}}"), -EINVAL);
	assert_non_null(strstr(w->error, "Pod at byte 0: name or generateName is required"));
	assert_int_equal(load(w, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
				 "\"labels\":{\"x\":1}}}"),
			 -EINVAL);
	assert_non_null(strstr(w->error, "each label's value must be a string"));
	assert_int_equal(load(w, "[]"), -EINVAL);
	free(w->error);
	assert_int_equal(sim_load(&w->loader, "/nonexistent", &w->error), -ENOENT);
	assert_int_equal(w->loader.objects, 0);
}

#define POD                                                                                                  \
	"{\"metadata\":{\"name\":\"web-7d9c-abcde\",\"namespace\":\"shop\",\"uid\":\"u0\","                  \
	"\"creationTimestamp\":"                                                                             \
	"\"2025-06-01T10:00:00Z\",\"labels\":{\"app\":\"web\"},\"ownerReferences\":[{\"kind\":"              \
	"\"ReplicaSet\",\"uid\":\"r0\"}]},"                                                                  \
	"\"spec\":{\"nodeName\":\"n0\",\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":"            \
	"\"Running\",\"podIP\":\"10.1.1.1\","                                                                \
	"\"podIPs\":[{\"ip\":\"10.1.1.1\"},{\"ip\":\"fd00::1\"}],\"hostIP\":\"10.9.9.9\",\"startTime\":"     \
	"\"2025-06-01T10:00:05Z\","                                                                          \
	"\"containerStatuses\":[{\"name\":\"c\",\"containerID\":\"containerd://"                             \
	"00ff\",\"restartCount\":3}]}}"

/* The first pod is unchanged. Replicas share their template's fields but not name, UID and address. */
TEST(a_replica_is_another_pod_of_the_same_workload)
{
	const struct api_resource *pods = api_registry_find(&w->registry, "", "v1", "pods");
	struct api_object *object;
	struct sim_view view;
	unsigned originals = 0;

	w->loader.replicas = 50;
	assert_int_equal(load(w, POD), 0);
	assert_int_equal(sim_store_count(w->store, pods), 50);
	assert_int_equal(sim_store_view(w->store, pods, 0, &view, NULL), 0);
	while ((object = sim_view_next(&view))) {
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_freep) char *id = NULL;
		_cleanup_(api_freep) char *created = NULL;
		_cleanup_(api_freep) char *started = NULL;
		_cleanup_(api_freep) char *ip = NULL;
		int64_t from, to;

		sim_object_edit(pods, object, &doc);
		assert_true(!strncmp(object->key, "shop/web-7d9c-", 14) && strlen(object->key) == 19);
		assert_string_equal(api_object_label(object, "app"), "web");
		assert_true(api_is(sim_path(doc.root, "metadata.namespace"), "shop"));
		assert_true(
			api_is(api_get(sim_path(doc.root, "metadata.ownerReferences")->child, "uid"), "r0"));
		if (api_is(sim_path(doc.root, "metadata.uid"), "u0")) {
			originals++;
			assert_string_equal(object->key, "shop/web-7d9c-abcde");
			continue;
		}
		id = api_text_dup(
			api_get(sim_path(doc.root, "status.containerStatuses")->child, "containerID"));
		assert_true(!strncmp(id, "containerd://", 13) && strlen(id) == 13 + 64);
		ip = api_text_dup(sim_path(doc.root, "status.podIP"));
		assert_string_not_equal(ip, "10.1.1.1");
		assert_true(api_is(api_get(sim_path(doc.root, "status.podIPs")->child, "ip"), ip));
		assert_false(
			api_is(api_get(sim_path(doc.root, "status.podIPs")->child->next, "ip"), "fd00::1"));
		assert_false(api_is(sim_path(doc.root, "spec.nodeName"), "n0"));
		created = api_text_dup(sim_path(doc.root, "metadata.creationTimestamp"));
		started = api_text_dup(sim_path(doc.root, "status.startTime"));
		assert_true(age_parse((struct field_text){created, strlen(created)}, &from));
		assert_true(age_parse((struct field_text){started, strlen(started)}, &to));
		assert_int_equal(to - from, 5 * NS_PER_S);
		assert_true(from <= 1748772000 * NS_PER_S);
	}
	sim_view_done(&view);
	assert_int_equal(originals, 1);
}

/* A replica on the host network has its host's address. */
TEST(a_replica_on_the_host_network_has_its_hosts_address)
{
	static const char text[] = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"hostNetwork\":true,"
				   "\"nodeName\":\"n\"},\"status\":{"
				   "\"podIP\":\"1.1.1.1\",\"hostIP\":\"1.1.1.1\"}}";
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *ip = NULL;
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), 0);
	sim_replica_make(&doc, &w->hosts, &w->rng);
	ip = api_text_dup(sim_path(doc.root, "status.podIP"));
	assert_true(api_is(sim_path(doc.root, "status.hostIP"), ip));
	assert_string_not_equal(ip, "1.1.1.1");
}

/* Print all objects of all resources into one text. */
static char *
everything(struct api_registry *registry, struct sim_store *store)
{
	struct api_buf text = {0};

	for (unsigned i = 0; i < registry->count; i++) {
		struct api_object *object;
		struct sim_view view;

		sim_store_view(store, registry->items[i], 0, &view, NULL);
		while ((object = sim_view_next(&view)))
			api_object_print(registry->items[i], object, 0, &text);
		sim_view_done(&view);
	}
	return api_buf_take(&text);
}

static char *
generate(uint64_t seed, size_t *ret_pods)
{
	struct api_registry registry;
	struct sim_store *store = sim_store_new(10, 0);
	struct sim_rng rng = {seed};
	struct sim_hosts hosts;
	char *text;

	api_registry_init(&registry);
	sim_hosts_init(&hosts, 7, &rng);
	sim_cluster_generate(&registry, store, &hosts, 23, 1767225600, &rng);
	sim_cluster_complete(&registry, store, 1767225600, &rng);
	*ret_pods = sim_store_count(store, sim_registry_kind(&registry, "v1", "Pod"));
	text = everything(&registry, store);
	sim_hosts_done(&hosts);
	sim_store_free(store);
	api_registry_done(&registry);
	return text;
}

/* A generated cluster has exactly the requested pods, and equal seeds make it byte for byte equal. */
TEST_CASE(equal_seeds_generate_equal_clusters)
{
	size_t pods;
	_cleanup_(api_freep) char *a = generate(1, &pods);
	_cleanup_(api_freep) char *b = generate(1, &pods);
	_cleanup_(api_freep) char *c = generate(2, &pods);

	assert_int_equal(pods, 7 * 23);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
}

TEST(generated_pods_have_owners_and_nodes)
{
	const struct api_resource *pods = api_registry_find(&w->registry, "", "v1", "pods");
	const struct api_resource *nodes = api_registry_find(&w->registry, "", "v1", "nodes");
	struct api_object *object;
	struct sim_view view;

	sim_cluster_generate(&w->registry, w->store, &w->hosts, 30, 1767225600, &w->rng);
	sim_cluster_complete(&w->registry, w->store, 1767225600, &w->rng);
	sim_store_view(w->store, pods, 0, &view, NULL);
	while ((object = sim_view_next(&view))) {
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_doc_done) struct api_doc owner_doc = {0};
		_cleanup_(api_freep) char *kind = NULL, *version = NULL, *name = NULL, *uid = NULL;
		_cleanup_(api_buf_done) struct api_buf key = {0};
		_cleanup_(api_object_unrefp) struct api_object *owner_object = NULL;
		_cleanup_(api_object_unrefp) struct api_object *node = NULL;
		const struct api_resource *resource;
		const struct api_node *owner;

		sim_object_edit(pods, object, &doc);
		owner = sim_path(doc.root, "metadata.ownerReferences")->child;
		kind = api_text_dup(api_get(owner, "kind"));
		version = api_text_dup(api_get(owner, "apiVersion"));
		name = api_text_dup(api_get(owner, "name"));
		uid = api_text_dup(api_get(owner, "uid"));
		resource = sim_registry_kind(&w->registry, version, kind);
		api_buf_printf(&key, "%.*s/%s", (int)object->namespace_len, object->key, name);
		owner_object = sim_store_get(w->store, resource, key.data);
		assert_non_null(owner_object);
		sim_object_edit(resource, owner_object, &owner_doc);
		assert_true(api_is(sim_path(owner_doc.root, "metadata.uid"), uid));
		if (!api_object_field(object, 0)[0]) {
			assert_true(api_is(sim_path(doc.root, "status.phase"), "Pending"));
			continue;
		}
		node = sim_store_get(w->store, nodes, api_object_field(object, 0));
		assert_non_null(node);
	}
	sim_view_done(&view);
}
