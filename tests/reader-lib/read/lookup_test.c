/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups, with a writer in this process. */
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"

static const char *const pods[] = {
	"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"u-1\","
	"\"resourceVersion\":\"11\",\"labels\":{\"app\":\"web\",\"tier\":\"front\"},"
	"\"annotations\":{\"users\":\"ernie,bert\"}},\"spec\":{\"nodeName\":\"n1\"},"
	"\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"fd00::1\"}]}}",
	"{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"default\",\"uid\":\"u-2\","
	"\"labels\":{\"app\":\"web\"},\"annotations\":{\"users\":\"bert\"}},\"spec\":{\"nodeName\":\"n2\"},"
	"\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.2\"}]}}",
	"{\"metadata\":{\"name\":\"done\",\"namespace\":\"jobs\",\"uid\":\"u-3\"},"
	"\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Succeeded\",\"podIPs\":[{\"ip\":\"10.0.0.2\"}"
	"]}}",
	"{\"metadata\":{\"name\":\"agent\",\"namespace\":\"kube-system\",\"uid\":\"u-4\","
	"\"labels\":{\"app\":\"web\"}},\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":true},"
	"\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.1\"}]}}",
	"{\"metadata\":{\"name\":\"failed\",\"namespace\":\"jobs\",\"uid\":\"u-5\"},"
	"\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Failed\",\"podIPs\":[{\"ip\":\"10.0.0.9\"}]}"
	"}",
	NULL,
};

SET_UP(set_up, reader_world_of(pods, INFORMER_VERIFY))
SET_UP(set_up_plain, reader_world_of(pods, 0))

static void
assert_name(const struct informer_object *o, const char *name)
{
	const char *data;
	size_t length;

	assert_int_equal(informer_object_name(o, &data, &length), 0);
	assert_int_equal(length, strlen(name));
	assert_memory_equal(data, name, length);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
assert_names(int r, struct informer_iter *it, const char *expected)
{
	char *names[64] = {0}, text[1024] = "";
	struct informer_object o;
	size_t n = 0;

	assert_int_equal(r, 0);
	while ((r = informer_next(it, &o)) > 0) {
		const char *data;
		size_t length;

		assert_int_equal(informer_object_name(&o, &data, &length), 0);
		names[n++] = strndup(data, length);
	}
	assert_int_equal(r, 0);
	assert_int_equal(informer_next(it, &o), 0);
	qsort(names, n, sizeof(names[0]), compare);
	for (size_t i = 0; i < n; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", names[i]);
		free(names[i]);
	}
	assert_string_equal(text, expected);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* An object is found by namespace and name, with or without lengths, and by one key. */
TEST(an_object_is_found_by_its_key)
{
	struct informer_object o;

	assert_int_equal(informer_get(&w->snap, w->pods, "default", 7, "web-0", 5, &o), 0);
	assert_name(&o, "web-0");
	assert_int_equal(informer_get_z(&w->snap, w->pods, "jobs", "done", &o), 0);
	assert_name(&o, "done");
	assert_int_equal(informer_get_key(&w->snap, w->pods, "default/web-1", 13, &o), 0);
	assert_name(&o, "web-1");
}

/* An absent key is NOT_FOUND, also a key that no object can have. */
TEST(a_key_that_does_not_exist_is_not_found)
{
	struct informer_object o;
	char *much = calloc(1, 70000);

	memset(much, 'x', 69999);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", "web-2", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "jobs", "web-0", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, NULL, "web-0", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "", "", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_key(&w->snap, w->pods, "default/web-0/x", 15, &o),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_key(&w->snap, w->pods, "default/", 8, &o), INFORMER_E_NOT_FOUND);
	/* an empty namespace is none: the key of an object without one is its name */
	broker_fixture_put(
		w->fx, (const char *const[]){"{\"metadata\":{\"name\":\"alone\",\"uid\":\"u-6\"}}", NULL});
	reader_world_renew(w);
	assert_int_equal(informer_get_key(&w->snap, w->pods, "alone", 5, &o), 0);
	assert_int_equal(informer_get_key(&w->snap, w->pods, "/alone", 6, &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, much, "web-0", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", much, &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", NULL, &o), -EINVAL);
	free(much);
}

/* Looking up many keys at once gives the results of single lookups. */
static void
assert_many(struct reader_world *w, size_t count)
{
	static char names[200][16];
	struct informer_key keys[200] = {0};
	struct informer_object many[200], one;
	size_t found, expected = 0;

	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), i % 3 ? "p%zu" : "q%zu", i);
		keys[i] = (struct informer_key){"default", 7, names[i], strlen(names[i])};
	}
	if (count > 150) {
		keys[0] = (struct informer_key){NULL, 0, "alone", 5};
		keys[3] = (struct informer_key){"jobs", 4, "p1", 2};
		keys[6] = (struct informer_key){names[0], 300, "p1", 2};
		keys[149] = (struct informer_key){"kube-system", 11, "agent", 5};
	}
	assert_int_equal(informer_get_many(&w->snap, w->pods, keys, count, many, &found), 0);
	for (size_t i = 0; i < count; i++) {
		int r = informer_get(&w->snap, w->pods, keys[i].ns, keys[i].ns_length, keys[i].name,
				     keys[i].name_length, &one);

		assert_int_equal(r, informer_object_seq(&many[i]) ? 0 : INFORMER_E_NOT_FOUND);
		expected += r == 0;
		if (r == 0)
			assert_memory_equal(&one, &many[i], sizeof(one));
	}
	assert_int_equal(found, expected);
	assert_true(count < 3 || expected > count / 2);
}

static void
look_up_many(struct reader_world *w)
{
	static const size_t counts[] = {0, 1, 15, 16, 17, 64, 200};
	struct informer_key bad[2] = {{NULL, 0, "alone", 5}, {"default", 7, NULL, 0}};
	struct informer_object o[2];
	char name[32];

	broker_fixture_put(
		w->fx, (const char *const[]){"{\"metadata\":{\"name\":\"alone\",\"uid\":\"u-6\"}}", NULL});
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		broker_fixture_pod(w->fx, name);
	}
	reader_world_renew(w);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_many(w, counts[i]);
	assert_int_equal(informer_get_many(&w->snap, w->pods, bad, 2, o, NULL), -EINVAL);
	assert_int_equal(informer_get_many(&w->snap, w->pods, NULL, 1, o, NULL), -EINVAL);
	assert_int_equal(informer_get_many(&w->snap, w->pods, bad, 1, NULL, NULL), -EINVAL);
	assert_int_equal(informer_get_many(&w->snap, w->pods, bad, 1, o, NULL), 0);
	assert_name(&o[0], "alone");
	informer_end(&w->snap);
	assert_int_equal(informer_get_many(&w->snap, w->pods, bad, 1, o, NULL), -EINVAL);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
}

TEST_CASE_OF(struct reader_world *w, set_up_plain, reader_world_tear_down, many_keys_are_looked_up_at_once)
{
	look_up_many(w);
}

/* The same where tags are verified, by the tries. */
TEST(many_keys_are_looked_up_at_once_and_verified)
{
	look_up_many(w);
}

TEST(an_object_is_found_by_its_uid)
{
	struct informer_object o;

	assert_int_equal(informer_get_by_uid(&w->snap, w->pods, "u-4", 3, &o), 0);
	assert_name(&o, "agent");
	assert_int_equal(informer_get_by_uid(&w->snap, w->pods, "u-", 2, &o), INFORMER_E_NOT_FOUND);
}

TEST(an_index_takes_a_terminated_value)
{
	struct informer_iter it;

	assert_names(informer_by_index_z(&w->snap, w->pods, "nodeName", "n2", &it), &it, "web-1");
	assert_int_equal(informer_by_index_z(&w->snap, w->pods, "nodeName", NULL, &it), -EINVAL);
}

TEST(an_index_gives_the_objects_of_a_value)
{
	struct informer_iter it;
	uint64_t count;

	assert_names(informer_by_index(&w->snap, w->pods, "nodeName", "n1", 2, &it), &it,
		     "agent done failed web-0");
	assert_names(informer_by_index(&w->snap, w->pods, "nodeName", "n2", 2, &it), &it, "web-1");
	assert_names(informer_by_index(&w->snap, w->pods, "nodeName", "n3", 2, &it), &it, "");
	assert_names(informer_by_index(&w->snap, w->pods, "byUser", "bert", 4, &it), &it, "web-0 web-1");
	assert_names(informer_by_index(&w->snap, w->pods, "byUser", "ernie", 5, &it), &it, "web-0");
	assert_int_equal(informer_count_by_index(&w->snap, w->pods, "nodeName", "n1", 2, &count), 0);
	assert_int_equal(count, 4);
	assert_int_equal(informer_count_by_index(&w->snap, w->pods, "nodeName", "n3", 2, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(informer_count_by_index(&w->snap, w->pods, "noSuch", "n3", 2, &count),
			 INFORMER_E_NO_INDEX);
	assert_int_equal(informer_by_index(&w->snap, w->pods, "noSuch", "n3", 2, &it), INFORMER_E_NO_INDEX);
	assert_error_text(INFORMER_E_NO_INDEX, "no such index; it has: ");
	assert_error_text(INFORMER_E_NO_INDEX, "nodeName");
}

TEST(a_list_gives_all_or_one_namespace)
{
	struct informer_iter it;

	assert_names(informer_list(&w->snap, w->pods, &it), &it, "agent done failed web-0 web-1");
	assert_names(informer_list_namespace(&w->snap, w->pods, "jobs", 4, &it), &it, "done failed");
	assert_names(informer_list_namespace(&w->snap, w->pods, "", 0, &it), &it,
		     "agent done failed web-0 web-1");
	assert_names(informer_list_namespace(&w->snap, w->pods, "nowhere", 7, &it), &it, "");
}

/* A selector narrows by label and namespace, with or without the help of an index. */
TEST(a_selector_narrows_a_list)
{
	static const struct {
		const char *ns, *selector, *names;
	} cases[] = {
		{"", "app=web", "agent web-0 web-1"},
		{"default", "app=web", "web-0 web-1"},
		{"default", "app==web,tier in (front)", "web-0"},
		{"", "!app", "done failed"},
		{"", "app!=web", "done failed"},
		{"jobs", "", "done failed"},
		{"", "app,!tier", "agent web-1"},
		{"", "tier notin (front,back)", "agent done failed web-1"},
		{"jobs", "app=web", ""},
		{"", "app=nothing", ""},
		{"", "app in (nothing,web)", "agent web-0 web-1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct informer_label_selector *sel;
		struct informer_iter it;
		int r = informer_label_selector_compile(w->inf, cases[i].selector, strlen(cases[i].selector),
							&sel, NULL);

		assert_int_equal(r, 0);
		assert_names(informer_select(&w->snap, w->pods, cases[i].ns, strlen(cases[i].ns), sel, &it),
			     &it, cases[i].names);
		informer_label_selector_free(sel);
	}
}

/* Of the pods with an address, the running one that is not on the host's network is found. */
TEST(a_pod_is_found_by_an_address_that_is_its_own)
{
	struct informer_object o;

	assert_int_equal(informer_pod_by_ip(&w->snap, w->pods, "10.0.0.1", 8, &o), 0);
	assert_name(&o, "web-0");
	assert_int_equal(informer_pod_by_ip(&w->snap, w->pods, "fd00::1", 7, &o), 0);
	assert_name(&o, "web-0");
	assert_int_equal(informer_pod_by_ip(&w->snap, w->pods, "10.0.0.2", 8, &o), 0);
	assert_name(&o, "web-1");
	assert_int_equal(informer_pod_by_ip(&w->snap, w->pods, "10.0.0.9", 8, &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_pod_by_ip(&w->snap, w->pods, "10.0.0.77", 9, &o), INFORMER_E_NOT_FOUND);
	/* the fixture's pods have no container index */
	assert_int_equal(informer_pod_by_container_id(&w->snap, w->pods, "containerd://abc", 16, &o),
			 INFORMER_E_NO_INDEX);
}

/* A resource has every name that kubectl takes; other names are NO_RESOURCE. */
TEST(a_resource_is_known_by_its_names)
{
	static const char *const good[] = {"pods", "po", "pod", "Pod", "PODS", "pods.v1", "pods.v1."};
	static const char *const bad[] = {"pods.apps", "pods.v2", "poods", "nodes", "pods.v1.apps"};
	struct informer_resource *res, *again;
	struct informer_object o;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(informer_resource_open(w->inf, good[i], &res), 0);
		assert_int_equal(informer_get_z(&w->snap, res, "default", "web-0", &o), 0);
		assert_int_equal(informer_resource_open(w->inf, good[i], &again), 0);
		assert_ptr_equal(res, again);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(informer_resource_open(w->inf, bad[i], &res), 0);
		assert_int_equal(informer_get_z(&w->snap, res, "default", "web-0", &o),
				 INFORMER_E_NO_RESOURCE);
	}
	assert_int_equal(informer_resource_open(w->inf, "", &res), -EINVAL);
	assert_int_equal(informer_resource_open(w->inf, ".v1", &res), -EINVAL);
}

/* The resource's identity, version, count and indexes. */
TEST(a_resource_info_has_identity_version_and_indexes)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	const char *name;
	size_t length;
	uint32_t position;

	assert_int_equal(informer_resource_count(&w->snap), 1);
	assert_int_equal(informer_resource_position(&w->snap, w->pods, &position), 0);
	assert_int_equal(position, 0);
	assert_int_equal(informer_resource_info(&w->snap, w->pods, &info), 0);
	assert_memory_equal(info.resource, "pods", info.resource_length);
	assert_memory_equal(info.kind, "Pod", info.kind_length);
	assert_int_equal(info.group_length, 0);
	assert_true(info.namespaced);
	assert_true(info.synced);
	assert_int_equal(info.object_count, 5);
	assert_int_equal(info.resource_version_length, 3);
	assert_memory_equal(info.resource_version, "100", 3);
	assert_int_equal(info.index_count, 6);
	assert_int_equal(informer_resource_index_name(&w->snap, 0, 3, &name, &length), 0);
	assert_memory_equal(name, "nodeName", length);
	assert_int_equal(informer_resource_index_name(&w->snap, 0, 6, &name, &length), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_resource_short_name(&w->snap, 0, 0, &name, &length), 0);
	assert_memory_equal(name, "po", length);
	assert_int_equal(informer_resource_info_at(&w->snap, 1, &info), INFORMER_E_NOT_FOUND);
}

static void
add_second_entry(struct broker_fixture *fx, void *context)
{
	static const uint8_t fingerprint[32] = "pods of another namespace";
	static const char descriptor[] =
		"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\","
		"\"singular\":\"pod\",\"shortNames\":[\"po\"],\"namespaced\":true,\"namespace\":\"other\","
		"\"drops\":[\"metadata.managedFields\",\"spec.containers[*].env\"],"
		"\"indexes\":[{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\","
		"\"as\":\"string\"}]},{\"name\":\"namespace\",\"rules\":[{\"as\":\"namespace\"}]}]}";
	unsigned first = fx->store->pods, id;

	(void)context;
	assert_true(store_add_resource(fx->store->store, descriptor, fingerprint, &id) >= 0);
	assert_int_not_equal(id, first);
	fx->store->pods = id;
	assert_int_equal(store_fixture_put(fx->store,
					   "{\"metadata\":{\"name\":\"far\",\"namespace\":\"other\"},"
					   "\"spec\":{\"nodeName\":\"n1\"}}"),
			 0);
	assert_int_equal(store_commit(fx->store->store), 0);
	fx->store->pods = first;
}

/* A resource cached by two entries (of two namespaces) is looked up as one. */
TEST(two_entries_of_one_resource_are_looked_up_as_one)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_object o;
	struct informer_iter it;
	uint64_t count;

	broker_fixture_do(w->fx, add_second_entry, NULL);
	/* the older snapshot stays as it was */
	assert_int_equal(informer_get_z(&w->snap, w->pods, "other", "far", &o), INFORMER_E_NOT_FOUND);
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "other", "far", &o), 0);
	assert_int_equal(informer_object_position(&o), 1);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", "web-0", &o), 0);
	assert_int_equal(informer_object_position(&o), 0);
	assert_names(informer_list(&w->snap, w->pods, &it), &it, "agent done failed far web-0 web-1");
	assert_names(informer_by_index(&w->snap, w->pods, "nodeName", "n1", 2, &it), &it,
		     "agent done failed far web-0");
	assert_names(informer_list_namespace(&w->snap, w->pods, "other", 5, &it), &it, "far");
	assert_int_equal(informer_count_by_index(&w->snap, w->pods, "nodeName", "n1", 2, &count), 0);
	assert_int_equal(count, 5);
	assert_int_equal(informer_resource_info(&w->snap, w->pods, &info), 0);
	assert_int_equal(info.object_count, 6);
	assert_false(info.synced);
}

/* An entry lists the paths that its objects lack, if any. */
TEST(an_entry_lists_dropped_paths)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	const char *path;
	size_t length;

	broker_fixture_do(w->fx, add_second_entry, NULL);
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(informer_resource_info_at(&w->snap, 0, &info), 0);
	assert_int_equal(info.drop_count, 0);
	assert_int_equal(informer_resource_drop(&w->snap, 0, 0, &path, &length), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_resource_info_at(&w->snap, 1, &info), 0);
	assert_int_equal(info.drop_count, 2);
	assert_int_equal(informer_resource_drop(&w->snap, 1, 1, &path, &length), 0);
	assert_int_equal(length, strlen("spec.containers[*].env"));
	assert_memory_equal(path, "spec.containers[*].env", length);
	assert_int_equal(informer_resource_drop(&w->snap, 1, 2, &path, &length), INFORMER_E_NOT_FOUND);
}

/* Of thousands of objects each is found and listed once, and a large posting is walked whole. */
TEST(many_objects_are_all_found)
{
	struct informer_object o;
	struct informer_iter it;
	char name[32];
	uint64_t count = 0;
	int r;

	informer_end(&w->snap);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		broker_fixture_pod(w->fx, name);
	}
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_int_equal(informer_get_z(&w->snap, w->pods, "default", name, &o), 0);
		assert_name(&o, name);
	}
	r = informer_by_index(&w->snap, w->pods, "nodeName", "n1", 2, &it);
	while (r == 0 && informer_next(&it, &o) > 0)
		count++;
	assert_int_equal(count, 3004);
	r = informer_list(&w->snap, w->pods, &it);
	for (count = 0; r == 0 && informer_next(&it, &o) > 0;)
		count++;
	assert_int_equal(count, 3005);
}

/* Verification of a sound arena reports nothing and checks every tag. */
TEST(a_sound_arena_verifies)
{
	struct informer_verify_counts counts;

	assert_int_equal(informer_verify(&w->snap, NULL, NULL, &counts), 0);
	assert_true(counts.blocks > 20);
	assert_int_equal(counts.tags, counts.blocks);
	assert_int_equal(counts.faults, 0);
}
