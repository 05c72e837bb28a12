/* SPDX-License-Identifier: Apache-2.0 */
/* The lists and watches of tools/serving over the arena. */
#include <inttypes.h>

#include "tests/tools/informer-gateway/arena_world.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/arena/arena_take.h"
#include "tools/informer-sim/list_measure.h"
#include "tools/serving/api_watch.h"

SET_UP(set_up, arena_world_opened("e100 a101 b102:n2 c103 d104:n2 -e105 @110", false))

static struct api_request
request_for(const struct arena_world *w)
{
	return (struct api_request){.method = "GET",
				    .url = "/api/v1/pods",
				    .resource = w->pods->resource,
				    .shape = {.version = "v1"}};
}

/* ---- lists ----------------------------------------------------------------- */

/* The result as "a101 b102 @110 +": objects, the list's RV, and + for a continue token, which is kept. */
static void
read_list(struct arena_world *w, struct api_list *list, char token[400])
{
	struct api_buf body = {0};
	size_t length = 0;
	char piece[100];
	ssize_t n;

	while ((n = api_list_read(list, piece, sizeof(piece))) > 0 || n == -EAGAIN)
		if (n > 0)
			api_buf_put(&body, piece, (size_t)n);
	w->text[0] = '\0';
	for (const char *at = body.data; at && (at = strstr(at, "\"metadata\":{\"name\":\"")); at++) {
		const char *name = at + strlen("\"metadata\":{\"name\":\"");
		const char *rv = strstr(at, "\"resourceVersion\":\"") + strlen("\"resourceVersion\":\"");

		length += (size_t)snprintf(w->text + length, sizeof(w->text) - length, "%.*s%.*s ",
					   (int)strcspn(name, "\""), name, (int)strcspn(rv, "\""), rv);
	}
	snprintf(w->text + length, sizeof(w->text) - length, "@%" PRIu64 "%s%s", api_list_rv(list),
		 sim_list_token(list) ? " +" : "", n == -EIO ? " broken" : "");
	snprintf(token, 400, "%s", sim_list_token(list) ? sim_list_token(list) : "");
	api_buf_done(&body);
}

/* Open a list and return its result; "410", "429" for a refusal. */
static const char *
list(struct arena_world *w, struct api_query *query, char token[400])
{
	struct api_request request = request_for(w);
	struct api_list *opened;
	struct gw_store *store = gw_store_new(w->pods);

	if (api_list_open(&request, query, &store->api, false, &opened) < 0) {
		snprintf(w->text, sizeof(w->text), "%d", request.status.code);
		api_status_done(&request.status);
	} else {
		read_list(w, opened, token);
		api_list_close(opened);
	}
	store->close(store);
	return w->text;
}

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

/* All pages show one state, whatever changes between them. After that state is dropped, a page is 410. */
TEST(pages_show_one_state)
{
	struct api_query first = {.limit = 2}, second = {.limit = 2};
	char token[400], next[400], last[400];

	assert_string_equal(list(w, &first, token), "a101 b102 @110 +");
	arena_world_tell(w, "-a111 aa112 c113 -d114 @114");
	second.next_token = token;
	assert_string_equal(list(w, &second, next), "c103 d104 @110");
	assert_string_equal(list(w, &first, last), "aa112 b102 @114 +");
	w->now_ms += 61000;
	arena_world_pump(w);
	arena_world_tell(w, "@120");
	assert_string_equal(list(w, &second, next), "410");
}

/* A selected list visits only the objects that the index gives. */
TEST(a_selected_list_visits_selected_objects_alone)
{
	struct api_query node = {0}, label = {0};
	char token[400], *error;

	assert_int_equal(api_fields_parse(w->pods->resource, "spec.nodeName=n2", &node.fields, &error), 0);
	assert_int_equal(api_labels_parse("app in (a,d),app!=a", &label.labels, &error), 0);
	assert_string_equal(list(w, &node, token), "b102 d104 @110");
	assert_string_equal(list(w, &label, token), "d104 @110");
	api_query_done(&node);
	api_query_done(&label);
}

TEST(a_list_whose_memory_is_taken_back_breaks_off)
{
	struct api_request request = request_for(w);
	struct api_query query = {0};
	struct api_list *opened;
	char token[400], piece[120];

	assert_int_equal(api_list_open(&request, &query, &w->store->api, false, &opened), 0);
	assert_int_equal(api_list_read(opened, piece, sizeof(piece)), sizeof(piece));
	arena_world_say(w, "a111 @111");
	broker_fixture_revoke_oldest(w->fx);
	read_list(w, opened, token);
	assert_non_null(strstr(w->text, "broken"));
	api_list_close(opened);
	assert_string_equal(list(w, &query, token), "a111 b102 c103 d104 @111");
}

TEST(an_incomplete_cache_answers_try_again)
{
	struct api_query query = {0};
	char token[400];

	arena_world_say(w, "a111");
	assert_string_equal(list(w, &query, token), "429");
	arena_world_say(w, "@111");
	assert_string_equal(list(w, &query, token), "a111 b102 c103 d104 @111");
}

/* ---- watches --------------------------------------------------------------- */

struct watcher {
	struct gw_store *store;
	struct api_watch *watch;
	unsigned woken;
};

static void
on_wake(void *context)
{
	((struct watcher *)context)->woken++;
}

static void
open_watch(struct arena_world *w, struct watcher *x, const char *fields, const char *labels, uint64_t rv)
{
	static const struct api_watch_options options = {
		.bookmark_ms = 60000, .timeout_ms = 600000, .tell_lost = true};
	struct api_request request = request_for(w);
	struct api_query query = {.watch = true, .bookmarks = true, .rv_given = true, .rv = rv};
	char *error;

	memset(x, 0, sizeof(*x));
	assert_int_equal(api_fields_parse(w->pods->resource, fields, &query.fields, &error), 0);
	assert_int_equal(api_labels_parse(labels, &query.labels, &error), 0);
	x->store = gw_store_new(w->pods);
	x->store->watch(x->store, NULL, &query, on_wake, x);
	assert_int_equal(api_watch_open(&request, &query, &x->store->api, &options, 1000, &x->watch), 0);
}

static void
close_watch(struct watcher *x)
{
	api_watch_free(x->watch);
	x->store->close(x->store);
}

/* The next lines, as "ADDED a111 …"; bookmarks with their RV, errors with their code. */
static const char *
lines(struct arena_world *w, struct watcher *x, uint64_t now_ms)
{
	struct api_frame *frame;
	enum api_watch_said said;
	size_t length = 0;

	w->text[0] = '\0';
	while ((said = api_watch_next(x->watch, now_ms, &frame)) == API_WATCH_LINE) {
		const char *type = frame->bytes + strlen("{\"type\":\"");
		char *line = api_strndup(frame->bytes, frame->len), *name, *rv, *code;

		name = strstr(line, "\"name\":\"");
		rv = strstr(line, "\"resourceVersion\":\"");
		code = strstr(line, "\"code\":");
		length += (size_t)snprintf(w->text + length, sizeof(w->text) - length, "%.*s %.*s%.*s ",
					   (int)strcspn(type, "\""), type,
					   name ? (int)strcspn(name + 8, "\"") : 0, name ? name + 8 : "",
					   rv ? (int)strcspn(rv + 19, "\"") : 0, rv ? rv + 19 : "");
		if (code)
			length += (size_t)snprintf(w->text + length, sizeof(w->text) - length, "%.3s ",
						   code + 7);
		free(line);
		api_frame_unref(frame);
	}
	if (said == API_WATCH_END)
		snprintf(w->text + length, sizeof(w->text) - length, "END");
	return w->text;
}

/* A watch of one node is woken by that node's changes alone. It hears objects enter and leave the node. */
TEST(a_watch_of_a_node_hears_that_node_alone)
{
	struct watcher x;

	open_watch(w, &x, "spec.nodeName=n2", "", 110);
	assert_string_equal(lines(w, &x, 1000), "");
	arena_world_tell(w, "a111 c112 -a113 @113");
	assert_int_equal(x.woken, 0);
	arena_world_tell(w, "b114:n2 d115:n3 f116:n2 -b117:n2 @120");
	assert_int_equal(x.woken, 1);
	assert_string_equal(lines(w, &x, 1000), "MODIFIED b114 DELETED d115 ADDED f116 DELETED b117 ");
	assert_string_equal(lines(w, &x, 70000), "BOOKMARK 120 ");
	close_watch(&x);
}

/* Watches without selectors share frames, each made once. */
TEST(frames_are_shared)
{
	struct api_frame *one, *two;
	struct watcher x, y;

	open_watch(w, &x, "", "", 110);
	open_watch(w, &y, "", "", 110);
	arena_world_tell(w, "a111 @111");
	assert_int_equal(api_watch_next(x.watch, 1000, &one), API_WATCH_LINE);
	assert_int_equal(api_watch_next(y.watch, 1000, &two), API_WATCH_LINE);
	assert_ptr_equal(one, two);
	api_frame_unref(one);
	api_frame_unref(two);
	close_watch(&x);
	close_watch(&y);
}

/* A watch goes on when the next informerd lists anew and the watch has missed nothing. */
TEST(a_watch_that_missed_nothing_goes_on)
{
	const struct gw_feed *feed = &w->pods->feed;
	struct informer_cursor before, now;
	struct gw_reading reading;
	struct watcher x;

	/* the new arena counts fewer changes than the old one */
	for (unsigned rv = 111; rv < 120; rv++) {
		char said[32];

		snprintf(said, sizeof(said), "a%u @%u", rv, rv);
		arena_world_tell(w, said);
	}
	open_watch(w, &x, "spec.nodeName=n2", "", 119);
	assert_int_equal(informer_handler_cursor(feed->handler, &before), 0);
	broker_fixture_replace(w->fx, true);
	arena_world_say(w, "a119 b102:n2 c103 d104:n2 @119");
	arena_world_until(w, informer_handler_cursor(feed->handler, &now) == 0 &&
				     memcmp(now.lineage, before.lineage, sizeof(now.lineage)) != 0);
	arena_world_reach(w, 119);
	assert_int_equal(gw_entry_begin_whole(w->pods, &reading), 0);
	gw_reading_end(&reading);
	assert_string_equal(lines(w, &x, 1000), "");
	arena_world_tell(w, "b120:n2 @120");
	assert_string_equal(lines(w, &x, 1000), "MODIFIED b120 ");
	close_watch(&x);
}
