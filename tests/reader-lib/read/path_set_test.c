/* SPDX-License-Identifier: Apache-2.0 */
/* What keep and drop paths leave of an object, shown on its copies. */
#include "reader-lib/read/copy.h"
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"

SET_UP(set_up, reader_world_new(pod_of_all_kinds))

static void
expect_filtered(struct reader_world *w, const char *const *keep, const char *const *drop,
		const char *expected)
{
	struct informer_object copy;
	struct path_set *set;
	size_t n_keep = 0, n_drop = 0;

	while (keep && keep[n_keep])
		n_keep++;
	while (drop && drop[n_drop])
		n_drop++;
	assert_int_equal(path_set_compile(w->inf, keep, n_keep, drop, n_drop, &set), 0);
	assert_int_equal(object_copy_filtered(w->inf, &w->pod, set, &copy), 0);
	assert_string_equal(reader_world_json(w->text, &copy), expected);
	informer_object_free(&copy);
	path_set_free(w->inf, set);
}

#define LIST(...) (const char *const[]){__VA_ARGS__, NULL}
#define WHO "\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"u-1\",\"resourceVersion\":\"77\""

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* keep leaves what it names, all below it, and the object's identity. */
TEST(keep_leaves_what_it_names)
{
	expect_filtered(w, LIST("spec.nodeName"), NULL,
			"{\"metadata\":{" WHO "},\"spec\":{\"nodeName\":\"n1\"}}");
	expect_filtered(w, LIST("status"), NULL,
			"{\"metadata\":{" WHO "},\"status\":{\"phase\":\"Running\"}}");
	expect_filtered(w, LIST("spec.containers[*].image", "metadata.labels"), NULL,
			"{\"metadata\":{" WHO ",\"labels\":{\"app\":\"web\",\"a.b/c\":\"d\"}},"
			"\"spec\":{\"containers\":[{\"image\":\"i1\"},{\"image\":\"i2\"}]}}");
	/* paths that lead nowhere */
	expect_filtered(w, LIST("spec.absent", "text.deeper", "spec.empty[*].x"), NULL,
			"{\"metadata\":{" WHO "},\"spec\":{\"empty\":[]}}");
	expect_filtered(w, LIST("status.absent"), NULL, "{\"metadata\":{" WHO "},\"status\":{}}");
	expect_filtered(w, LIST("."), NULL, pod_of_all_kinds);
	/* a path reached in two ways */
	expect_filtered(w, LIST("spec[*].name", "[*].phase"), NULL,
			"{\"metadata\":{" WHO "},\"spec\":{\"none\":{},\"empty\":[],\"containers\":[]},"
					      "\"status\":{\"phase\":\"Running\"}}");
}

/* drop removes what it names; a path that is both kept and dropped is dropped. */
TEST(drop_takes_what_it_names)
{
	expect_filtered(w, NULL, LIST("spec", "text", "metadata.annotations"),
			"{\"metadata\":{" WHO
			",\"labels\":{\"app\":\"web\",\"a.b/c\":\"d\"}},\"status\":{\"phase\":\"Running\"}}");
	expect_filtered(w, LIST("spec.containers"), LIST("spec.containers[*].env"),
			"{\"metadata\":{" WHO
			"},\"spec\":{\"containers\":[{\"name\":\"c1\",\"image\":\"i1\"},"
			"{\"name\":\"c2\",\"image\":\"i2\"}]}}");
	expect_filtered(w, LIST("spec.containers"), LIST("spec.containers[*]"),
			"{\"metadata\":{" WHO "},\"spec\":{\"containers\":[]}}");
	expect_filtered(w, LIST("status.phase"), LIST("status.phase"),
			"{\"metadata\":{" WHO "},\"status\":{}}");
	expect_filtered(w, LIST("spec.containers[*].image", "status.phase"),
			LIST("spec.containers", "status"), "{\"metadata\":{" WHO "},\"spec\":{}}");
	expect_filtered(w, LIST("metadata.labels"), LIST("metadata.labels[\"a.b/c\"]"),
			"{\"metadata\":{" WHO ",\"labels\":{\"app\":\"web\"}}}");
	expect_filtered(w, NULL, LIST("absent", "spec.absent"), pod_of_all_kinds);
}

/* An object's name, namespace, uid and version cannot be dropped. */
TEST(an_objects_identity_cannot_be_dropped)
{
	expect_filtered(w, LIST("nothing"), NULL, "{\"metadata\":{" WHO "}}");
	expect_filtered(w, NULL, LIST("metadata", "spec", "text", "status"), "{\"metadata\":{" WHO "}}");
	expect_filtered(w, NULL, LIST("[*]", "[*][*]"), "{\"metadata\":{" WHO "}}");
	expect_filtered(w, NULL,
			LIST("metadata.name", "metadata.uid", "metadata[*]", "spec", "text", "status"),
			"{\"metadata\":{" WHO "}}");
}

/* A path that cached the shapes of a whole object works in the filtered copy. */
TEST(paths_find_their_way_in_filtered_copies)
{
	struct informer_path *path = reader_world_path(w, "spec.containers[*].image"),
			     *name = reader_world_path(w, "spec.containers[*].name");
	struct informer_object copy;
	struct path_set *set;
	const char *data;
	size_t length;

	assert_int_equal(path_set_compile(w->inf, LIST("spec.containers[*].image"), 1, NULL, 0, &set), 0);
	assert_int_equal(object_copy_filtered(w->inf, &w->pod, set, &copy), 0);
	for (int i = 0; i < 3; i++) {
		ASSERT_TEXT(informer_get_string(&w->pod, path, &data, &length), "i1");
		ASSERT_TEXT(informer_get_string(&copy, path, &data, &length), "i1");
		ASSERT_TEXT(informer_get_string(&w->pod, name, &data, &length), "c1");
		assert_int_equal(informer_get_string(&copy, name, &data, &length), INFORMER_E_NOT_FOUND);
	}
	informer_object_free(&copy);
	path_set_free(w->inf, set);
	informer_path_free(path);
	informer_path_free(name);
}

/* Two parts with the same fields are filtered differently. */
TEST(equal_shapes_may_be_filtered_differently)
{
	static const char twins[] = "{\"metadata\":{\"name\":\"twins\",\"namespace\":\"default\"},\"a\":{"
				    "\"x\":1,\"y\":2,\"z\":3},"
				    "\"b\":{\"x\":4,\"y\":5,\"z\":6},\"c\":{\"x\":7,\"y\":8,\"z\":9}}";
	struct informer_object object, copy;
	struct path_set *set;

	broker_fixture_put(w->fx, (const char *const[]){twins, NULL});
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	reader_world_look(w, "twins", &object);
	assert_int_equal(
		path_set_compile(w->inf, LIST("a.x", "a.y", "b.y", "b.z", "c.x", "c.y"), 6, NULL, 0, &set),
		0);
	assert_int_equal(object_copy_filtered(w->inf, &object, set, &copy), 0);
	assert_string_equal(
		reader_world_json(w->text, &copy),
		"{\"metadata\":{\"name\":\"twins\",\"namespace\":\"default\"},\"a\":{\"x\":1,\"y\":2},"
		"\"b\":{\"y\":5,\"z\":6},\"c\":{\"x\":7,\"y\":8}}");
	informer_object_free(&copy);
	path_set_free(w->inf, set);
}

TEST(impossible_paths_are_refused)
{
	const char *many[PATH_SET_MAX + 1];
	struct path_set *set;

	assert_int_equal(path_set_compile(w->inf, LIST("spec", "spec..x"), 2, NULL, 0, &set),
			 INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "spec..x");
	assert_error_text(INFORMER_E_SYNTAX, "at byte 5");
	assert_int_equal(path_set_compile(w->inf, NULL, 0, LIST("spec.containers[0].env"), 1, &set),
			 INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "single elements");
	assert_int_equal(path_set_compile(w->inf, NULL, 0, LIST("."), 1, &set), INFORMER_E_SYNTAX);
	for (size_t i = 0; i <= PATH_SET_MAX; i++)
		many[i] = "spec.a";
	assert_int_equal(path_set_compile(w->inf, many, PATH_SET_MAX + 1, NULL, 0, &set), -E2BIG);
	assert_int_equal(path_set_compile(w->inf, many, PATH_SET_MAX, many, PATH_SET_MAX, &set), 0);
	path_set_free(w->inf, set);
	path_set_free(w->inf, NULL);
}
