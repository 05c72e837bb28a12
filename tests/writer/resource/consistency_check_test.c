/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of a resource with the server: its requests, its findings, and when it has no finding. */
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/resource/consistency_check.h"

struct checked {
	struct source_fixture *fx;
	struct consistency_check *check;
	char said[8192]; /* "missing 1, extra 0, different 2 of 3; name; name", or why there is no finding */
};

static void
on_done(void *context, const struct consistency_result *result)
{
	struct checked *t = context;
	int at;

	if (result->inconclusive) {
		snprintf(t->said, sizeof(t->said), "inconclusive: %s", result->inconclusive);
	} else {
		at = snprintf(t->said, sizeof(t->said), "missing %d, extra %d, different %d of %d",
			      (int)result->missing, (int)result->extra, (int)result->different,
			      (int)result->objects);
		for (size_t i = 0; i < result->name_count; i++)
			at += snprintf(t->said + at, sizeof(t->said) - (size_t)at, "; %s", result->names[i]);
	}
	consistency_check_free(t->check);
	t->check = NULL;
}

static void
start(struct checked *t)
{
	assert_int_equal(consistency_check_start(&t->fx->lister_watcher, t->fx->store->store,
						 &t->fx->store->pods, on_done, t, &t->check),
			 0);
}

/* Pods a/x@5, a/y@7, a/z@9, at resourceVersion 10. */
static int
set_up(void **state)
{
	struct checked *t = calloc(1, sizeof(*t));
	static const char *const keys[] = {"a/x", "a/y", "a/z"};

	if (!t)
		return -1;
	t->fx = source_fixture_new(0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(store_fixture_put(t->fx->store, pod(keys[i], 5 + 2 * i)), 0);
	store_set_version(t->fx->store->store, t->fx->store->pods, "10", 2);
	store_set_state(t->fx->store->store, t->fx->store->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(t->fx->store->store), 0);
	start(t);
	*state = t;
	return 0;
}

static void
end_world(struct checked *t)
{
	consistency_check_free(t->check);
	source_fixture_free(t->fx);
	free(t);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct checked *t, set_up, tear_down, name)

/* The check lists exactly the cache's version, page by page. Equal states are no finding. */
TEST(the_check_lists_the_caches_version)
{
	assert_string_equal(diary(t->fx), "LIST rv=10 match=Exact limit=500; ");
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/x", 5), pod("a/y", 7), NULL));
	assert_string_equal(t->said, "");
	assert_string_equal(diary(t->fx), "LIST continue=more limit=500; ");
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 7), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 0, different 0 of 3");
}

/* Objects that one side lacks, or that differ, are counted and named. */
TEST(differences_are_counted_and_named)
{
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 8), pod("a/new", 6), NULL));
	assert_non_null(strstr(t->said, "missing 1, extra 1, different 1 of 3; "));
	assert_non_null(strstr(
		t->said, "; a/y is another state: the server has it with UID uid-a/y, resourceVersion 8"));
	assert_non_null(strstr(
		t->said, "; a/new is missing: the server has it with UID uid-a/new, resourceVersion 6"));
	assert_non_null(strstr(t->said, "; a/z is too much: the server does not have it"));
}

/* A wrong state is found, though the object changed during the check. */
TEST(a_wrong_state_is_found_though_it_changed_later)
{
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/x", 11)), 0);
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 6), pod("a/y", 8), pod("a/z", 9), NULL));
	assert_non_null(strstr(t->said, "missing 0, extra 0, different 2 of 3; a/x is another state"));
}

/* An object of the same name with another UID is another object. */
TEST(another_uid_is_another_state)
{
	server_answer(t->fx, 200,
		      pod_list("10", NULL, pod("a/x", 5), pod("a/y", 7),
			       "{\"metadata\":{\"name\":\"z\",\"namespace\":\"a\",\"uid\":\"other\","
			       "\"resourceVersion\":\"9\"}}",
			       NULL));
	assert_string_equal(t->said, "missing 0, extra 0, different 1 of 3; a/z is another state: the server "
				     "has it with UID other, resourceVersion 9");
}

/* The first ten differences are named. An object on two pages counts once. */
TEST(ten_differences_are_named_and_each_counts_once)
{
	static char text[8192];
	int at = 0, names = 0;

	for (unsigned i = 0; i < 12; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s", i ? "," : "", pod("a/x", 6));
	for (unsigned i = 0; i < 12; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b/n%u", i);
		at += snprintf(text + at, sizeof(text) - (size_t)at, ",%s", pod(key, 6));
	}
	server_answer(t->fx, 200, pod_list("10", NULL, text, NULL));
	assert_int_equal(strncmp(t->said, "missing 12, extra 2, different 1 of 13; ", 40), 0);
	for (const char *c = t->said; (c = strstr(c, "; ")); c++)
		names++;
	assert_int_equal(names, 10);
}

/* The check uses private memory, and none of the arena. */
TEST(the_arena_is_unchanged)
{
	struct store_stats before, after;

	store_stats(t->fx->store->store, &before);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/other", 5), pod("a/y", 7), NULL));
	store_stats(t->fx->store->store, &after);
	assert_non_null(strstr(t->said, "missing 1, extra 2"));
	assert_int_equal(before.used_bytes, after.used_bytes);
	assert_int_equal(before.free_bytes, after.free_bytes);
	assert_int_equal(before.shared_blocks, after.shared_blocks);
}

/* A page of 4 MiB is read; a longer page is refused. */
TEST(a_page_is_bounded)
{
	static const char head[] = "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]";
	const size_t max = 4u << 20, chunk = 65536;
	char *blank = malloc(chunk);

	assert_non_null(blank);
	memset(blank, ' ', chunk);
	for (unsigned more = 0; more < 2; more++) {
		size_t left = max - sizeof(head) + more;

		if (more)
			start(t);
		server_open(t->fx);
		server_send(t->fx, "%s", head);
		for (size_t n; left > 0; left -= n) {
			n = left < chunk ? left : chunk;
			assert_true(server_send_bytes(t->fx, blank, n));
		}
		server_send(t->fx, "}");
		if (!more)
			server_end(t->fx, 0);
		assert_non_null(strstr(t->said, more ? "a page of the list is too long" : "extra 3"));
	}
	free(blank);
}

/* Pages that repeat their token are refused. */
TEST(a_list_without_an_end_is_no_finding)
{
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/x", 5), NULL));
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/y", 7), NULL));
	assert_string_equal(t->said, "inconclusive: it has no end");
}

/* The cache may change during the check: its state at the start of the check is compared. */
TEST(changes_during_the_check_are_no_difference)
{
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/x", 11)), 0);
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/later", 12)), 0);
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 7), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 0, different 0 of 3");
}

/* Extra objects that were deleted during the check count, without a name. */
TEST(objects_deleted_meanwhile_count_without_a_name)
{
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 1, different 0 of 2");
}

/*
 * A list without items may have null items. A list of another version, an answer that is no list or is cut,
 * and an error are no finding.
 */
TEST(only_a_whole_list_of_the_version_is_a_finding)
{
#define LIST_AT(version, items)                                                                              \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":" items
	static const struct {
		int status;
		const char *body, *said;
	} cases[] = {
		{200, LIST_AT("10", "null}"), "missing 0, extra 3, different 0 of 0; "},
		{200, LIST_AT("11", "[]}"),
		 "inconclusive: it is not of the resourceVersion that was asked for"},
		{200, "{\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"10\"}}",
		 "inconclusive: it is no list"},
		{410, "{\"kind\":\"Status\",\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410}",
		 "inconclusive: the server answered 410 for a page of the list: too old"},
		{200, LIST_AT("10", "[{\"metadata\":{\"uid\":\"u\"}}]}"),
		 "inconclusive: it has items that cannot be read"},
		{200, LIST_AT("10", "["), "inconclusive: what it says of a page of the list is no JSON"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (i > 0)
			start(t);
		server_answer(t->fx, cases[i].status, cases[i].body);
		if (strncmp(t->said, cases[i].said, strlen(cases[i].said)) != 0)
			fail_msg("%s: %s", cases[i].body, t->said);
	}
}
