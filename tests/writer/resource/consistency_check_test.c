/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of a resource with the server: what it asks for, what it finds, and when it says nothing.
 */
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/resource/consistency_check.h"

struct checked {
	struct source_fixture *fx;
	struct consistency_check *check;
	char said[8192]; /* "missing 1, extra 0, different 2 of 3; name; name" or why it says nothing */
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

static int
tear_down(void **state)
{
	struct checked *t = *state;

	consistency_check_free(t->check);
	source_fixture_free(t->fx);
	free(t);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct checked *t, set_up, tear_down, name)

/* It asks for exactly the version at which the cache stands, page by page; equal states say nothing. */
TEST(it_asks_for_just_this_version)
{
	assert_string_equal(diary(t->fx), "LIST rv=10 match=Exact limit=500; ");
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/x", 5), pod("a/y", 7), NULL));
	assert_string_equal(t->said, "");
	assert_string_equal(diary(t->fx), "LIST continue=more limit=500; ");
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 7), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 0, different 0 of 3");
}

/* What one side lacks, and what both have in another state, is counted and named. */
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

/* What it finds when the cache changes meanwhile: a wrong state is one, though another came since. */
TEST(a_state_that_was_wrong_is_found_though_it_changed_since)
{
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/x", 11)), 0);
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 6), pod("a/y", 8), pod("a/z", 9), NULL));
	assert_non_null(strstr(t->said, "missing 0, extra 0, different 2 of 3; a/x is another state"));
}

/* The same name under another UID is another object. */
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

/* The first ten differences are named; an object that two pages have counts once. */
TEST(ten_are_named_and_each_counts_once)
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

/* It takes nothing of the arena: no draft, no text. What it asks for is private memory. */
TEST(the_arena_stays_as_it_is)
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

/* A page of 4 MiB is read, a longer one is not. */
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

/* Pages that say the same token again and again have no end. */
TEST(a_list_without_an_end_says_nothing)
{
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/x", 5), NULL));
	server_answer(t->fx, 200, pod_list("10", "more", pod("a/y", 7), NULL));
	assert_string_equal(t->said, "inconclusive: it has no end");
}

/* The cache goes on meanwhile: what it was when the check began is compared. */
TEST(what_comes_meanwhile_is_no_difference)
{
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/x", 11)), 0);
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/later", 12)), 0);
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 7), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 0, different 0 of 3");
}

/* Extra objects that went meanwhile count, and have no name any more. */
TEST(what_went_meanwhile_counts_without_a_name)
{
	assert_int_equal(store_fixture_delete(t->fx->store, "a", "y"), 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/z", 9), NULL));
	assert_string_equal(t->said, "missing 0, extra 1, different 0 of 2");
}

/*
 * A list without items may say null. A list of another version, an answer that is no list or breaks off, and
 * an error say nothing of differences.
 */
TEST(what_an_answer_says)
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
