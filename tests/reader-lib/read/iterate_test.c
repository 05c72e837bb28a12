/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index iterations while objects change. (lookup_test.c and tests/writer/store test that objects put are
 * found.)
 */
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"

SET_UP(set_up, reader_world_empty(NULL))

/* Put a pod of namespace "default" with these values in the byUser index; then begin a new snapshot. */
static void
put(struct reader_world *w, const char *name, const char *users, unsigned version)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"u-%s\","
		 "\"resourceVersion\":\"%u\",\"annotations\":{\"users\":\"%s\"}}}",
		 name, name, version, users);
	broker_fixture_put(w->fx, (const char *const[]){text, NULL});
	reader_world_renew(w);
}

static void delete (struct reader_world *w, const char *name)
{
	broker_fixture_delete(w->fx, "default", name);
	reader_world_renew(w);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The names of an iteration, sorted, joined with blanks: client-go's index_keys, list_keys. */
static const char *
keys_of(struct reader_world *w, int r, struct informer_iter *it)
{
	char keys[64][64];
	struct informer_object object;
	size_t count = 0, length;

	assert_int_equal(r, 0);
	while ((r = informer_next(it, &object)) > 0) {
		assert_true(count < 64);
		assert_int_equal(informer_object_key(&object, keys[count++], sizeof(keys[0]), &length), 0);
	}
	assert_int_equal(r, 0);
	qsort(keys, count, sizeof(keys[0]), compare);
	w->text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(w->text + strlen(w->text), sizeof(w->text) - strlen(w->text), "%s%s", i ? " " : "",
			 keys[i] + strlen("default/"));
	return w->text;
}

static const char *
by_user(struct reader_world *w, const char *user)
{
	struct informer_iter it;
	int r = informer_by_index(&w->snap, w->pods, "byUser", user, strlen(user), &it);

	return keys_of(w, r, &it);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* The object is found once under each new value, and no other. [IndexingFunctionsWithMultipleValues] */
TEST(an_update_moves_an_object_to_its_new_values)
{
	static const char *const rounds[] = {"foo,bar",     "foo,bar", "foo",         "bar",    "",
					     "foo,bar,baz", "baz,foo", "bar,bar,bar", "foo,foo"};
	static const char *const values[] = {"foo", "bar", "baz"};
	uint64_t count;

	put(w, "other", "foo", 1);
	for (unsigned i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		put(w, "key", rounds[i], i + 1);
		for (unsigned k = 0; k < 3; k++) {
			bool has = strstr(rounds[i], values[k]) != NULL;

			assert_string_equal(by_user(w, values[k]), k == 0 ? has ? "key other" : "other"
								   : has  ? "key"
									  : "");
			assert_int_equal(
				informer_count_by_index(&w->snap, w->pods, "byUser", values[k], 3, &count),
				0);
			assert_int_equal(count, (k == 0) + has);
		}
	}
}

/* An iteration sees the moment at which its snapshot began, whatever is put and deleted meanwhile. */
TEST(an_iteration_sees_one_moment)
{
	struct informer_object object;
	struct informer_snapshot old;
	struct informer_iter it;
	int count = 0;

	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		put(w, name, "all", 1);
	}
	assert_int_equal(informer_begin(w->inf, &old), 0);
	assert_int_equal(informer_by_index(&old, w->pods, "byUser", "all", 3, &it), 0);
	while (informer_next(&it, &object) > 0) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", count++);
		if (count % 2)
			delete(w, name);
		else
			put(w, name, "none", 2);
	}
	assert_int_equal(count, 20);
	informer_end(&old);
	assert_string_equal(by_user(w, "all"), "");
}

/* ---- by prefix ---- */

#define IMAGE(name, ids)                                                                                     \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\"},\"spec\":{\"ids\":[" ids "]}}"

static const struct kind_fixture images = {
	.group = "example.org",
	.resource = "images",
	.kind = "Image",
	.indexes = "{\"name\":\"whole\",\"rules\":[{\"path\":\"spec.ids[*]\",\"as\":\"string\"}]},"
		   "{\"name\":\"cut\",\"prefix\":3,\"rules\":[{\"path\":\"spec.ids[*]\",\"as\":\"string\"}]}",
	.objects = {IMAGE("a", "\"abcd\",\"x\""), IMAGE("b", "\"abcde\",\"abcx\""),
		    IMAGE("c", "\"abc\",\"lone-1\"")},
};

static int
set_up_images(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	kind_fixture_add(fx, &images);
	broker_fixture_start(fx);
	*state = w = reader_world_over(fx, "images", INFORMER_VERIFY);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	return 0;
}

#define TEST_IMAGES(name) TEST_CASE_OF(struct reader_world *w, set_up_images, reader_world_tear_down, name)

static const char *
by_prefix(struct reader_world *w, const char *prefix)
{
	struct informer_iter it;
	int r = informer_by_index_prefix(&w->snap, w->pods, "cut", prefix, strlen(prefix), &it);

	return keys_of(w, r, &it);
}

/* The names of the objects that have this value, by the index of cut values; their count must agree. */
static const char *
by_value(struct reader_world *w, const char *value)
{
	struct informer_iter it;
	uint64_t count;
	int r = informer_by_index(&w->snap, w->pods, "cut", value, strlen(value), &it);
	const char *names = keys_of(w, r, &it);

	assert_int_equal(
		informer_count_by_index(&w->snap, w->pods, "cut", value, strlen(value), &count), 0);
	assert_int_equal(count, (strlen(names) + 1) / 2);
	return names;
}

TEST_IMAGES(a_prefix_gives_the_objects_with_values_that_begin_so)
{
	assert_string_equal(by_prefix(w, "abc"), "a b c");
	assert_string_equal(by_prefix(w, "abcd"), "a b");
	assert_string_equal(by_prefix(w, "abcde"), "b");
	assert_string_equal(by_prefix(w, "abcdef"), "");
	assert_string_equal(by_prefix(w, "lon"), "c");
	assert_string_equal(by_prefix(w, "lone-"), "c");
	assert_string_equal(by_prefix(w, "lone-2"), "");
	assert_string_equal(by_prefix(w, "xyz"), "");
}

/* Whole values are found as in an index of whole values. */
TEST_IMAGES(an_index_of_cut_values_gives_the_objects_of_a_whole_value)
{
	assert_string_equal(by_value(w, "abcd"), "a");
	assert_string_equal(by_value(w, "abcde"), "b");
	assert_string_equal(by_value(w, "abc"), "c");
	assert_string_equal(by_value(w, "abcx"), "b");
	assert_string_equal(by_value(w, "abcy"), "");
	assert_string_equal(by_value(w, "lone-1"), "c");
	assert_string_equal(by_value(w, "lone"), "");
	assert_string_equal(by_value(w, "x"), "a");
	assert_string_equal(by_value(w, "ab"), "");
	assert_string_equal(by_value(w, ""), "");
}

/* A deleted object is not among those of a prefix. */
TEST_IMAGES(a_prefix_gives_no_deleted_object)
{
	delete (w, "b");
	assert_string_equal(by_prefix(w, "abc"), "a c");
	assert_string_equal(by_prefix(w, "abcd"), "a");
	assert_string_equal(by_prefix(w, "abcde"), "");
}

/* The expected sentence says what to change. */
static void
assert_refused(struct reader_world *w, const char *index, const char *prefix, int code, const char *sentence)
{
	struct informer_iter it;
	char text[256];

	assert_int_equal(
		informer_by_index_prefix(&w->snap, w->pods, index, prefix, prefix ? strlen(prefix) : 0, &it),
		code);
	informer_error_text(code, text, sizeof(text));
	if (!strstr(text, sentence))
		fail_msg("%s", text);
}

TEST_IMAGES(a_prefix_that_cannot_be_searched_is_refused)
{
	assert_refused(w, "cut", "ab", -EINVAL, "'cut' is searched by prefixes of 3 bytes or more");
	assert_refused(w, "cut", "", -EINVAL, "3 bytes or more");
	assert_refused(w, "whole", "abc", INFORMER_E_NO_INDEX, "--index NAME=RESOURCE:PATH:prefix=");
	assert_refused(w, "none", "abc", INFORMER_E_NO_INDEX, "");
	assert_refused(w, "cut", NULL, -EINVAL, "");
	assert_refused(w, NULL, "abc", -EINVAL, "");
}
