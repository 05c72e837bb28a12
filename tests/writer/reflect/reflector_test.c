/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector between a scripted server and a real store. Tests here show what tests/conversations cannot:
 * streams cut anywhere, all kinds of wrong answers, lack of memory, an end in every state. Time is virtual.
 */
#include "tests/room.h"
#include "tests/support/reflector_fixture.h"
#include "writer/base/backoff.h"
#include "writer/reflect/watch.h"

#define T(name) TEST_CASE_OF(struct reflector_fixture *t, reflector_set_up, reflector_tear_down, name)

/* Bytes from the server are noted, so that readers know the content's age. */
T(every_answer_is_a_sign_of_life)
{
	unsigned before;

	start_watching(t);
	before = t->fx->contacts;
	server_send(t->fx, BOOKMARK, 11);
	assert_true(t->fx->contacts > before);
}

/* A list that fails on any page changes nothing and leaves nothing. [ListAndWatchWithErrors] */
T(a_list_that_fails_changes_nothing)
{
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

/* An answer that is no list (a proxy's {}) does not count as an empty list, which would delete everything. */
T(an_answer_that_is_no_list_deletes_nothing)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"",
		"<html>hello</html>",
		"{\"metadata\":{\"resourceVersion\":\"\"},\"items\":[]}",
		"{\"kind\":\"Status\",\"status\":\"Success\"}",
		"null",
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"20\"}}",
		"{\"metadata\":{\"resourceVersion\":\"20\"}}",
		"{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"20\"},\"items\":[]}"};

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

/* A custom resource's list may have any kind, except the kind of a single object. */
T(a_custom_list_may_have_any_kind)
{
	t->fx->source.custom = true;
	reflector_free(t->reflector);
	t->reflector = reflector_new(&(struct reflector_options){ .source = &t->fx->source });
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
	assert_string_equal(seen(t), "[-] ");
	assert_string_equal(status_of(t).last_error, "LIST failed: the answer is a Pod, not a PodList");
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200,
		      "{\"kind\":\"Pods\",\"metadata\":{\"resourceVersion\":\"8\"},\"items\":[]}");
	assert_string_equal(seen(t), "[8] ");
}

/* A continue token that leads to itself ends the list with an error. */
T(pages_that_never_end_are_an_error)
{
	start_watching(t);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("20", "again", pod("a/y", 15), NULL));
	server_answer(t->fx, 200, pod_list("20", "again", pod("a/y", 15), NULL));
	assert_string_equal(status_of(t).last_error,
			    "LIST failed: the server gives the same continue token again and again");
	assert_string_equal(seen(t), "[10] a/x@5 ");
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
}

/* An item without a name is skipped and counted. The other items are kept. */
T(an_item_without_a_name_is_left_out)
{
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200,
		      pod_list("10", NULL, pod("a/x", 5), "{\"metadata\":{}}", "42", pod("a/y", 6), NULL));
	assert_string_equal(seen(t), "[10] a/x@5 a/y@6 ");
	assert_int_equal(status_of(t).bad_events, 2);
}

/* Waits and the duration of a watch are configured. */
T(waits_and_timeouts_are_configured)
{
	const struct reflector_timing quick = {
		.watch_timeout_s = 20,
		.backoff = {.first_ms = 50, .max_ms = 60},
	};

	start_watching(t);
	assert_int_equal(server_request(t->fx)->timeout_s, 300);
	reflector_free(t->reflector);
	t->reflector = reflector_new(&(struct reflector_options){.source = &t->fx->source, .timing = quick});
	reflector_start(t->reflector, "10", 2);
	diary(t->fx);
	server_end(t->fx, -ECONNREFUSED);
	virtual_clock_advance(&t->fx->clock, 49);
	assert_string_equal(diary(t->fx), "");
	virtual_clock_advance(&t->fx->clock, 1);
	assert_string_equal(diary(t->fx), "WATCH rv=10; ");
	assert_int_equal(server_request(t->fx)->timeout_s, 20);
	server_end(t->fx, -ECONNREFUSED);
	virtual_clock_advance(&t->fx->clock, 60);
	assert_string_equal(diary(t->fx), "WATCH rv=10; ");
}

/*
 * An event that does not fit is watched again. If it still does not fit, a LIST of keys comes, then a LIST.
 * Known content has no RV then: the list is the latest, though all may be deleted.
 */
T(an_event_that_does_not_fit_is_watched_again_then_listed)
{
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
	assert_string_equal(diary(t->fx), "LIST rv=\"\" limit=500; ");
	seen(t);
	assert_int_equal(delta_fifo_known(t->fx->fifo), 0);
	server_end(t->fx, -ECONNREFUSED);
	virtual_clock_advance(&t->fx->clock, 8000);
	assert_string_equal(diary(t->fx), "LIST rv=\"\" limit=500; ");
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/z", 15), NULL));
	assert_string_equal(seen(t), "[20] a/z@15 ");
}

/* A change without room is tried again when there is room. The server is asked once a backoff step. */
T(a_change_without_room_is_tried_when_there_is_some)
{
	start_watching(t);
	arena_fail_after(t->fx->store->arena, 0);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	for (int i = 0; i < 4; i++) {
		wait_out(t);
		server_answer(t->fx, 200, pod_list("20", NULL, pod("a/z", 15), NULL));
	}
	assert_non_null(strstr(status_of(t).last_error, "the arena is full"));
	assert_true(virtual_clock_next(&t->fx->clock) > 4000);
	diary(t->fx);
	reflector_retry(t->reflector);
	virtual_clock_advance(&t->fx->clock, BACKOFF_FIRST_MS - 1);
	assert_string_equal(diary(t->fx), "");
	virtual_clock_advance(&t->fx->clock, 1);
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/z", 15), NULL));
	virtual_clock_advance(&t->fx->clock, BACKOFF_FIRST_MS);
	arena_fail_after(t->fx->store->arena, UINT64_MAX);
	assert_string_equal(diary(t->fx), "");
	reflector_retry(t->reflector);
	virtual_clock_advance(&t->fx->clock, 0);
	assert_string_equal(diary(t->fx), "LIST rv=10; ");
	server_end(t->fx, -ECONNREFUSED);
	reflector_retry(t->reflector); /* nothing waits for room */
	virtual_clock_advance(&t->fx->clock, BACKOFF_FIRST_MS + 1);
	assert_string_equal(diary(t->fx), "");
}

T(a_request_that_cannot_be_made_is_tried_again)
{
	t->fx->refuse = -ENOMEM;
	reflector_start(t->reflector, "", 0);
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	t->fx->refuse = 0;
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("10", NULL, NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; WATCH rv=10; ");
}

/* Content at a known RV is watched from there, without a LIST. */
T(a_stored_version_needs_no_list)
{
	reflector_start(t->reflector, "41", 2);
	assert_string_equal(diary(t->fx), "WATCH rv=41; ");
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 42)));
	assert_string_equal(seen(t), "[42] a/y@42 ");
}

/* More than a turn's share of events pauses the stream until the next turn. */
T(a_stream_has_a_share_of_a_turn)
{
	start_watching(t);
	for (unsigned i = 0; i < WATCH_TURN_EVENTS; i++) {
		assert_false(server_request(t->fx)->paused);
		send_added(t, i);
	}
	assert_true(server_request(t->fx)->paused);
	virtual_clock_advance(&t->fx->clock, 0);
	assert_false(server_request(t->fx)->paused);
}

/* While the store is behind, the stream is paused. It resumes when there is room. */
T(a_stream_waits_for_the_store)
{
	start_watching(t);
	for (unsigned i = 0; i <= WATCH_QUEUE_MAX; i++) {
		send_added(t, i);
		virtual_clock_advance(&t->fx->clock, 1);
	}
	assert_true(server_request(t->fx)->paused);
	assert_true(status_of(t).paused);
	while (applier_run(t->fx->applier))
		;
	reflector_relax(t->reflector);
	assert_false(server_request(t->fx)->paused);
	assert_false(status_of(t).paused);
}

/* A Reflector can be freed in every state, and cancels its request. */
T(a_reflector_can_be_freed_in_every_state)
{
	struct reflector_options options = { .source = &t->fx->source };

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

/* For another cluster everything is listed anew, at the latest RV: a server's cache may be older. */
T(another_cluster_is_listed_anew)
{
	start_watching(t);
	applier_distrust(t->fx->applier, t->fx->fifo);
	reflector_relist(t->reflector, RESULT_OTHER_CLUSTER);
	assert_string_equal(diary(t->fx), "CANCEL; LIST rv=\"\" limit=500; ");
	assert_int_equal(status_of(t).state, REFLECTOR_LISTING);
	assert_string_equal(seen(t), "[-] a/x@5 ");
	reflector_relist(t->reflector, RESULT_OTHER_CLUSTER); /* while it lists */
	assert_string_equal(diary(t->fx), "CANCEL; LIST rv=\"\" limit=500; ");
	server_answer(t->fx, 503, "{}");
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	reflector_relist(t->reflector, RESULT_OTHER_CLUSTER); /* while it waits */
	server_answer(t->fx, 200, pod_list("4", NULL, pod("a/z", 3), NULL));
	assert_string_equal(diary(t->fx), "LIST rv=\"\" limit=500; WATCH rv=4; ");
	assert_string_equal(seen(t), "[4] a/z@3 ");
	assert_int_equal(status_of(t).lists_for[RESULT_OTHER_CLUSTER], 3);
}

/* A Reflector that has not begun has nothing to list anew. */
T(a_relist_does_not_begin_a_reflector)
{
	reflector_relist(t->reflector, RESULT_OTHER_CLUSTER);
	assert_string_equal(diary(t->fx), "");
}
