/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object made from the arena equals the one that a parse of its JSON gives. One exception: an object
 * stored as the API server sent it is not fitted to its type again.
 */
#include <dirent.h>
#include <inttypes.h>

#include "tests/support/json_random.h"
#include "tests/support/places.h"
#include "tests/support/reader_world.h"
#include "tests/tools/serving/made_object.h"
#include "tools/informer-gateway/history/arena_object.h"

#define PODS_MAX 400

struct made {
	struct api_registry registry;
	struct api_resource plain; /* pods without a known type: nothing is fitted */
	struct gw_object_maker maker;
};

static void
begin(struct made *m, struct reader_world *w)
{
	api_registry_init(&m->registry);
	m->plain = *api_registry_find(&m->registry, "", "v1", "pods");
	m->plain.message = NULL;
	assert_int_equal(gw_object_maker_init(&m->maker, w->inf, &m->plain), 0);
}

static void
end(struct made *m)
{
	gw_object_maker_done(&m->maker);
	api_registry_done(&m->registry);
}

/* The object made by parsing the object's JSON. */
static struct api_object *
parsed(struct made *m, const struct informer_object *object, char *text)
{
	uint64_t rv = gw_object_rv(object);
	struct api_object *made;
	size_t length;

	assert_int_equal(informer_object_json(object, text, READER_WORLD_TEXT, &length), 0);
	made = made_object(&m->plain, text);
	if (rv)
		sim_object_stamp(made, rv);
	return made;
}

static void
assert_same(const struct api_object *a, const struct api_object *b)
{
	size_t side = (size_t)(a->text - a->key);

	assert_string_equal(a->key, b->key);
	assert_int_equal(a->namespace_len, b->namespace_len);
	assert_int_equal(a->rv, b->rv);
	assert_int_equal(a->text_len, b->text_len);
	assert_memory_equal(a->text, b->text, a->text_len);
	assert_int_equal(a->rv_at, b->rv_at);
	assert_int_equal(a->rv_len, b->rv_len);
	assert_int_equal(a->meta_at, b->meta_at);
	assert_int_equal(a->meta_len, b->meta_len);
	assert_int_equal(a->label_count, b->label_count);
	assert_int_equal(side, (size_t)(b->text - b->key));
	assert_memory_equal(a->key, b->key, side);
}

static void
compare(struct made *m, struct reader_world *w, const struct informer_object *object)
{
	struct api_object *made, *expected = parsed(m, object, w->text);

	assert_int_equal(gw_object_make(&m->maker, object, &made), 0);
	assert_same(made, expected);
	api_object_unref(made);
	api_object_unref(expected);
}

static unsigned
compare_all(struct reader_world *w)
{
	struct informer_object object;
	struct informer_iter it;
	unsigned count = 0;
	struct made m;

	begin(&m, w);
	assert_int_equal(informer_list(&w->snap, w->pods, &it), 0);
	for (; informer_next(&it, &object) > 0; count++)
		compare(&m, w, &object);
	end(&m);
	return count;
}

/* Values of every kind, escapes and U+0000 come out unchanged. */
TEST_CASE(a_pod_of_all_kinds_is_the_same)
{
	struct reader_world *w = reader_world_new(pod_of_all_kinds);
	struct made m;

	begin(&m, w);
	compare(&m, w, &w->pod);
	end(&m);
	reader_world_free(w);
}

TEST_CASE(metadata_without_an_rv_gets_a_place_for_one)
{
	struct reader_world *w = reader_world_new(
		"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\"}}");
	struct api_object *made;
	struct made m;

	begin(&m, w);
	assert_int_equal(gw_object_make(&m.maker, &w->pod, &made), 0);
	assert_int_equal(made->rv, 0);
	assert_int_equal(made->rv_len, 0);
	assert_memory_equal(made->text + made->rv_at - strlen("\"resourceVersion\":\""),
			    "\"resourceVersion\":\"\"", strlen("\"resourceVersion\":\"\""));
	assert_int_equal(made->text[made->meta_at + made->meta_len - 1], '}');
	api_object_unref(made);
	end(&m);
	reader_world_free(w);
}

static char *pods[PODS_MAX + 1];

static void
read_pods(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	size_t count = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)) && count < PODS_MAX) {
		struct api_buf text = {0};
		char path[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		assert_int_equal(api_buf_read_file(&text, path, 1u << 20), 0);
		pods[count++] = api_buf_take(&text);
	}
	closedir(dir);
	assert_true(count > 0);
}

TEST_CASE(pods_of_real_size_are_the_same)
{
	struct reader_world *w;

	read_pods(pods_directory());
	w = reader_world_of((const char *const *)pods, 0);
	assert_true(compare_all(w) > 10);
	reader_world_free(w);
	for (size_t i = 0; pods[i]; i++)
		free(pods[i]);
}

/* Random documents as the body of a pod come out unchanged. */
TEST_CASE(random_documents_are_the_same)
{
	struct json_random random = {.seed = 20, .plain = true};
	struct reader_world *w;
	char *texts[201] = {0};

	for (int i = 0; i < 200; i++) {
		json_random_document(&random);
		assert_true(
			asprintf(&texts[i],
				 "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"default\",\"uid\":\"u%d\","
				 "\"resourceVersion\":\"%d\",\"labels\":{\"n\":\"%d\"}},\"spec\":%.*s}",
				 i, i, 100 + i, i, (int)random.sent.length,
				 (const char *)random.sent.data) > 0);
	}
	w = reader_world_of((const char *const *)texts, 0);
	assert_int_equal(compare_all(w), 200);
	reader_world_free(w);
	for (int i = 0; i < 200; i++)
		free(texts[i]);
	json_random_done(&random);
}

/* Two states differ for selectors only if their labels or selectable fields differ. */
TEST_CASE(selectors_compare_labels_and_fields)
{
	static const char *const texts[] = {
		"{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"labels\":{\"x\":\"1\"}},\"spec\":{"
		"\"nodeName\":\"n1\"},\"status\":{\"message\":\"one\"}}",
		"{\"metadata\":{\"name\":\"b\",\"namespace\":\"default\",\"labels\":{\"x\":\"1\"}},\"spec\":{"
		"\"nodeName\":\"n1\"},\"status\":{\"message\":\"two\"}}",
		"{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\",\"labels\":{\"x\":\"2\"}},\"spec\":{"
		"\"nodeName\":\"n1\"}}",
		"{\"metadata\":{\"name\":\"d\",\"namespace\":\"default\",\"labels\":{\"x\":\"1\"}},\"spec\":{"
		"\"nodeName\":\"n2\"}}",
		"{\"metadata\":{\"name\":\"e\",\"namespace\":\"default\"},\"spec\":{\"nodeName\":\"n1\"}}",
		NULL};
	struct reader_world *w = reader_world_of(texts, 0);
	struct informer_object a, other;
	struct made m;

	begin(&m, w);
	reader_world_look(w, "a", &a);
	reader_world_look(w, "b", &other);
	assert_true(gw_object_selects_alike(&m.maker, &a, &other));
	for (const char *name = "cde"; *name; name++) {
		reader_world_look(w, (char[]){*name, '\0'}, &other);
		assert_false(gw_object_selects_alike(&m.maker, &a, &other));
	}
	end(&m);
	reader_world_free(w);
}

TEST_CASE(an_rv_is_read_as_a_number)
{
	assert_int_equal(gw_rv_parse("1234", 4), 1234);
	assert_int_equal(gw_rv_parse("", 0), 0);
	assert_int_equal(gw_rv_parse("12x", 3), 0);
	assert_int_equal(gw_rv_parse("-1", 2), 0);
	assert_int_equal(gw_rv_parse("99999999999999999999999", 23), 0);
}
