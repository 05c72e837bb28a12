/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector's WatchLists, and silent streams. Tests here show what tests/conversations cannot: streams
 * cut at every byte, lack of memory, an end within a state, where time went. Time is virtual.
 */
#include "tests/room.h"
#include "tests/support/reflector_fixture.h"
#include "writer/base/log.h"
#include "writer/reflect/watch.h"

#define PLAIN(name) TEST_CASE_OF(struct reflector_fixture *t, reflector_set_up, reflector_tear_down, name)
#define T(name)                                                                                              \
	TEST_CASE_OF(struct reflector_fixture *t, reflector_set_up_watch_list, reflector_tear_down, name)

/* A stream that ends before the end mark, at any byte, changes nothing and leaks no block. */
T(a_state_without_an_end_mark_changes_nothing)
{
	struct store_stats before, after;
	char text[2048];
	int length;

	start_watching(t);
	length = snprintf(text, sizeof(text), EVENT("ADDED", pod("a/y", 25)));
	length += snprintf(text + length, sizeof(text) - (size_t)length, EVENT("DELETED", pod("a/x", 26)));
	store_stats(t->fx->store->store, &before);
	for (int cut = 0; cut <= length; cut += 40) {
		server_send(t->fx, ERROR_EVENT(EXPIRED));
		wait_out(t);
		while (server_request(t->fx)->watch) { /* once or twice by WatchList, then by LIST */
			server_open(t->fx);
			server_send(t->fx, "%.*s", cut, text);
			server_end(t->fx, 0);
			assert_string_equal(seen(t), "[10] a/x@5 ");
			if (!server_has_request(t->fx))
				wait_out(t);
		}
		server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
		assert_string_equal(seen(t), "[10] a/x@5 ");
		server_open(t->fx);
	}
	store_stats(t->fx->store->store, &after);
	assert_in_range(after.used_bytes, 0, before.used_bytes + 4096);
}

/* The end mark says "true". An annotation of its name with another value marks no end. */
TEST_CASE(only_true_marks_the_end)
{
	static const char *const others[] = {"false", "", "True", "true ", "1"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct list_choices choices = {.watch_list = true};
		struct reflector_fixture *once = reflector_fixture_new(&choices);

		reflector_start(once->reflector, "", 0);
		server_open(once->fx);
		server_send(once->fx, EVENT("ADDED", pod("a/x", 5)));
		server_send(once->fx,
			    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
			    "\"metadata\":{\"resourceVersion\":\"10\",\"annotations\":{"
			    "\"k8s.io/initial-events-end\":\"%s\"}}}}\n",
			    others[i]);
		assert_string_equal(seen(once), "[-] ");
		assert_int_equal(reflector_fixture_free(once), 0);
	}
}

/* A state that does not fit is taken back whole, and tried again later. */
T(a_state_that_does_not_fit_is_taken_back)
{
	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	arena_fail_after(t->fx->store->arena, 0);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 6)));
	assert_non_null(strstr(status_of(t).last_error, "the arena is full"));
	arena_fail_after(t->fx->store->arena, UINT64_MAX);
	wait_out(t);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; ");
}

/* If any RV will do, the first LIST takes the server's cached state; else LISTs ask for the latest. */
TEST_CASE(the_first_version_is_a_choice)
{
	static const struct {
		bool watch_list;
		enum reflector_version version;
		const char *first;
	} cases[] = {
		{true, REFLECTOR_VERSION_DEFAULT, "WATCHLIST rv=\"\"; "},
		{true, REFLECTOR_VERSION_ANY, "WATCHLIST rv=0; "},
		{true, REFLECTOR_VERSION_LATEST, "WATCHLIST rv=\"\"; "},
		{false, REFLECTOR_VERSION_DEFAULT, "LIST rv=0 limit=500; "},
		{false, REFLECTOR_VERSION_ANY, "LIST rv=0 limit=500; "},
		{false, REFLECTOR_VERSION_LATEST, "LIST rv=\"\" limit=500; "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reflector_fixture *t = reflector_fixture_new(&(struct list_choices){
			.watch_list = cases[i].watch_list, .version = cases[i].version});

		reflector_start(t->reflector, "", 0);
		assert_string_equal(diary(t->fx), cases[i].first);
		reflector_fixture_free(t);
	}
}

/* The log of a list that takes 9 s to begin, 3 s to arrive, and 2 s to store. */
static void
expect_where_the_time_went(struct reflector_fixture *t, bool watch_list)
{
	char text[8192], *line;
	int fd = memfd_create("log", MFD_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	log_open(LOG_LEVEL_INFO, fd);
	reflector_start(t->reflector, "", 0);
	virtual_clock_advance(&t->fx->clock, 9000);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 3000);
	if (watch_list) {
		server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
		server_send(t->fx, END_MARK, 10);
	} else {
		server_send(t->fx, "%s", pod_list("10", NULL, pod("a/x", 5), NULL));
		server_end(t->fx, 0);
	}
	assert_true(delta_fifo_is_listing(t->fx->fifo));
	virtual_clock_advance(&t->fx->clock, 2000);
	applier_flush(t->fx->applier);
	reflector_relax(t->reflector);
	reflector_relax(t->reflector);
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	line = strstr(text, "pods: the list took 14.0 s: 9.0 s until the server began to answer, 3.0 s with "
			    "the transfer and other work, 0.0 s with decoding, 2.0 s until it was applied");
	if (!line || strstr(line + strlen("pods: the"), "the list took"))
		fail_msg("not told, or not once: %s", text);
}

/* A LIST or WatchList that takes over ten seconds logs where the time went. */
T(a_long_list_says_where_the_time_went)
{
	struct reflector_fixture *plain = reflector_fixture_new(NULL);

	expect_where_the_time_went(t, true);
	expect_where_the_time_went(plain, false);
	reflector_fixture_free(plain);
}

/* More than a turn's share of a state's bytes pauses the stream until the next turn. */
T(a_state_has_a_share_of_a_turn)
{
	size_t sent = 0;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	for (unsigned i = 0; sent < RESOURCE_REQUEST_TURN_BYTES; i++) {
		assert_false(server_request(t->fx)->paused);
		sent += send_added(t, i);
	}
	assert_true(server_request(t->fx)->paused);
	virtual_clock_advance(&t->fx->clock, 1);
	assert_false(server_request(t->fx)->paused);
}

/* A Reflector that is freed within a state takes back what is staged. */
T(a_reflector_can_be_freed_within_a_state)
{
	struct store_stats before, after;

	store_stats(t->fx->store->store, &before);
	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	server_send(t->fx, EVENT("DELETED", pod("a/y", 6)));
	server_send(t->fx, "{\"type\":\"ADDED\",\"object\":{\"metadata\"");
	reflector_free(t->reflector);
	t->reflector = NULL;
	assert_false(server_has_request(t->fx));
	store_stats(t->fx->store->store, &after);
	assert_in_range(after.used_bytes, 0, before.used_bytes + 4096);
}

/* Bookmarks stop, and the server answers a question: the stream is opened again from the last RV. */
PLAIN(bookmarks_that_stop_mean_that_the_stream_is_dead)
{
	start_watching(t);
	for (unsigned i = 11; i < 13; i++) {
		virtual_clock_advance(&t->fx->clock, 60000);
		server_send(t->fx, BOOKMARK, i);
	}
	assert_string_equal(diary(t->fx), "");
	virtual_clock_advance(&t->fx->clock, 90000);
	assert_string_equal(diary(t->fx), "LIST rv=12 match=NotOlderThan limit=1; ");
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 5), NULL));
	assert_string_equal(diary(t->fx), "CANCEL; WATCH rv=12; ");
	assert_true(server_request(t->fx)->fresh);
	assert_int_equal(status_of(t).lists, 1);
}

/* A bookmark that comes while the question is open keeps the stream. */
PLAIN(a_late_bookmark_keeps_the_stream)
{
	struct scripted_request *stream;
	char text[256];

	start_watching(t);
	server_send(t->fx, BOOKMARK, 11);
	stream = server_request(t->fx);
	virtual_clock_advance(&t->fx->clock, 90000);
	assert_string_equal(diary(t->fx), "LIST rv=11 match=NotOlderThan limit=1; ");
	snprintf(text, sizeof(text), BOOKMARK, 12u);
	assert_int_equal(stream->callbacks->on_data(stream->ctx, text, strlen(text)), 0);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 5), NULL));
	assert_string_equal(diary(t->fx), "");
	assert_true(stream->open);
}

/* A stream paused for the store is not read, and not dead. */
PLAIN(a_paused_stream_is_not_dead)
{
	start_watching(t);
	server_send(t->fx, BOOKMARK, 11);
	for (unsigned i = 0; i <= WATCH_QUEUE_MAX; i++) {
		send_added(t, i);
	}
	assert_true(status_of(t).paused);
	virtual_clock_advance(&t->fx->clock, 3600000);
	assert_string_equal(diary(t->fx), "");
}
