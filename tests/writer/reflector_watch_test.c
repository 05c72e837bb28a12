/*
 * The Reflector's WatchLists, and what it makes of streams that say nothing. Time is virtual. Behaviours of client-go's
 * reflector_watchlist_test.go carry its name in brackets.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/reflector_fixture.h"
#include "writer/log.h"
#include "writer/watch.h"

static int
set_up(void **state)
{
	*state = reflector_fixture_new(&(struct reflector_choices){ .watch_list = true });
	return 0;
}

static int
set_up_plain(void **state)
{
	*state = reflector_fixture_new(NULL);
	return 0;
}

static int
tear_down(void **state)
{
	return reflector_fixture_free(*state);
}

/* Start, and send a state of a/x up to its end mark at 10. */
static void
start_watching(struct reflector_fixture *t)
{
	reflector_start(t->reflector, "", 0);
	if (status_of(t).watch_lists > 0) {
		server_open(t->fx);
		server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
		server_send(t->fx, END_MARK, 10);
	} else {
		server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
		server_open(t->fx);
	}
	assert_string_equal(seen(t), "[10] a/x@5 ");
	diary(t->fx);
}

/* Let the next wait pass. */
static void
wait_out(struct reflector_fixture *t)
{
	assert_int_equal(status_of(t).state, REFLECTOR_BACKING_OFF);
	assert_false(server_has_request(t->fx));
	virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
}

/* ---- WatchList -------------------------------------------------------------------- */

/*
 * One stream: the state is staged up to the mark, then published whole with the mark's RV; what follows are changes. No LIST.
 * [WatchList]
 */
static void
the_state_is_published_at_its_end_mark_and_the_stream_goes_on(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 7)));
	assert_string_equal(seen(t), "[-] ");
	assert_int_equal(status_of(t).state, REFLECTOR_LISTING);
	assert_int_equal(status_of(t).list_items, 2);
	server_send(t->fx, END_MARK, 10);
	assert_string_equal(seen(t), "[10] a/x@5 a/y@7 ");
	assert_int_equal(status_of(t).state, REFLECTOR_WATCHING);
	server_send(t->fx, EVENT("MODIFIED", pod("a/y", 11)));
	server_send(t->fx, EVENT("DELETED", pod("a/x", 12)));
	assert_string_equal(seen(t), "[12] a/y@11 ");
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; ");
	assert_int_equal(status_of(t).lists, 0);
}

/* An empty state is a state. */
static void
an_empty_state_is_published(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, END_MARK, 3);
	assert_string_equal(seen(t), "[3] ");
}

/* What changes while the state comes in is in it: the newest state counts, and what is gone is gone, unless it comes again. */
static void
changes_before_the_mark_are_part_of_the_state(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 1)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 2)));
	server_send(t->fx, EVENT("ADDED", pod("a/z", 3)));
	server_send(t->fx, EVENT("MODIFIED", pod("a/x", 4)));
	server_send(t->fx, EVENT("DELETED", pod("a/y", 5)));
	server_send(t->fx, EVENT("DELETED", pod("a/z", 6)));
	server_send(t->fx, EVENT("ADDED", pod("a/z", 7)));
	server_send(t->fx, EVENT("DELETED", pod("a/never", 8)));
	server_send(t->fx, END_MARK, 9);
	assert_string_equal(seen(t), "[9] a/x@4 a/z@7 ");
}

/* A later WatchList, at the last RV, publishes differences: what is unchanged stays, what is missing goes. */
static void
a_later_state_publishes_differences(void **state)
{
	struct reflector_fixture *t = *state;
	struct store_stats before, after;

	start_watching(t);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 11)));
	seen(t);
	store_stats(t->fx->store->store, &before);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	wait_out(t);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	server_send(t->fx, EVENT("ADDED", pod("a/z", 15)));
	server_send(t->fx, END_MARK, 20);
	assert_string_equal(seen(t), "[20] a/x@5 a/z@15 ");
	store_stats(t->fx->store->store, &after);
	assert_int_equal(after.seq, before.seq + 2);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=11; ");
}

/* A stream that ends before its mark, at whatever byte, changes nothing and leaves no block behind. */
static void
a_state_without_its_mark_changes_nothing(void **state)
{
	struct reflector_fixture *t = *state;
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
		while (server_request(t->fx)->watch) { /* by WatchList, once or twice, then by LIST */
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

/* A server that refuses WatchLists as invalid is listed at once, not asked again for an hour, and then asked again. */
static void
a_refusal_is_remembered_for_an_hour(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 422, INVALID);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	server_open(t->fx);
	assert_string_equal(seen(t), "[10] a/x@5 ");
	assert_string_equal(status_of(t).last_error, "");
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 5), NULL));
	assert_string_equal(diary(t->fx), "WATCH rv=10; LIST rv=10; WATCH rv=20; ");
	for (unsigned i = 0; i < 12; i++) {
		server_open(t->fx);
		server_send(t->fx, EVENT("ADDED", pod("a/y", 30 + i)));
		virtual_clock_advance(&t->fx->clock, 300000);
		server_end(t->fx, 0);
	}
	server_open(t->fx);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	diary(t->fx);
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=41; ");
}

/* A server that does not know the option sends its state and says nothing more: after 30 s without a byte one lists. */
static void
quiet_before_the_mark_is_given_up_for_a_list(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	virtual_clock_advance(&t->fx->clock, 29000);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	virtual_clock_advance(&t->fx->clock, 29999);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; ");
	virtual_clock_advance(&t->fx->clock, 1);
	assert_string_equal(diary(t->fx), "CANCEL; LIST rv=0 limit=500; ");
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 6), NULL));
	assert_string_equal(seen(t), "[10] a/y@6 ");
	server_open(t->fx);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "WATCH rv=10; LIST rv=10; ");
}

/* One that does not know the option and is busy is never quiet, but sends a bookmark that is no end mark. */
static void
a_plain_bookmark_before_the_mark_means_that_it_is_not_known(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	server_send(t->fx, BOOKMARK, 9);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
	assert_string_equal(seen(t), "[-] ");
}

/* Ended in good order before the mark: after a wait once more, and if that ends so too, by LIST; not for ever, and not at once. */
static void
an_early_end_is_met_with_a_wait_and_the_second_with_a_list(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	for (unsigned i = 0; i < 2; i++) {
		server_open(t->fx);
		server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
		virtual_clock_advance(&t->fx->clock, 5000);
		server_end(t->fx, 0);
		assert_string_equal(status_of(t).last_error, "WatchList failed: the server ended the stream before the end mark");
		wait_out(t);
	}
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
}

/* 410, expired and too large, as an answer or in the stream: at once again at RV "". */
static void
an_expired_version_is_asked_again_at_the_latest(void **state)
{
	static const struct { int code; const char *body, *event; } cases[] = {
		{ 410, EXPIRED, NULL }, { 504, TOO_LARGE, NULL }, { 0, NULL, ERROR_EVENT(EXPIRED) }, { 0, NULL, ERROR_EVENT(TOO_LARGE) },
	};
	struct reflector_fixture *t = *state;

	start_watching(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		server_send(t->fx, ERROR_EVENT(EXPIRED));
		wait_out(t);
		if (cases[i].body) {
			server_answer(t->fx, cases[i].code, cases[i].body);
		} else {
			server_open(t->fx);
			server_send(t->fx, EVENT("ADDED", pod("a/half", 9)));
			server_send(t->fx, "%s", cases[i].event);
		}
		assert_string_equal(diary(t->fx), "WATCHLIST rv=10; WATCHLIST rv=\"\"; ");
		server_open(t->fx);
		server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
		server_send(t->fx, END_MARK, 10);
		assert_string_equal(seen(t), "[10] a/x@5 ");
	}
	assert_int_equal(status_of(t).lists, 0);
}

/* When that expires as well, one waits. */
static void
a_second_410_waits(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 410, EXPIRED);
	wait_out(t);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; ");
}

/* Connection refused and 429: a wait, then the same again; Retry-After counts. */
static void
refused_connections_and_429_wait_and_try_the_same_again(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_end(t->fx, -ECONNREFUSED);
	wait_out(t);
	server_answer_retry_after(t->fx, 429, THROTTLED, 17);
	assert_int_equal(virtual_clock_next(&t->fx->clock), 17000);
	wait_out(t);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; ");
}

/* Any other failure: a LIST this time, and a WatchList the next. */
static void
other_failures_list_this_time(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 500, INTERNAL);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
	server_end(t->fx, -ECONNRESET);
	wait_out(t);
	server_end(t->fx, -ECONNRESET);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
	server_answer(t->fx, 403, FORBIDDEN);
	assert_int_equal(status_of(t).state, REFLECTOR_REFUSED);
	assert_non_null(strstr(status_of(t).last_error, "grant informerd this RBAC rule"));
}

/* An event that cannot be kept is no reason to have nothing: the LIST leaves it out. */
static void
an_event_that_cannot_be_kept_lists_this_time(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n");
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; LIST rv=0 limit=500; ");
}

/* A state that does not fit is taken back whole, and tried again later. */
static void
a_state_that_does_not_fit_is_taken_back(void **state)
{
	struct reflector_fixture *t = *state;

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

/* Where any RV will do, the server may answer from what it has at hand; where the latest is asked for, LISTs ask for it, too. */
static void
the_first_version_is_a_choice(void **state)
{
	static const struct { bool watch_list; enum reflector_version version; const char *first; } cases[] = {
		{ true, REFLECTOR_VERSION_DEFAULT, "WATCHLIST rv=\"\"; " }, { true, REFLECTOR_VERSION_ANY, "WATCHLIST rv=0; " },
		{ true, REFLECTOR_VERSION_LATEST, "WATCHLIST rv=\"\"; " }, { false, REFLECTOR_VERSION_DEFAULT, "LIST rv=0 limit=500; " },
		{ false, REFLECTOR_VERSION_ANY, "LIST rv=0 limit=500; " }, { false, REFLECTOR_VERSION_LATEST, "LIST rv=\"\" limit=500; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reflector_fixture *t = reflector_fixture_new(
			&(struct reflector_choices){ .watch_list = cases[i].watch_list, .version = cases[i].version });

		reflector_start(t->reflector, "", 0);
		assert_string_equal(diary(t->fx), cases[i].first);
		reflector_fixture_free(t);
	}
}

/* A page size of one's own holds at every RV. [WatchListPageSize] */
static void
a_page_size_of_ones_own_holds_at_every_version(void **state)
{
	struct reflector_fixture *t = reflector_fixture_new(&(struct reflector_choices){ .page_size = 50 });

	(void)state;
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", "tok", pod("a/x", 5), NULL));
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 6), NULL));
	server_open(t->fx);
	server_send(t->fx, ERROR_EVENT(EXPIRED));
	virtual_clock_advance(&t->fx->clock, 2000);
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=50; LIST continue=tok limit=50; WATCH rv=10; LIST rv=10 limit=50; ");
	reflector_fixture_free(t);
}

/*
 * A 410 on a later page may carry a token that goes on from another RV. One full list, at the RV of the first request, is what a watch can
 * go on from without missing anything.
 */
static void
an_inconsistent_token_is_not_followed(void **state)
{
	struct reflector_fixture *t = *state;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("24", "tok", pod("a/x", 5), NULL));
	server_answer(t->fx, 410, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTF9\"},"
		      "\"status\":\"Failure\",\"message\":\"The provided continue parameter is too old to display a consistent list result.\","
		      "\"reason\":\"Expired\",\"code\":410}");
	server_answer(t->fx, 200, pod_list("27", NULL, pod("a/y", 15), NULL));
	assert_string_equal(diary(t->fx), "LIST rv=0 limit=500; LIST continue=tok limit=500; LIST rv=0; WATCH rv=27; ");
	assert_string_equal(seen(t), "[27] a/y@15 ");
}

/* What is logged while a list of either kind takes 9 s to begin, 3 s to come and 2 s until the store has it. */
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
	pipeline_flush(t->fx->pipeline);
	reflector_relax(t->reflector);
	reflector_relax(t->reflector);
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	line = strstr(text, "pods: the list took 14.0 s: 9.0 s until the server began to answer, 3.0 s with the transfer and other work, 0.0 s with "
			    "decoding, 2.0 s until it was applied");
	if (!line || strstr(line + strlen("pods: the"), "the list took"))
		fail_msg("not told, or not once: %s", text);
}

/* A list of either kind that takes over ten seconds says where the time went. */
static void
a_long_list_says_where_the_time_went(void **state)
{
	struct reflector_fixture *plain = reflector_fixture_new(NULL);

	expect_where_the_time_went(*state, true);
	expect_where_the_time_went(plain, false);
	reflector_fixture_free(plain);
}

/* More than a turn's share of the state's bytes pauses the stream until the next turn. */
static void
a_state_has_a_share_of_a_turn(void **state)
{
	struct reflector_fixture *t = *state;
	size_t sent = 0;
	char key[16];

	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	for (unsigned i = 0; sent < WATCH_TURN_BYTES; i++) {
		assert_false(server_request(t->fx)->paused);
		snprintf(key, sizeof(key), "a/n%u", i);
		server_send(t->fx, EVENT("ADDED", pod(key, 100 + i)));
		sent += strlen(pod(key, 100 + i)) + strlen("{\"type\":\"ADDED\",\"object\":}\n");
	}
	assert_true(server_request(t->fx)->paused);
	virtual_clock_advance(&t->fx->clock, 1);
	assert_false(server_request(t->fx)->paused);
}

/* It can be freed in the middle of a state, and takes what is staged back. */
static void
it_can_be_freed_in_the_middle_of_a_state(void **state)
{
	struct reflector_fixture *t = *state;
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

/* ---- the vigil ------------------------------------------------------------------------ */

/*
 * Bookmarks that came every minute stop, and the server answers a question all the same: the stream is dead. It is begun again, over another
 * connection and from the last RV; there is no LIST.
 */
static void
bookmarks_that_stop_mean_that_the_stream_is_dead(void **state)
{
	struct reflector_fixture *t = *state;

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

/* A bookmark that comes while the question is under way ends the doubt. */
static void
a_late_bookmark_keeps_the_stream(void **state)
{
	struct reflector_fixture *t = *state;
	struct scripted_request *stream;

	start_watching(t);
	server_send(t->fx, BOOKMARK, 11);
	stream = server_request(t->fx);
	virtual_clock_advance(&t->fx->clock, 90000);
	assert_string_equal(diary(t->fx), "LIST rv=11 match=NotOlderThan limit=1; ");
	server_send_on(stream, BOOKMARK, 12);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/x", 5), NULL));
	assert_string_equal(diary(t->fx), "");
	assert_true(stream->open);
}

/* A stream that outlives the time that was asked for by half a minute is dead. */
static void
a_stream_that_does_not_end_in_time_is_dead(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	for (unsigned i = 0; i < 32; i++) {
		virtual_clock_advance(&t->fx->clock, 10000);
		server_send(t->fx, EVENT("MODIFIED", pod("a/x", 20 + i)));
	}
	assert_string_equal(diary(t->fx), "");
	virtual_clock_advance(&t->fx->clock, 10000);
	assert_string_equal(diary(t->fx), "CANCEL; WATCH rv=51; ");
	assert_true(server_request(t->fx)->fresh);
}

/* A stream that waits for the store is not dead: it is not read. */
static void
a_paused_stream_is_not_dead(void **state)
{
	struct reflector_fixture *t = *state;
	char key[16];

	start_watching(t);
	server_send(t->fx, BOOKMARK, 11);
	for (unsigned i = 0; i <= WATCH_QUEUE_MAX; i++) {
		snprintf(key, sizeof(key), "a/n%u", i);
		server_send(t->fx, EVENT("ADDED", pod(key, 100 + i)));
	}
	assert_true(status_of(t).paused);
	virtual_clock_advance(&t->fx->clock, 3600000);
	assert_string_equal(diary(t->fx), "");
}

/*
 * An API server that restarts ends all watches at once. Who is ended in good order comes again at once, as the reference does; who then
 * is refused comes again after 0.8 s and up to as much again by chance: not all together.
 */
static void
many_do_not_come_back_together(void **state)
{
	struct reflector_fixture *t = *state;

	start_watching(t);
	virtual_clock_advance(&t->fx->clock, 2000);
	for (uint32_t chance = 0; chance <= 800; chance += 200) {
		server_end(t->fx, 0);
		t->fx->clock.chance = chance;
		server_end(t->fx, -ECONNREFUSED);
		assert_int_equal(virtual_clock_next(&t->fx->clock), 800 + chance);
		virtual_clock_advance(&t->fx->clock, 1600);
		t->fx->clock.chance = 0;
		server_open(t->fx);
		for (unsigned i = 0; i < 14; i++) { /* two quiet minutes */
			virtual_clock_advance(&t->fx->clock, 10000);
			server_send(t->fx, BOOKMARK, 11 + i);
		}
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define PLAIN(name) cmocka_unit_test_setup_teardown(name, set_up_plain, tear_down)
	const struct CMUnitTest tests[] = {
		T(the_state_is_published_at_its_end_mark_and_the_stream_goes_on),
		T(an_empty_state_is_published),
		T(changes_before_the_mark_are_part_of_the_state),
		T(a_later_state_publishes_differences),
		T(a_state_without_its_mark_changes_nothing),
		T(a_refusal_is_remembered_for_an_hour),
		T(quiet_before_the_mark_is_given_up_for_a_list),
		T(a_plain_bookmark_before_the_mark_means_that_it_is_not_known),
		T(an_early_end_is_met_with_a_wait_and_the_second_with_a_list),
		T(an_expired_version_is_asked_again_at_the_latest),
		T(a_second_410_waits),
		T(refused_connections_and_429_wait_and_try_the_same_again),
		T(other_failures_list_this_time),
		T(an_event_that_cannot_be_kept_lists_this_time),
		T(a_state_that_does_not_fit_is_taken_back),
		cmocka_unit_test(the_first_version_is_a_choice),
		cmocka_unit_test(a_page_size_of_ones_own_holds_at_every_version),
		PLAIN(an_inconsistent_token_is_not_followed),
		T(a_long_list_says_where_the_time_went),
		T(a_state_has_a_share_of_a_turn),
		T(it_can_be_freed_in_the_middle_of_a_state),
		PLAIN(bookmarks_that_stop_mean_that_the_stream_is_dead),
		PLAIN(a_late_bookmark_keeps_the_stream),
		PLAIN(a_stream_that_does_not_end_in_time_is_dead),
		PLAIN(a_paused_stream_is_not_dead),
		PLAIN(many_do_not_come_back_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
