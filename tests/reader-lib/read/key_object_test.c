/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, and objects that have only a key. */
#include "reader-lib/read/key_object.h"
#include "tests/room.h"
#include "tests/support/reader_world.h"

static const char pod[] = "{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\"}}";

SET_UP(set_up, reader_world_new(pod))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* A buffer too small gets the part that fits. */
TEST(a_key_is_namespace_and_name)
{
	struct key_object memory;
	struct informer_object object;
	char key[64];
	size_t length;
	int r;

	r = informer_object_key(&w->pod, key, sizeof(key), &length);
	assert_text(r, key, length, "default/web-0");
	assert_int_equal(strlen(key), length);
	for (size_t size = 1; size <= 13; size++) {
		memset(key, 'x', sizeof(key));
		assert_int_equal(informer_object_key(&w->pod, key, size, &length), 0);
		assert_int_equal(length, 13);
		assert_int_equal(strlen(key), size - 1);
		assert_memory_equal(key, "default/web-0", size - 1);
		assert_int_equal(key[size], 'x');
	}
	assert_int_equal(informer_object_key(&w->pod, NULL, 0, &length), 0);
	assert_int_equal(length, 13);
	assert_int_equal(informer_object_key(NULL, key, sizeof(key), &length), -EINVAL);
	/* cluster-scoped */
	assert_int_equal(key_object_set(&memory, NULL, 0, "node-1", 6, 3, &object), 0);
	r = informer_object_key(&object, key, sizeof(key), NULL);
	assert_text(r, key, strlen(key), "node-1");
}

static int
count_bytes(void *context, const char *data, size_t length)
{
	(void)data;
	*(uint64_t *)context += length;
	return 0;
}

/* An object with only a key gives that key and has no fields; its copy does the same. */
TEST(an_object_may_have_only_its_key)
{
	struct informer_path *path = reader_world_path(w, "spec.nodeName");
	struct informer_object object, copy;
	struct informer_label_selector *selector;
	struct informer_value value;
	struct key_object memory;
	static const char longest[300];
	const char *data;
	uint64_t sum = 0;
	size_t length;
	int64_t n;

	assert_int_equal(informer_label_selector_compile(w->inf, "!canary", 7, &selector, NULL), 0);
	assert_int_equal(key_object_set(&memory, "default", 7, "web-9", 5, 2, &object), 0);
	assert_int_equal(informer_object_copy(w->inf, &object, &copy), 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_TEXT(informer_object_namespace(&object, &data, &length), "default");
		ASSERT_TEXT(informer_object_name(&object, &data, &length), "web-9");
		assert_int_equal(informer_object_position(&object), 2);
		assert_int_equal(informer_object_seq(&object), 0);
		assert_int_equal(informer_object_uid(&object, &data, &length), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_object_resource_version(&object, &data, &length),
				 INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_get_string(&object, path, &data, &length), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_get_int(&object, path, &n), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_get_value(&object, path, &value), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_object_value(&object, &value), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_each_value(&object, path, NULL, NULL), -EINVAL);
		assert_int_equal(informer_object_to_json(&object, count_bytes, &sum), INFORMER_E_NOT_FOUND);
		assert_int_equal(informer_label_selector_matches(selector, &object), INFORMER_E_NOT_FOUND);
		object = copy;
	}
	informer_object_free(&copy);
	assert_int_equal(key_object_set(&memory, longest, 256, "a", 1, 0, &object), -ENAMETOOLONG);
	informer_label_selector_free(selector);
	informer_path_free(path);
}
