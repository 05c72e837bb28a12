/*
 * The Reflector between a scripted server and a real store: which requests it makes, when, and what readers see. Time is
 * virtual. Behaviours of client-go's reflector_test.go and pager_test.go carry its names in brackets.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/reflector_fixture.h"
#include "writer/backoff.h"
#include "writer/watch.h"

static int
set_up(void **state)
{
	*state = reflector_fixture_new(NULL);
	return 0;
}

static int
tear_down(void **state)
{
	return reflector_fixture_free(*state);
}

/* Listed a/x at RV 5, list at 10, watching from there. */
static void
start_watching(struct reflector_fixture *t)
{
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	server_open(t->fx);
	assert_string_equal(seen(t), "[10] a/x@5 ");
	diary(t->fx);
}

/* ---- the straight way ---------------------------------------------------------- */

/* The first LIST asks for pages of 500 at RV 0, the WATCH goes on from the list's RV. */
static void
lists_then_watches_from_the_lists_version(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 7), NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; WATCH rv=10; ");
	assert_string_equal(seen(t), "[10] a/x@5 a/y@7 ");
	assert_int_equal(status_of(t).state, REFLECTOR_WATCHING);
}

/* Events become changes, each with its RV; the published RV is that of the last one. */
static void
events_change_what_is_published(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	server_send(t->fx, EVENT("MODIFIED", pod("a/x", 12)));
	assert_string_equal(seen(t), "[12] a/x@12 a/y@11 ");
	server_send(t->fx, EVENT("DELETED", pod("a/y", 13)));
	assert_string_equal(seen(t), "[13] a/x@12 ");
	assert_int_equal(status_of(t).events, 3);
}

/* A MODIFIED of an unknown key is an add, an ADDED of a known one an update, a DELETED of an unknown one nothing. */
static void
an_events_type_need_not_fit_what_is_known(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("MODIFIED", pod("a/new", 11)));
	server_send(t->fx, EVENT("ADDED", pod("a/x", 12)));
	server_send(t->fx, EVENT("DELETED", pod("a/never", 13)));
	assert_string_equal(seen(t), "[13] a/new@11 a/x@12 ");
}

/* A bookmark moves the RV and nothing else, in its order among the events. [StoreResourceVersion] */
static void
a_bookmark_moves_the_version_only(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, BOOKMARK, 20);
	assert_string_equal(seen(t), "[20] a/x@5 ");
	assert_int_equal(status_of(t).bookmarks, 1);
	server_end(t->fx, 0);
	virtual_clock_advance(&t->fx->clock, 1000);
	server_open(t->fx);
	assert_string_equal(diary(t->fx), "WATCH rv=20; ");
}

/* An event's fields may come in any order, and its bytes in any pieces. */
static void
fields_in_any_order_and_bytes_in_any_pieces(void **state)
{
	struct reflector_fixture *t = *state;
	char event[700];

	start_watching(t);
	snprintf(event, sizeof(event), "{\"object\":%s,\"type\":\"ADDED\"}\n", pod("a/y", 11));
	for (const char *c = event; *c; c++)
		server_send(t->fx, "%c", *c);
	assert_string_equal(seen(t), "[11] a/x@5 a/y@11 ");
}

/* A watch asks for 300 to 600 seconds. */
static void
a_watch_lasts_five_to_ten_minutes(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	assert_int_equal(server_request(t->fx)->timeout_s, 300);
	t->fx->clock.chance = 1000000;
	virtual_clock_advance(&t->fx->clock, 2000);
	server_end(t->fx, 0);
	assert_int_equal(server_request(t->fx)->timeout_s, 599);
}

/* Bytes from the server are noted, so that readers can tell the content's age. */
static void
every_answer_is_a_sign_of_life(void **state)
{
	struct reflector_fixture *t = *state;
	unsigned before;

	start_watching(t);
	before = t->fx->contacts;
	server_send(t->fx, BOOKMARK, 11);
	assert_true(t->fx->contacts > before);
}

/* ---- LIST: pages, failures ------------------------------------------------------- */

/* Pages are followed by token alone; the list has its first page's RV and is published whole. [ListPager_List] */
static void
pages_are_followed_and_published_together(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", "tok/1=", pod("a/x", 5), NULL));
	assert_string_equal(seen(t), "[-] ");
	assert_int_equal(status_of(t).list_items, 1);
	assert_int_equal(status_of(t).list_remaining, 1);
	server_answer(t->fx, 200, pod_list("11", "tok2", pod("a/y", 6), NULL));
	server_answer(t->fx, 200, pod_list("12", NULL, pod("a/z", 7), NULL));
	assert_string_equal(diary(t->fx),
			    "LIST rv=0 limit=500; LIST continue=tok/1= limit=500; LIST continue=tok2 limit=500; WATCH rv=10; ");
	assert_string_equal(seen(t), "[10] a/x@5 a/y@6 a/z@7 ");
}

/* 410 on a later page: one full list without limit at the first request's RV, whose RV counts. [ListPager_List, fallback] */
static void
an_expired_token_lists_again_in_one_piece(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", "tok", pod("a/x", 5), NULL));
	server_answer(t->fx, 410, EXPIRED);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/y", 15), NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; LIST continue=tok limit=500; LIST rv=0; WATCH rv=20; ");
	assert_string_equal(seen(t), "[20] a/y@15 ");
}

/* A list that fails, however far it came, changes nothing and leaves no block behind; the next one counts. [ListAndWatchWithErrors] */
static void
a_list_that_fails_changes_nothing(void **state)
{
	struct reflector_fixture *t = *state;
	const char *list;
	struct store_stats before, after;

	start_watching(t);
	list = pod_list("30", NULL, pod("a/x", 25), pod("a/y", 26), NULL);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	store_stats(t->fx->store->store, &before);
	for (size_t cut = 100; cut < strlen(list) - 2; cut += 50) {
		server_open(t->fx);
		server_send(t->fx, "%.*s", (int)cut, list);
		server_end(t->fx, -ECONNRESET);
		assert_string_equal(seen(t), "[10] a/x@5 ");
		assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
		virtual_clock_advance(&t->fx->clock, 60000);
	}
	store_stats(t->fx->store->store, &after);
	assert_in_range(after.used_bytes, 0, before.used_bytes + 4096);
	server_answer(t->fx, 200, list);
	assert_string_equal(seen(t), "[30] a/x@25 a/y@26 ");
}

/* A list cut off behind its last item by a server that ends in good order is not taken for a whole one. */
static void
a_list_without_its_end_is_not_taken_for_whole(void **state)
{
	struct reflector_fixture *t = *state;
	const char *list = pod_list("30", NULL, pod("a/x", 25), NULL);

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, "%.*s", (int)strlen(list) - 3, list);
	server_end(t->fx, 0);
	assert_string_equal(seen(t), "[-] ");
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
}

/* An answer that is no list (a proxy's {}) is not taken for an empty one, which would delete everything. */
static void
an_answer_that_is_no_list_deletes_nothing(void **state)
{
	static const char *const answers[] = { "{}", "[]", "", "<html>hello</html>", "{\"metadata\":{\"resourceVersion\":\"\"},\"items\":[]}",
		"{\"kind\":\"Status\",\"status\":\"Success\"}", "null",
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"20\"}}", "{\"metadata\":{\"resourceVersion\":\"20\"}}",
		"{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"20\"},\"items\":[]}" };
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		virtual_clock_advance(&t->fx->clock, 60000);
		server_answer(t->fx, 200, answers[i]);
		assert_string_equal(seen(t), "[10] a/x@5 ");
		assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
		assert_string_not_equal(status_of(t).last_error, "");
	}
}

/* A custom resource's list may have a kind of its own, but not that of a single object. */
static void
a_custom_list_may_be_called_anything(void **state)
{
	struct reflector_fixture *t = *state;

	t->fx->feed.custom = true;
	reflector_free(t->reflector);
	t->reflector = reflector_new(&(struct reflector_options){ .feed = &t->fx->feed });
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
	assert_string_equal(seen(t), "[-] ");
	assert_string_equal(status_of(t).last_error, "LIST failed: the answer is a Pod, not a PodList");
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, "{\"kind\":\"Pods\",\"metadata\":{\"resourceVersion\":\"8\"},\"items\":[]}");
	assert_string_equal(seen(t), "[8] ");
}

/* A continue token that leads to itself ends the list with an error instead of going round for ever. */
static void
pages_that_never_end_are_an_error(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("20", "again", pod("a/y", 15), NULL));
	server_answer(t->fx, 200, pod_list("20", "again", pod("a/y", 15), NULL));
	assert_string_equal(status_of(t).last_error, "LIST failed: the server gives the same continue token again and again");
	assert_string_equal(seen(t), "[10] a/x@5 ");
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
}

/* A later list publishes differences: what is unchanged stays, what is missing goes. */
static void
a_later_list_publishes_differences(void **state)
{
	struct reflector_fixture *t = *state;
	uint64_t seq;
	struct store_stats stats;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	seen(t);
	store_stats(t->fx->store->store, &stats);
	seq = stats.seq;
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 5), pod("a/z", 15), NULL));
	assert_string_equal(seen(t), "[20] a/x@5 a/z@15 ");
	store_stats(t->fx->store->store, &stats);
	assert_int_equal(stats.seq, seq + 2);
}

/* An empty list is a list. */
static void
an_empty_list_is_a_list(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[]}\n");
	assert_string_equal(seen(t), "[9] ");
}

/* An item without a name is left out and counted; the others are kept. */
static void
an_item_without_a_name_is_left_out(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), "{\"metadata\":{}}", "42", pod("a/y", 6), NULL));
	assert_string_equal(seen(t), "[10] a/x@5 a/y@6 ");
	assert_int_equal(status_of(t).bad_events, 2);
}

/*
 * Which RV a LIST asks for over a session in which lists fail with 410 and "too large": 0, 20, "", 30, "", 40, "".
 * [ExpiredExactResourceVersion, FullListIfExpired, FullListIfTooLarge]
 */
static void
the_versions_that_lists_ask_for(void **state)
{
	struct reflector_fixture *t = *state;
	const char *failures[] = { EXPIRED, TOO_LARGE, EXPIRED };
	int codes[] = { 410, 504, 410 };
	char version[8];

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("20", NULL, NULL));
	for (unsigned i = 0; i < 3; i++) {
		server_open(t->fx);
		server_send(t->fx, ERROR_EVENT(EXPIRED));
		virtual_clock_advance(&t->fx->clock, 200000);
		server_answer(t->fx, codes[i], failures[i]);
		snprintf(version, sizeof(version), "%u", 30 + 10 * i);
		server_answer(t->fx, 200, pod_list(version, NULL, NULL));
	}
	assert_string_equal(diary(t->fx),
			    "LIST rv=0 limit=500; WATCH rv=20; LIST rv=20; LIST rv=\"\" limit=500; WATCH rv=30; LIST rv=30; "
			    "LIST rv=\"\" limit=500; WATCH rv=40; LIST rv=40; LIST rv=\"\" limit=500; WATCH rv=50; ");
}

/* When the list at "" is expired as well, one waits before the next. */
static void
a_second_410_waits(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 410, EXPIRED);
	server_answer(t->fx, 410, EXPIRED);
	assert_false(server_has_request(t->fx));
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; LIST rv=\"\" limit=500; LIST rv=\"\" limit=500; ");
}

/* A server that pages at RV 0 pages at explicit RVs from then on. [PaginatingNonConsistentReadsIfWatchCacheDisabled] */
static void
once_paginated_always_paginated(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", "tok", pod("a/x", 5), NULL));
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 6), NULL));
	diary(t->fx);
	server_open(t->fx);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=10 limit=500; ");
}

/* ---- WATCH: how it ends ------------------------------------------------------------ */

/* A clean end: again at once, from the last RV, without a LIST. [WatchTimeout] */
static void
a_clean_end_watches_again_at_once(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 17)));
	server_end(t->fx, 0);
	assert_string_equal(diary(t->fx), "WATCH rv=17; ");
	virtual_clock_advance(&t->fx->clock, 5000);
	server_open(t->fx);
	server_end(t->fx, 0);
	assert_string_equal(diary(t->fx), "WATCH rv=17; ");
	assert_string_equal(status_of(t).last_error, "");
}

/* An end within a second and without an event: back off, then watch again; never a LIST. */
static void
a_watch_that_ends_at_once_backs_off(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_end(t->fx, 0);
	assert_false(server_has_request(t->fx));
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	virtual_clock_advance(&t->fx->clock, 799);
	assert_string_equal(diary(t->fx), "");
	virtual_clock_advance(&t->fx->clock, 1);
	assert_string_equal(diary(t->fx), "WATCH rv=10; ");
}

/* 410 in the stream, or instead of it: list again, after a wait that keeps a thousand nodes apart. */
static void
gone_410_lists_again(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 15), NULL));
	server_answer(t->fx, 410, EXPIRED);
	virtual_clock_advance(&t->fx->clock, 4000);
	assert_string_equal(diary(t->fx), "WATCH rv=20; LIST rv=20; ");
	assert_string_equal(seen(t), "[20] a/x@15 ");
}

/* Each list is counted by what made it necessary: the first one by the start, the others by how what went before ended. */
static void
lists_are_counted_by_their_reason(void **state)
{
	struct reflector_fixture *t = *state;
	struct reflector_status status;

	start_watching(t);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 500, INTERNAL);
	virtual_clock_advance(&t->fx->clock, 4000);
	status = status_of(t);
	assert_int_equal(status.lists, 3);
	assert_int_equal(status.lists_for[OUTCOME_OK], 1);
	assert_int_equal(status.lists_for[OUTCOME_EXPIRED], 1);
	assert_int_equal(status.lists_for[OUTCOME_FAILED], 1);
	assert_string_equal(outcome_name(OUTCOME_EXPIRED), "expired");
}

/* Refused connections, 429, 500, broken streams: watch again from the last RV, never a LIST. [NoRelistOnTooManyRequests, InitConnBackoff] */
static void
other_failures_watch_again(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_end(t->fx, -ECONNREFUSED);
	virtual_clock_advance(&t->fx->clock, 31000);
	server_answer(t->fx, 429, THROTTLED);
	virtual_clock_advance(&t->fx->clock, 31000);
	server_answer(t->fx, 500, INTERNAL);
	virtual_clock_advance(&t->fx->clock, 31000);
	server_open(t->fx);
	server_send(t->fx, ERROR_EVENT(THROTTLED));
	virtual_clock_advance(&t->fx->clock, 31000);
	server_answer(t->fx, 503, "upstream connect error");
	virtual_clock_advance(&t->fx->clock, 31000);
	assert_string_equal(diary(t->fx),
			    "WATCH rv=10; WATCH rv=10; WATCH rv=10; WATCH rv=10; WATCH rv=10; ");
	assert_int_equal(status_of(t).lists, 1);
}

/* 500s in the stream: watched again for 30 s, then listed. [RetryInternalError] */
static void
internal_errors_in_the_stream_are_waited_out_then_listed(void **state)
{
	struct reflector_fixture *t = *state;
	uint64_t start = t->fx->clock.now;

	start_watching(t);
	for (unsigned i = 0; i < 6; i++) {
		server_send(t->fx, ERROR_EVENT(INTERNAL));
		virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
		server_open(t->fx);
	}
	/* after 0.8 + 1.6 + 3.2 + 6.4 + 12.8 s it is still watched, 25.6 s later no more */
	assert_string_equal(diary(t->fx), "WATCH rv=10; WATCH rv=10; WATCH rv=10; WATCH rv=10; WATCH rv=10; WATCH rv=10; ");
	server_send(t->fx, ERROR_EVENT(INTERNAL));
	virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	assert_true(t->fx->clock.now - start > 30000);
}

/* An event between two 500s begins a new 30 s. */
static void
an_event_between_internal_errors_ends_the_count(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	for (unsigned i = 11; i < 31; i++) {
		server_send(t->fx, EVENT("ADDED", pod("a/y", i)));
		server_send(t->fx, ERROR_EVENT(INTERNAL));
		virtual_clock_advance(&t->fx->clock, 60000);
		server_open(t->fx);
	}
	assert_int_equal(status_of(t).lists, 1);
}

/* Any other ERROR event lists again, after a wait; so does an RV that is too large, at the latest. */
static void
other_errors_in_the_stream_list_again(void **state)
{
	static const struct { const char *event, *then; } cases[] = {
		{ ERROR_EVENT(FORBIDDEN), "LIST rv=10; " },
		{ ERROR_EVENT("{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"etcd\",\"reason\":\"ServiceUnavailable\",\"code\":503}"),
		  "LIST rv=10; " },
		{ ERROR_EVENT("{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"?\"}"), "LIST rv=10; " },
		{ ERROR_EVENT(TOO_LARGE), "LIST rv=\"\" limit=500; " },
	};
	struct reflector_fixture *t = *state;

	start_watching(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		server_send(t->fx, "%s", cases[i].event);
		assert_false(server_has_request(t->fx));
		virtual_clock_advance(&t->fx->clock, 31000);
		assert_string_equal(diary(t->fx), cases[i].then);
		server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
		server_open(t->fx);
		diary(t->fx);
	}
}

/* Broken off in the middle of an event: it was not heard, and comes again. */
static void
an_event_cut_off_comes_again(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	server_send(t->fx, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"12\"");
	server_end(t->fx, -ECONNRESET);
	assert_string_equal(seen(t), "[11] a/x@5 a/y@11 ");
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=11; ");
	server_open(t->fx);
	server_send(t->fx, EVENT("MODIFIED", pod("a/x", 12)));
	assert_string_equal(seen(t), "[12] a/x@12 a/y@11 ");
}

/* The same where the server ends the stream in good order there. */
static void
a_clean_end_inside_an_event_loses_nothing(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\"");
	server_end(t->fx, 0);
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=10; ");
}

/* Bytes that are no JSON: the event comes again with the next watch; broken there, too, a LIST goes around it. */
static void
a_broken_line_is_watched_again_then_listed(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	server_send(t->fx, "{\"type\":\"ADDED\",\"object\":{]}\n");
	assert_string_equal(seen(t), "[11] a/x@5 a/y@11 ");
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=11; ");
	server_open(t->fx);
	server_send(t->fx, "{\"type\":\"ADDED\",\"object\":{]}\n");
	virtual_clock_advance(&t->fx->clock, 4000);
	assert_string_equal(diary(t->fx), "LIST rv=11; ");
	assert_int_equal(status_of(t).bad_events, 2);
}

/* An event that does not fit comes again with the next watch; when it still does not, a LIST goes around it: what makes room may stand behind it. */
static void
an_event_that_does_not_fit_is_watched_again_then_listed(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	arena_fail_after(t->fx->store->arena, 0);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	assert_non_null(strstr(status_of(t).last_error, "the arena is full"));
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=10; ");
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	virtual_clock_advance(&t->fx->clock, 4000);
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	arena_fail_after(t->fx->store->arena, UINT64_MAX);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/z", 15), NULL));
	assert_string_equal(seen(t), "[20] a/z@15 ");
}

/* An event whose object cannot be kept is not skipped: its RV does not move, and one lists. */
static void
an_event_that_cannot_be_kept_lists_again(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	server_send(t->fx, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n");
	assert_string_equal(seen(t), "[11] a/x@5 a/y@11 ");
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=11; ");
	assert_int_equal(status_of(t).bad_events, 1);
}

/* An event without an RV, too: nobody could go on from it. */
static void
an_event_without_a_version_lists_again(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"}}}\n");
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	assert_string_equal(seen(t), "[10] a/x@5 ");
}

/* An event of an unknown type moves nothing and ends nothing. */
static void
an_unknown_type_is_ignored(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("RENAMED", pod("a/y", 11)));
	server_send(t->fx, EVENT("ADDED", pod("a/z", 12)));
	assert_string_equal(seen(t), "[12] a/x@5 a/z@12 ");
}

/* ---- refusals, backoff ----------------------------------------------------------------- */

/* 403: refused, with the rule to add, and tried again. */
static void
a_forbidden_list_names_the_rule_and_is_tried_again(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 403, FORBIDDEN);
	assert_int_equal(status_of(t).state, REFLECTOR_REFUSED);
	assert_int_equal(status_of(t).last_code, 403);
	assert_string_equal(status_of(t).last_reason, "Forbidden");
	assert_non_null(strstr(status_of(t).last_error, "pods is forbidden"));
	assert_non_null(strstr(status_of(t).last_error, "grant informerd this RBAC rule"));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	server_open(t->fx);
	assert_string_equal(seen(t), "[10] a/x@5 ");
	assert_string_equal(status_of(t).last_error, "");
	assert_int_equal(status_of(t).state, REFLECTOR_WATCHING);
}

/* A watch that is forbidden later keeps what is known, and is tried again as a watch. */
static void
a_forbidden_watch_keeps_what_is_known(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	virtual_clock_advance(&t->fx->clock, 5000);
	server_end(t->fx, 0);
	server_answer(t->fx, 403, FORBIDDEN);
	assert_int_equal(status_of(t).state, REFLECTOR_REFUSED);
	assert_string_equal(seen(t), "[10] a/x@5 ");
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=10; WATCH rv=10; ");
}

/* The waits double from 0.8 s to 30 s. */
static void
failures_wait_longer_and_longer(void **state)
{
	static const uint64_t waits[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		server_end(t->fx, -ECONNREFUSED);
		assert_int_equal(virtual_clock_next(&t->fx->clock), waits[i]);
		virtual_clock_advance(&t->fx->clock, waits[i]);
	}
}

/* Retry-After is honoured. */
static void
retry_after_is_honoured(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer_retry_after(t->fx, 429, THROTTLED, 17);
	assert_int_equal(virtual_clock_next(&t->fx->clock), 17000);
}

/* A request that cannot even be made is tried again. */
static void
a_request_that_cannot_be_made_is_tried_again(void **state)
{
	struct reflector_fixture *t = *state;

	t->fx->refuse = -ENOMEM;
	reflector_start(t->reflector, "", 0);
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	t->fx->refuse = 0;
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("10", NULL, NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; WATCH rv=10; ");
}

/* ---- going on from a stored RV ------------------------------------------------------------ */

/* With content that stands at a known RV one watches from there: no LIST. */
static void
a_stored_version_needs_no_list(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "41", 2);
	assert_string_equal(diary(t->fx), "WATCH rv=41; ");
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 42)));
	assert_string_equal(seen(t), "[42] a/y@42 ");
}

/* Silence of 90 s: the server is asked whether it knows the RV; when it does, the watch goes on. */
static void
silence_asks_and_goes_on_when_the_version_is_known(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "41", 2);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 89999);
	assert_string_equal(diary(t->fx), "WATCH rv=41; ");
	virtual_clock_advance(&t->fx->clock, 1);
	assert_string_equal(diary(t->fx), "LIST rv=41 match=NotOlderThan limit=1; ");
	server_answer(t->fx, 200, pod_list("50", NULL, pod("a/q", 3), NULL));
	assert_string_equal(diary(t->fx), "");
	server_send(t->fx, EVENT("ADDED", pod("a/y", 42)));
	assert_string_equal(seen(t), "[42] a/y@42 ");
}

/* A server that was restored to an older RV answers silence; asked, it says so; then one lists at the latest, and what it lost goes. */
static void
a_server_restored_to_an_older_version_is_listed(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/lost", 99)));
	seen(t);
	server_end(t->fx, -ECONNRESET);
	virtual_clock_advance(&t->fx->clock, 2000);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 90000);
	server_answer(t->fx, 504, TOO_LARGE);
	assert_string_equal(diary(t->fx), "WATCH rv=99; LIST rv=99 match=NotOlderThan limit=1; CANCEL; LIST rv=\"\" limit=500; ");
	assert_string_equal(seen(t), "[99] a/lost@99 a/x@5 ");
	server_answer(t->fx, 200, pod_list("9", NULL, pod("a/x", 5), NULL));
	assert_string_equal(seen(t), "[9] a/x@5 ");
	assert_string_equal(diary(t->fx), "WATCH rv=9; ");
}

/* A question that fails for another reason is asked again. */
static void
a_failed_question_is_asked_again(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "41", 2);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 90000);
	server_answer(t->fx, 429, THROTTLED);
	diary(t->fx);
	virtual_clock_advance(&t->fx->clock, 90000);
	assert_string_equal(diary(t->fx), "LIST rv=41 match=NotOlderThan limit=1; ");
}

/* Whoever sends an event knows the RV: nothing is asked. */
static void
an_event_ends_the_doubt(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "41", 2);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 60000);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 42)));
	virtual_clock_advance(&t->fx->clock, 200000);
	assert_string_equal(diary(t->fx), "WATCH rv=41; ");
}

/* ---- back-pressure, the end ------------------------------------------------------------------ */

/* More than a turn's share of events pauses the stream until the next turn. */
static void
a_stream_has_a_share_of_a_turn(void **state)
{
	struct reflector_fixture *t = *state;
	char key[16];

	start_watching(t);
	for (unsigned i = 0; i < WATCH_TURN_EVENTS; i++) {
		assert_false(server_request(t->fx)->paused);
		snprintf(key, sizeof(key), "a/n%u", i);
		server_send(t->fx, EVENT("ADDED", pod(key, 100 + i)));
	}
	assert_true(server_request(t->fx)->paused);
	virtual_clock_advance(&t->fx->clock, 0);
	assert_false(server_request(t->fx)->paused);
}

/* While the store does not keep up the stream is paused; it goes on when there is room. */
static void
a_stream_waits_for_the_store(void **state)
{
	struct reflector_fixture *t = *state;
	char key[16];

	start_watching(t);
	for (unsigned i = 0; i <= WATCH_QUEUE_MAX; i++) {
		snprintf(key, sizeof(key), "a/n%u", i);
		server_send(t->fx, EVENT("ADDED", pod(key, 100 + i)));
		virtual_clock_advance(&t->fx->clock, 1);
	}
	assert_true(server_request(t->fx)->paused);
	assert_true(status_of(t).paused);
	while (pipeline_run(t->fx->pipeline))
		;
	reflector_relax(t->reflector);
	assert_false(server_request(t->fx)->paused);
	assert_false(status_of(t).paused);
}

/* A Reflector can be freed in every state, and cancels what is under way. */
static void
it_can_be_freed_in_every_state(void **state)
{
	struct reflector_fixture *t = *state;
	struct reflector_options options = { .feed = &t->fx->feed };

	for (int step = 0; step < 6; step++) {
		struct reflector *r = reflector_new(&options);

		reflector_start(r, "41", step < 3 ? 0 : 2);
		if (step == 1) {
			server_open(t->fx);
			server_send(t->fx, "%.150s", pod_list("10", NULL, pod("a/x", 5), NULL));
		} else if (step == 2) {
			server_end(t->fx, -ECONNREFUSED);
		} else if (step == 4) {
			server_open(t->fx);
			server_send(t->fx, "{\"type\":\"ADDED\",\"obj");
		} else if (step == 5) {
			server_open(t->fx);
			virtual_clock_advance(&t->fx->clock, 90000);
		}
		reflector_free(r);
		assert_false(server_has_request(t->fx));
	}
}

/* ---- told from outside ------------------------------------------------------------- */

/* Another cluster: whatever is under way is left, a wait too, and everything is listed at no known RV. */
static void
it_lists_anew_when_told_so(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	pipeline_distrust(t->fx->pipeline, t->fx->fifo);
	reflector_relist(t->reflector, OUTCOME_OTHER_CLUSTER);
	assert_string_equal(diary(t->fx), "CANCEL; LIST rv=0 limit=500; ");
	assert_int_equal(status_of(t).state, REFLECTOR_LISTING);
	assert_string_equal(seen(t), "[-] a/x@5 ");
	reflector_relist(t->reflector, OUTCOME_OTHER_CLUSTER); /* while it lists */
	assert_string_equal(diary(t->fx), "CANCEL; LIST rv=0 limit=500; ");
	server_answer(t->fx, 503, "{}");
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	reflector_relist(t->reflector, OUTCOME_OTHER_CLUSTER); /* while it waits */
	server_answer(t->fx, 200, pod_list("4", NULL, pod("a/z", 3), NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; WATCH rv=4; ");
	assert_string_equal(seen(t), "[4] a/z@3 ");
	assert_int_equal(status_of(t).lists_for[OUTCOME_OTHER_CLUSTER], 3);
}

/* One that has not begun has nothing to list anew. */
static void
it_is_not_begun_by_being_told_so(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_relist(t->reflector, OUTCOME_OTHER_CLUSTER);
	assert_string_equal(diary(t->fx), "");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(it_lists_anew_when_told_so),
		T(it_is_not_begun_by_being_told_so),
		T(lists_then_watches_from_the_lists_version),
		T(events_change_what_is_published),
		T(an_events_type_need_not_fit_what_is_known),
		T(a_bookmark_moves_the_version_only),
		T(fields_in_any_order_and_bytes_in_any_pieces),
		T(a_watch_lasts_five_to_ten_minutes),
		T(every_answer_is_a_sign_of_life),
		T(pages_are_followed_and_published_together),
		T(an_expired_token_lists_again_in_one_piece),
		T(a_list_that_fails_changes_nothing),
		T(a_list_without_its_end_is_not_taken_for_whole),
		T(an_answer_that_is_no_list_deletes_nothing),
		T(a_custom_list_may_be_called_anything),
		T(pages_that_never_end_are_an_error),
		T(a_later_list_publishes_differences),
		T(an_empty_list_is_a_list),
		T(an_item_without_a_name_is_left_out),
		T(the_versions_that_lists_ask_for),
		T(a_second_410_waits),
		T(once_paginated_always_paginated),
		T(a_clean_end_watches_again_at_once),
		T(a_watch_that_ends_at_once_backs_off),
		T(gone_410_lists_again),
		T(lists_are_counted_by_their_reason),
		T(other_failures_watch_again),
		T(internal_errors_in_the_stream_are_waited_out_then_listed),
		T(an_event_between_internal_errors_ends_the_count),
		T(other_errors_in_the_stream_list_again),
		T(an_event_cut_off_comes_again),
		T(a_clean_end_inside_an_event_loses_nothing),
		T(a_broken_line_is_watched_again_then_listed),
		T(an_event_that_does_not_fit_is_watched_again_then_listed),
		T(an_event_that_cannot_be_kept_lists_again),
		T(an_event_without_a_version_lists_again),
		T(an_unknown_type_is_ignored),
		T(a_forbidden_list_names_the_rule_and_is_tried_again),
		T(a_forbidden_watch_keeps_what_is_known),
		T(failures_wait_longer_and_longer),
		T(retry_after_is_honoured),
		T(a_request_that_cannot_be_made_is_tried_again),
		T(a_stored_version_needs_no_list),
		T(silence_asks_and_goes_on_when_the_version_is_known),
		T(a_server_restored_to_an_older_version_is_listed),
		T(a_failed_question_is_asked_again),
		T(an_event_ends_the_doubt),
		T(a_stream_has_a_share_of_a_turn),
		T(a_stream_waits_for_the_store),
		T(it_can_be_freed_in_every_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
