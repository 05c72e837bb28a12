/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch sends next: initial events, changes, crossings of a selection, bookmarks, its end. */
#include "tests/tools/serving/played_store.h"

#include "tools/serving/api_watch_private.h"
#include "tools/serving/proto_document.h"

#define START 1000000u

static const struct api_watch_options usual = {.bookmark_ms = 60000, .timeout_ms = 1800000};
static const struct api_watch_options telling = {
	.bookmark_ms = 60000, .timeout_ms = 1800000, .tell_lost = true};

struct told {
	struct api_watch *watch;
	uint64_t now;
	char text[4096]; /* the last line */
};

static struct api_watch *opened[16]; /* freed at the end */
static unsigned opened_count;

static struct told
open_with(struct world *w, const char *namespace_, const char *query, const char *accept,
	  const struct api_watch_options *options)
{
	struct ask ask = ask_for(w, namespace_, query, accept);
	struct told t = {.now = START};
	struct api_query parsed;

	assert_int_equal(api_query_parse(&ask.api, &parsed), 0);
	assert_int_equal(api_watch_open(&ask.api, &parsed, &w->store, options, t.now, &t.watch), 0);
	opened[opened_count++] = t.watch;
	return t;
}

static struct told
open_watch(struct world *w, const char *query)
{
	return open_with(w, NULL, query, NULL, &usual);
}

static enum api_watch_said
step(struct told *t)
{
	struct api_frame *frame;
	enum api_watch_said said = api_watch_next(t->watch, t->now, &frame);

	t->text[0] = '\0';
	if (said == API_WATCH_LINE) {
		snprintf(t->text, sizeof(t->text), "%.*s", (int)frame->len, frame->bytes);
		api_frame_unref(frame);
	}
	return said;
}

/* The next line: "ADDED shop/a 101", "BOOKMARK 105", "BOOKMARK 105 end", "ERROR message"; WAIT; "END why". */
static const char *
next(struct told *t)
{
	static char brief[512];
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *type = NULL, *name = NULL, *rv = NULL, *message = NULL;
	struct api_doc_error error;
	const struct api_node *object, *meta;

	switch (step(t)) {
	case API_WATCH_WAIT:
		return "WAIT";
	case API_WATCH_END:
		snprintf(brief, sizeof(brief), "END %s", t->watch->end);
		return brief;
	case API_WATCH_LINE:
		break;
	}
	assert_int_equal(api_doc_parse(&doc, t->text, strlen(t->text), NULL, &error), 0);
	object = api_get(doc.root, "object");
	meta = api_get(object, "metadata");
	type = api_text_dup(api_get(doc.root, "type"));
	name = api_text_dup(api_get(meta, "name"));
	rv = api_text_dup(api_get(meta, "resourceVersion"));
	message = api_text_dup(api_get(object, "message"));
	if (!strcmp(type, "ERROR"))
		snprintf(brief, sizeof(brief), "ERROR %s", message);
	else if (!strcmp(type, "BOOKMARK"))
		snprintf(brief, sizeof(brief), "BOOKMARK %s%s", rv,
			 strstr(t->text, "initial-events-end") ? " end" : "");
	else
		snprintf(brief, sizeof(brief), "%s %s %s", type, name, rv);
	return brief;
}

/* Expect these lines in order. */
#define says(told, ...)                                                                                      \
	do {                                                                                                 \
		const char *const lines_[] = {__VA_ARGS__};                                                  \
		for (size_t i_ = 0; i_ < sizeof(lines_) / sizeof(*lines_); i_++)                             \
			assert_string_equal(next(told), lines_[i_]);                                         \
	} while (0)

static int
tear_down(void **state)
{
	while (opened_count > 0)
		api_watch_free(opened[--opened_count]);
	return world_tear_down(state);
}

#define TEST(name) TEST_CASE_OF(struct world *w, world_set_up, tear_down, name)

/* Without an RV a watch begins with an ADDED for each object, and a bookmark after them if asked for. */
TEST(a_watch_begins_with_the_state_and_marks_its_end)
{
	struct told t;

	put_pod(w, "shop", "b", NULL, NULL);
	put_pod(w, "shop", "a", NULL, NULL);
	put_pod(w, "other", "c", NULL, NULL);
	t = open_with(
		w, "shop",
		"watch&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		NULL, &usual);
	put_pod(w, "shop", "d", NULL, NULL); /* after the view */
	assert_non_null(t.watch->view);
	says(&t, "ADDED a 102", "ADDED b 101", "BOOKMARK 103 end");
	assert_int_equal(w->views, 0); /* no view is held any more */
	says(&t, "ADDED d 104", "WAIT");
}

/* Without initial events and without an RV, a watch sends the changes from now on. */
TEST(without_initial_events_a_watch_begins_now)
{
	struct told t;

	put_pod(w, "shop", "a", NULL, NULL);
	t = open_watch(w, "watch&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
	says(&t, "WAIT");
	put_pod(w, "shop", "b", NULL, NULL);
	says(&t, "ADDED b 102", "WAIT");
	assert_int_equal(w->views, 0);
}

/* An empty sendInitialEvents is true, as the server converts it. */
TEST(an_empty_bool_is_true)
{
	struct ask without = ask_for(w, NULL, "watch&sendInitialEvents=", NULL);
	struct ask with = ask_for(w, NULL, "watch&sendInitialEvents=&resourceVersionMatch=NotOlderThan",
				  NULL);
	struct ask list = ask_for(w, NULL, "sendInitialEvents=", NULL);
	struct api_query query;

	assert_int_equal(api_query_parse(&without.api, &query), -EINVAL);
	assert_int_equal(without.api.status.code, 422);
	assert_int_equal(api_query_parse(&with.api, &query), 0);
	assert_true(query.initial);
	api_query_done(&query);
	assert_int_equal(api_query_parse(&list.api, &query), -EINVAL);
	assert_int_equal(list.api.status.code, 422);
	api_status_done(&without.api.status);
	api_status_done(&list.api.status);
}

/* A change that enters a selection is an ADDED. One that leaves it is a DELETED with the old state. */
TEST(crossing_a_selection_is_added_and_deleted)
{
	struct told t;

	put_pod(w, "shop", "a", "web", NULL);
	t = open_watch(w, "watch&resourceVersion=101&labelSelector=app=web");
	put_pod(w, "shop", "a", "db", NULL);
	put_pod(w, "shop", "a", "db", NULL); /* outside: nothing */
	put_pod(w, "shop", "a", "web", NULL);
	put_pod(w, "shop", "a", "web", "n1");
	delete_pod(w, "shop/a");
	assert_string_equal(next(&t), "DELETED a 102");
	assert_non_null(strstr(t.text, "\"app\":\"web\"")); /* the state when it was selected */
	says(&t, "ADDED a 104", "MODIFIED a 105", "DELETED a 106", "WAIT");
	assert_int_equal(t.watch->told_rv, 106);
}

/* A namespace whose name only begins with the watched one is not watched. */
TEST(another_namespace_is_not_watched)
{
	struct told t = open_with(w, "shop", "watch&resourceVersion=100", NULL, &usual);

	put_pod(w, "shop2", "a", NULL, NULL);
	put_pod(w, "sho", "a", NULL, NULL);
	put_pod(w, "shop", "b", NULL, NULL);
	says(&t, "ADDED b 103", "WAIT");
}

/* A watch from an RV that is too old gets one ERROR line and ends. */
TEST(an_rv_below_the_history_is_expired)
{
	struct told t;

	put_pod(w, "shop", "a", NULL, NULL);
	w->floor = 101;
	t = open_watch(w, "watch&resourceVersion=100");
	assert_string_equal(next(&t), "ERROR too old resource version: 100 (101)");
	assert_non_null(strstr(t.text, "\"reason\":\"Expired\",\"code\":410"));
	says(&t, "END error", "END error");
}

/* Before an RV of the future is reached, a watch sends neither events nor bookmarks. */
TEST(an_rv_of_the_future_is_waited_for_in_silence)
{
	struct told t = open_watch(w, "watch&resourceVersion=102&allowWatchBookmarks=true");

	put_pod(w, "shop", "a", NULL, NULL);
	t.now = START + 61000;
	assert_string_equal(next(&t), "WAIT");
	put_pod(w, "shop", "b", NULL, NULL);
	put_pod(w, "shop", "c", NULL, NULL);
	assert_string_equal(next(&t), "ADDED c 103");
	t.now = api_watch_wait_until(t.watch);
	assert_string_equal(next(&t), "BOOKMARK 103");
}

/* A bookmark comes each minute and two seconds before the end, which is at timeoutSeconds. */
TEST(bookmarks_come_each_minute_and_before_the_end)
{
	struct told t = open_watch(w, "watch&resourceVersion=100&allowWatchBookmarks=true&timeoutSeconds=90");

	assert_string_equal(next(&t), "WAIT");
	assert_int_equal(api_watch_wait_until(t.watch), START + 60000);
	w->rv = 150; /* other resources go on */
	t.now = START + 60000;
	says(&t, "BOOKMARK 150", "WAIT");
	assert_int_equal(api_watch_wait_until(t.watch), START + 88000);
	t.now = START + 88000;
	says(&t, "BOOKMARK 150", "WAIT");
	t.now = START + 90000;
	assert_string_equal(next(&t), "END timeout");
}

/* A watch that did not ask for bookmarks gets none, not even after initial events. */
TEST(no_bookmark_comes_unasked)
{
	struct told t;

	put_pod(w, "shop", "a", NULL, NULL);
	t = open_watch(w, "watch&resourceVersion=0&timeoutSeconds=90");
	says(&t, "ADDED a 101", "WAIT");
	assert_int_equal(api_watch_wait_until(t.watch), START + 90000);
	t.now = START + 89999;
	assert_string_equal(next(&t), "WAIT");
}

/* A watch that its server ends sends its pending events, then a bookmark. */
TEST(a_server_ends_a_watch_after_a_bookmark)
{
	struct told t = open_watch(w, "watch&resourceVersion=100&allowWatchBookmarks=true");

	put_pod(w, "shop", "a", NULL, NULL);
	put_pod(w, "shop", "b", NULL, NULL);
	assert_string_equal(next(&t), "ADDED a 101");
	api_watch_end(t.watch, "drain");
	assert_false(t.watch->over);
	says(&t, "ADDED b 102", "BOOKMARK 102", "END drain");
}

/* A watch ended amid its initial events sends no bookmark: no RV would be true. */
TEST(a_watch_ended_amid_initial_events_has_no_bookmark)
{
	struct told t;

	put_pod(w, "shop", "a", NULL, NULL);
	put_pod(w, "shop", "b", NULL, NULL);
	t = open_watch(w, "watch&allowWatchBookmarks=true");
	assert_string_equal(next(&t), "ADDED a 101");
	api_watch_end(t.watch, "drain");
	assert_string_equal(next(&t), "END drain");
}

/* A line is made once for all watches of one form, and again for another form or another type of event. */
TEST(a_line_is_written_once_for_all_of_a_form)
{
	struct told full[8], metadata, into;
	const struct api_event *event;
	struct api_frame *frames[8], *frame;

	put_pod(w, "shop", "a", "db", NULL);
	for (unsigned i = 0; i < 8; i++)
		full[i] = open_watch(w, "watch&resourceVersion=101");
	metadata = open_with(w, NULL, "watch&resourceVersion=101", AS_METADATA, &usual);
	into = open_watch(w, "watch&resourceVersion=101&labelSelector=app=web");
	event = put_pod(w, "shop", "a", "web", NULL);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(api_watch_next(full[i].watch, START, &frames[i]), API_WATCH_LINE);
		assert_ptr_equal(frames[i], frames[0]);
	}
	for (unsigned i = 0; i < 8; i++)
		api_frame_unref(frames[i]);
	frame = event->frames->first;
	assert_null(frame->next);
	assert_string_equal(next(&metadata), "MODIFIED a 102");
	assert_null(strstr(metadata.text, "nodeName"));
	assert_string_equal(next(&into), "ADDED a 102");
	frame = event->frames->first;
	assert_ptr_not_equal(frame->next, NULL);
	assert_ptr_not_equal(frame->next->next, NULL);
	assert_null(frame->next->next->next);
}

/* A Table's columns come in a watch's first line alone, also if watches share lines. */
TEST(a_tables_columns_come_once)
{
	struct told early = open_with(w, NULL, "watch&resourceVersion=100", AS_TABLE, &usual), late;

	put_pod(w, "shop", "a", NULL, NULL);
	step(&early);
	assert_non_null(strstr(early.text, "\"columnDefinitions\":[{\"name\":\"Name\""));
	late = open_with(w, NULL, "watch&resourceVersion=101", AS_TABLE, &usual);
	put_pod(w, "shop", "b", NULL, NULL);
	step(&early);
	assert_non_null(strstr(early.text, "\"columnDefinitions\":null"));
	step(&late);
	assert_non_null(strstr(late.text, "\"columnDefinitions\":[{\"name\":\"Name\""));
}

/* In protobuf a line is a frame: its length, then a WatchEvent with an object of the typed kind. */
TEST(in_protobuf_a_line_is_a_frame)
{
	struct told t = open_with(w, NULL, "watch&resourceVersion=100", API_PROTOBUF_TYPE, &usual);
	struct api_frame *frame;
	const unsigned char *head;

	put_pod(w, "shop", "a", NULL, NULL);
	assert_int_equal(api_watch_next(t.watch, START, &frame), API_WATCH_LINE);
	head = (const unsigned char *)frame->bytes;
	assert_int_equal(frame->len - 4, head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3]);
	assert_non_null(memmem(frame->bytes, frame->len, "ADDED", 5));
	assert_non_null(memmem(frame->bytes, frame->len, "k8s", 3));
	api_frame_unref(frame);
}

/* A client without managedFields does not share lines with clients that have them. */
TEST(without_managed_fields_is_a_form_of_its_own)
{
	struct api_form plain = {.resource = w->pods, .shape = {.version = "v1"}}, bare = plain;

	bare.shape.bare = true;
	assert_true(api_line_form(&plain, API_ADDED, false) != api_line_form(&bare, API_ADDED, false));
	assert_true(api_line_form(&plain, API_ADDED, false) != api_line_form(&plain, API_DELETED, false));
	assert_true(api_line_form(&plain, API_ADDED, false) != api_line_form(&plain, API_ADDED, true));
}

/* When the store has lost its place, a watch ends silently or with 410, as it was opened. */
TEST(a_lost_place_ends_a_watch_or_is_410)
{
	struct told quiet = open_watch(w, "watch&resourceVersion=100"),
		    loud = open_with(w, NULL, "watch&resourceVersion=100", NULL, &telling);

	put_pod(w, "shop", "a", NULL, NULL);
	put_pod(w, "shop", "b", NULL, NULL);
	w->forgotten = 1;
	w->floor = 101;
	assert_string_equal(next(&quiet), "END its place in the history is gone");
	says(&loud, "ERROR too old resource version: 100 (101)", "END error");
}

/* A lost place is found again by its RV, if the store still has that RV. */
TEST(a_lost_place_is_found_again_by_its_rv)
{
	struct api_watch_options tell = telling;
	struct told t;

	tell.begun_rv = 101;
	t = open_with(w, NULL, "watch", NULL, &tell);
	put_pod(w, "shop", "a", NULL, NULL);
	put_pod(w, "shop", "b", NULL, NULL);
	w->forgotten = 1; /* position 0; but RV 101 is after the first */
	assert_string_equal(next(&t), "ADDED b 102");
}

/* A watch can begin after initial events that were sent elsewhere, at their position and RV. */
TEST(a_watch_goes_on_after_events_sent_elsewhere)
{
	struct api_watch_options begun = usual;
	struct told t;

	put_pod(w, "shop", "a", NULL, NULL);
	begun.begun_rv = w->rv;
	begun.begun_position = w->count;
	put_pod(w, "shop", "b", NULL, NULL);
	t = open_with(w, NULL, "watch&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", NULL,
		      &begun);
	says(&t, "ADDED b 102", "WAIT");
	assert_int_equal(w->views, 0);
}

/* Before its first list a store answers 429, to be retried in a second. */
TEST(before_the_first_list_it_is_429)
{
	static const char *const queries[] = {"watch", "watch&resourceVersion=100"};

	w->unsynced = true;
	for (unsigned i = 0; i < 2; i++) {
		struct ask ask = ask_for(w, NULL, queries[i], NULL);
		struct api_watch *watch;
		struct api_query query;

		assert_int_equal(api_query_parse(&ask.api, &query), 0);
		assert_int_equal(api_watch_open(&ask.api, &query, &w->store, &usual, START, &watch), -EAGAIN);
		assert_int_equal(ask.api.status.code, 429);
		assert_int_equal(ask.api.status.retry_after, 1);
		api_status_done(&ask.api.status);
	}
}

/* ---- unknown old states ---- */

/* Make the old state of the last change unknown. */
static void
forget_before(struct world *w)
{
	struct api_event *event = &w->events[w->count - 1];

	api_object_unref(event->prev);
	event->prev = NULL;
	event->unknown = true;
}

/* A watch without selectors does not need the old state. */
TEST(without_selectors_an_unknown_old_state_does_not_matter)
{
	struct told t = open_watch(w, "watch&resourceVersion=100");

	put_pod(w, "shop", "a", NULL, NULL);
	forget_before(w);
	put_pod(w, "shop", "a", NULL, NULL);
	forget_before(w);
	delete_pod(w, "shop/a");
	forget_before(w);
	says(&t, "ADDED a 101", "MODIFIED a 102", "DELETED a 103");
}

/* A pod of another node was never on this node, so its old state does not matter. */
TEST(a_pod_of_another_node_was_never_on_this_one)
{
	struct told t = open_watch(w, "watch&resourceVersion=100&fieldSelector=spec.nodeName=n1");

	put_pod(w, "shop", "a", NULL, "n2");
	forget_before(w);
	put_pod(w, "shop", "b", NULL, "n1");
	forget_before(w);
	says(&t, "ADDED b 102", "WAIT");
}

/* If an object may have left a label selection, the watch gets 410. */
TEST(an_object_that_may_have_left_a_selection_is_410)
{
	struct told t = open_watch(w, "watch&resourceVersion=100&labelSelector=app=web");

	put_pod(w, "shop", "a", "web", NULL);
	forget_before(w);
	put_pod(w, "shop", "a", "db", NULL);
	forget_before(w);
	says(&t, "ADDED a 101", "ERROR too old resource version: 101 (102)", "END error");
}

/*
 * A deletion after unknown states: if its last state is selected, it is a DELETED. Otherwise the client may
 * have had the object, and the watch gets 410.
 */
TEST(a_deleted_object_may_have_been_selected_before)
{
	struct told t = open_watch(w, "watch&resourceVersion=102&labelSelector=app=web");

	put_pod(w, "shop", "a", "web", NULL);
	put_pod(w, "shop", "b", "db", NULL);
	delete_pod(w, "shop/a");
	forget_before(w);
	delete_pod(w, "shop/b");
	forget_before(w);
	says(&t, "DELETED a 103", "ERROR too old resource version: 103 (104)", "END error");
}

/* The node of a deletion known by its name alone is unknown: a watch of a node gets 410. */
TEST(a_deletion_known_by_its_name_alone_is_410)
{
	struct told t = open_watch(w, "watch&resourceVersion=101&fieldSelector=spec.nodeName=n1"),
		    named = open_watch(w, "watch&resourceVersion=101&fieldSelector=metadata.name=b");

	put_pod(w, "shop", "a", NULL, NULL);
	delete_pod(w, "shop/a");
	forget_before(w);
	assert_string_equal(next(&named), "WAIT"); /* another name */
	assert_string_equal(next(&t), "ERROR too old resource version: 101 (102)");
}

TEST(many_changes_come_in_order)
{
	struct told t = open_watch(w, "watch&resourceVersion=100");
	char want[64];

	for (unsigned i = 0; i < 99; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		put_pod(w, "shop", name, NULL, NULL);
	}
	for (unsigned i = 0; i < 99; i++) {
		snprintf(want, sizeof(want), "ADDED p%u %u", i, 101 + i);
		assert_string_equal(next(&t), want);
	}
	assert_string_equal(next(&t), "WAIT");
}
