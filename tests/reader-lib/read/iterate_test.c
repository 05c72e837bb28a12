/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index iterations while objects change. (lookup_test.c and tests/writer/store test that objects put are
 * found.)
 */
#include "tests/room.h"
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
