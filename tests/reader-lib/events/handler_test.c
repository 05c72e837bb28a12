/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers are told, driven by informer_dispatch(), with a writer in this process. */
#include <poll.h>

#include "reader-lib/events/handler.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/recorder_world.h"
#include "tests/support/test_clock.h"

SET_UP(set_up, recorder_world_new("", false))

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* Until the first list is complete every add is initial; then on_synced is called. */
TEST_CASE(adds_before_the_first_list_is_complete_are_initial)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct informer *inf;
	struct recorder *r;

	broker_fixture_start(fx);
	recorder_change_unsynced(fx, "a1");
	inf = broker_fixture_attach(fx, 0);
	r = recorder_new(inf);
	recorder_add(r);
	recorder_expect(r, "+a1*");
	recorder_change_unsynced(fx, "b1");
	recorder_expect(r, "+b1*");
	assert_false(informer_handler_has_synced(r->handler));
	recorder_change(fx, "c1");
	recorder_expect(r, "+c1* SYNCED");
	assert_true(informer_handler_has_synced(r->handler));
	recorder_change(fx, "d1");
	recorder_expect(r, "+d1");
	informer_detach(inf);
	recorder_free(r);
	broker_fixture_free(fx);
}

/* How often the filter was called, and how often for objects that another selector excludes. */
static unsigned filter_asked, filter_asked_in_vain;

static bool
only_web(void *context, const struct informer_object *object)
{
	const struct recorder *r = context;
	char json[4096];
	size_t length;

	assert_ptr_equal(r->options.context, r);
	assert_int_equal(informer_object_json(object, json, sizeof(json), &length), 0);
	assert_true(length < sizeof(json));
	filter_asked++;
	filter_asked_in_vain += strstr(json, "\"db\"") != NULL;
	return strstr(json, "\"web\"") != NULL;
}

/* A filter is called only for objects that the other selectors match. */
TEST(a_filter_comes_after_the_other_selectors)
{
	recorder_change(w->fx, "a1:web b1:db c1:mid");
	w->r->options.label_selector = "app!=db";
	w->r->options.filter = only_web;
	filter_asked = filter_asked_in_vain = 0;
	PLAY(w, "", "+a1* SYNCED", "a2:mid b2:web c2:web", "-a1 +b2 +c2");
	assert_true(filter_asked >= 2);
	assert_int_equal(filter_asked_in_vain, 0);
}

static bool
knows_its_resource(void *context, const struct informer_object *object)
{
	const struct recorder *r = context;
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_snapshot snap;

	assert_int_equal(informer_begin(r->inf, &snap), 0);
	assert_int_equal(informer_resource_info_at(&snap, informer_object_position(object), &info), 0);
	assert_int_equal(info.resource_length, 4);
	assert_memory_equal(info.resource, "pods", 4);
	informer_end(&snap);
	return true;
}

/* ---- what is told of what happens ---- */

/* Present objects come first as initial adds, then on_synced, then each change with old and new state. */
TEST(present_objects_come_first_then_each_change)
{
	PLAY(w, "a1 b1", "+a1* +b1* SYNCED", "c1 a2;a3 -b", "+c1 a1>a2 a2>a3 -b1");
}

TEST(a_name_created_anew_is_a_delete_and_an_add)
{
	PLAY(w, "a1", "+a1* SYNCED", "a2:new", "-a1? +a2");
}

/*
 * A deletion tells the final state that came with it. If the deletion was not seen, it tells the last state
 * known. With a selector it tells the last state that matched.
 */
TEST(a_deletion_tells_the_final_state)
{
	w->r->options.label_selector = "app=web";
	PLAY(w, "a1:web b1:web c1:web d1:db", "+a1* +b1* +c1* SYNCED", "-a2:web -b? -c2:db -d2:db",
	     "-a2 -b1? -c1");
}

/* A handler that catches up is told the final state from the tombstone. */
TEST(a_catch_up_tells_final_states)
{
	w->r->options.queue_entries = 64;
	PLAY(w, "a1 b1 c1", "+a1* +b1* +c1* SYNCED", "-a2 -b?;c*80", "COALESCED -a2 -b1? ?>c80");
}

TEST(a_handler_of_a_namespace_is_told_only_of_it)
{
	w->r->options.namespace_ = "x";
	PLAY(w, "a1 x/b1 y/c1", "+x/b1* SYNCED", "a2 x/b2 y/d1 x/e1 -a -x/b", "x/b1>x/b2 +x/e1 -x/b2");
}

/* An update that crosses a selector is an add, or a delete with the last state that matched. */
TEST(updates_that_cross_the_selector_become_add_or_delete)
{
	w->r->options.label_selector = "app=web";
	PLAY(w, "a1:web b1:db", "+a1* SYNCED", "a2:db b2:web;a3:db b3:web;-a -b", "-a1 +b2 b2>b3 -b3");
}

TEST(field_selectors_select_as_label_selectors_do)
{
	w->r->options.field_selector = "metadata.labels.app!=db,spec.nodeName=n1";
	PLAY(w, "a1:web b1:db", "+a1* SYNCED", "a2:db b2:web", "-a1 +b2");
}

/* A filter selects as a selector does: crossing updates and final states. */
TEST(a_filter_selects_as_selectors_do)
{
	w->r->options.filter = only_web;
	PLAY(w, "a1:web b1:db c1:web d1:web", "+a1* +c1* +d1* SYNCED",
	     "a2:db b2:web;a3:db b3:web e1:db f1:web", "-a1 +b2 b2>b3 +f1", "-a -b4:web -c? -d2:db",
	     "-b4 -c1? -d1");
}

/* A filter may take a snapshot, and the object it gets has the resource's position. */
TEST(a_filter_may_take_a_snapshot)
{
	w->r->options.filter = knows_its_resource;
	PLAY(w, "a1", "+a1* SYNCED", "a2;-a", "a1>a2 -a2");
}

/* After an overflow the handler is told COALESCED, one event for each key, then each change again. */
TEST(a_full_queue_is_coalesced)
{
	w->r->options.queue_entries = 64;
	PLAY(w, "a1 b1 c1", "+a1* +b1* +c1* SYNCED", "b2;a*79;-b d1;c2:new",
	     "COALESCED ?>a79 -b2 +d1 -c1? +c2", "a80", "a79>a80", "-a", "-a80");
}

/* A catch-up with changes within, out of, into and outside of what a handler of "web" sees; then changes. */
static void
catch_up_across(struct recorder_world *w, const char *caught_up, const char *changes, const char *told)
{
	w->r->options.queue_entries = 64;
	PLAY(w, "a1:web b1:web c1:db d1:db", "+a1* +b1* SYNCED",
	     "x*80:db;a2:web b2:db c2:web d2:db e1:web f1:db -d", caught_up, changes, told);
}

/* With a filter a catch-up tells nothing of objects that the handler never heard of. */
TEST(a_filter_in_a_catch_up_is_exact)
{
	w->r->options.filter = only_web;
	catch_up_across(w, "COALESCED ?>a2 -b2? +c2 +e1", "b3:web c3:db -e", "+b3 -c2 -e1");
}

static struct informer_handler_stats
stats_of(const struct recorder_world *w)
{
	struct informer_handler_stats stats = {.size = sizeof(stats)};

	assert_int_equal(informer_handler_stats(w->r->handler, &stats), 0);
	return stats;
}

/* With a selector a catch-up tells nothing of objects that the handler never heard of. */
TEST(selectors_in_a_catch_up_are_exact)
{
	w->r->options.label_selector = "app=web";
	catch_up_across(w, "COALESCED ?>a2 -b2? +c2 +e1", "b3:web c3:db -e", "+b3 -c2 -e1");
	assert_int_equal(stats_of(w).keys, 2);
}

/* A rebuilt store is told as adds, updates and deletes. */
TEST(another_lineage_is_exact)
{
	PLAY(w, "a1 b1 c1 d1", "+a1* +b1* +c1* +d1* SYNCED", "d2", "d1>d2", "REPLACE;b2 c1 d9:new e1",
	     "COALESCED ?>b2 -d! +d9 +e1 -a!", "-c e2", "-c1 e1>e2", "REPLACE;b2 e2", "COALESCED -d!");
}

/* A cursor belongs to a lineage: an acknowledgement in the old lineage means nothing in the new one. */
TEST(in_another_lineage_a_consumer_acknowledges_anew)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN END SYNCED", "a1 b1", "+a1 +b1", "REPLACE;a2 b2", "COALESCED ?>a2 ?>b2",
	     "DETACH;a3 -b;ATTACH", "COALESCED ?>a3 -b2 SYNCED");
}

/* A consumer that missed nothing while away is told deletions of objects that its previous process knew. */
TEST(a_consumer_is_told_deletions_of_what_its_previous_process_knew)
{
	w->r->options.consumer = "agent";
	PLAY(w, "a1 b1 c1", "RESYNC BEGIN +a1* +b1* +c1* END SYNCED", "DETACH;ATTACH", "SYNCED", "a2 -b d1",
	     "a1>a2 -b1 +d1", "REPLACE;a2 d2", "COALESCED ?>d2 -c!");
}

TEST(bad_options_are_refused)
{
	char longer[300];

	memset(longer, 'n', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	w->r->options.label_selector = "app in (";
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "app in (");
	w->r->options.label_selector = NULL;
	w->r->options.field_selector = "spec.nodeName";
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), INFORMER_E_SYNTAX);
	w->r->options.field_selector = NULL;
	w->r->options.consumer = longer;
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), -ENAMETOOLONG);
	w->r->options.consumer = NULL;
	w->r->options.namespace_ = longer;
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), -ENAMETOOLONG);
	w->r->options.namespace_ = NULL;
	w->r->options.resource = NULL;
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), -EINVAL);
	assert_int_equal(informer_add_handler(NULL, &w->r->options, NULL), -EINVAL);
	assert_int_equal(informer_add_handler(w->inf, NULL, NULL), -EINVAL);
}

/* A late handler gets present objects as initial adds, then events; the earlier one gets only events. */
TEST(a_late_handler_is_told_of_all_that_is_there)
{
	PLAY(w, "a1", "+a1* SYNCED");
	recorder_change(w->fx, "b1 a2");
	recorder_add(w->other);
	recorder_expect(w->other, "+b1* +a2* SYNCED");
	PLAY(w, "a3", "+b1 a1>a2 a2>a3");
	recorder_expect(w->other, "a2>a3");
}

TEST(a_resource_that_is_not_cached_yet_is_waited_for)
{
	w->r->options.resource = "nodes";
	recorder_add(w->r);
	dispatch_all(w->inf);
	PLAY(w, "a1", "");
	informer_remove_handler(w->r->handler);
	recorder_expect(w->r, "DONE");
	w->r->options.resource = "po";
	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
}

TEST_CASE(a_handler_may_come_before_the_daemon)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct informer *inf = broker_fixture_attach(fx, 0);
	struct recorder *r = recorder_new(inf);

	recorder_add(r);
	dispatch_all(inf);
	broker_fixture_start(fx);
	recorder_change(fx, "a1");
	recorder_expect(r, "+a1* SYNCED");
	recorder_change(fx, "a2");
	recorder_expect(r, "a1>a2");
	informer_detach(inf);
	recorder_free(r);
	broker_fixture_free(fx);
}

static void
remove_itself(struct recorder *r)
{
	informer_remove_handler(r->handler);
}

/* A RESYNC is acknowledged after its deletions were told. */
TEST(deletions_of_a_resync_are_told_before_they_are_acknowledged)
{
	char *text;

	w->r->options.consumer = "agent";
	PLAY(w, "a1 b1 c1", "RESYNC BEGIN +a1* +b1* +c1* END SYNCED");
	w->r->each = remove_itself;
	broker_fixture_replace(w->fx, true);
	recorder_change(w->fx, "c1");
	DISPATCH_UNTIL(w->inf, !stats_of(w).subscribed);
	text = recorder_text(w->r, true);
	/* the order of the two depends on their hashes */
	assert_true(strcmp(text, "COALESCED -a! DONE") == 0 || strcmp(text, "COALESCED -b! DONE") == 0);
	free(text);
	w->r->each = NULL;
	recorder_add(w->r);
	recorder_expect(w->r, "RESYNC BEGIN +c1* END SYNCED");
}

/* A resync skips an object with a waiting event: its new state would be told before its change. */
TEST(a_resync_skips_objects_with_a_waiting_event)
{
	struct handler_work *work;

	w->r->options.resync_ms = 3600000;
	PLAY(w, "a1 b1", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	work = w->r->handler->work;
	/* the whole period is over before the change was told */
	do {
		work->due_ns = 0;
		resync_turn(w->r->handler);
	} while (work->at > 0);
	work->due_ns = UINT64_MAX;
	recorder_expect(w->r, "b1=b1 a1>a2");
}

/* Where a handler stood when a RESYNC came, and whether its cursor moved during the calls. */
struct standing {
	struct informer_cursor at;
	unsigned calls;
	bool moved;
};

static void
look_where_it_stands(struct recorder *r)
{
	struct standing *standing = r->context;
	struct informer_cursor cursor;

	assert_int_equal(informer_handler_cursor(r->handler, &cursor), 0);
	standing->moved |= memcmp(&cursor, &standing->at, sizeof(cursor)) != 0;
	standing->calls++;
}

/* The cursor does not move during a RESYNC. */
TEST(a_resync_moves_the_cursor_at_its_end)
{
	struct standing standing = {.calls = 0};
	struct informer_cursor after;

	PLAY(w, "a1 b1 c1", "+a1* +b1* +c1* SYNCED");
	assert_int_equal(informer_handler_cursor(w->r->handler, &standing.at), 0);
	w->r->context = &standing;
	w->r->each = look_where_it_stands;
	PLAY(w, "REPLACE;a1 b2", "COALESCED ?>b2 -c!");
	assert_int_equal(standing.calls, 2);
	assert_false(standing.moved);
	assert_int_equal(informer_handler_cursor(w->r->handler, &after), 0);
	assert_memory_not_equal(after.lineage, standing.at.lineage, sizeof(after.lineage));
}

/* After on_done there is no call; removing a handler twice is allowed. */
TEST(a_removed_handler_is_called_no_more)
{
	PLAY(w, "a1", "+a1* SYNCED");
	informer_remove_handler(w->r->handler);
	recorder_change(w->fx, "a2");
	dispatch_all(w->inf);
	recorder_expect(w->r, "DONE");
	informer_remove_handler(w->r->handler);
	recorder_expect(w->r, "");
	recorder_add(w->r);
	recorder_expect(w->r, "+a2* SYNCED");
}

/* The call from which a handler removes itself is the last one before on_done. */
TEST(a_handler_may_remove_itself)
{
	w->r->each = remove_itself;
	PLAY(w, "a1 b1", "+a1* DONE");
	informer_remove_handler(w->r->handler);
}

static void
pause_itself(struct recorder *r)
{
	assert_int_equal(informer_pause_handler(r->handler, true), 0);
}

/* A handler paused during its initial adds resumes there; changes meanwhile are not lost. */
TEST(a_paused_handler_resumes_where_it_was)
{
	struct informer_status status = {.size = sizeof(status)};

	w->r->each = pause_itself;
	PLAY(w, "a1 b1 c1", "+a1*");
	recorder_change(w->fx, "b2 d1");
	dispatch_all(w->inf);
	assert_int_equal(informer_status(w->inf, &status), 0);
	assert_int_equal(status.pins, 0);
	informer_pause_handler(w->r->handler, false);
	recorder_expect(w->r, "+c1*");
	informer_pause_handler(w->r->handler, false);
	recorder_expect(w->r, "+b2*");
	w->r->each = NULL;
	informer_pause_handler(w->r->handler, false);
	recorder_expect(w->r, "+d1 SYNCED");
}

/* After informer_stop() no handler is called and none can be added; lookups still work. */
TEST(a_stopped_handle_refuses_handlers)
{
	struct informer_snapshot snap;

	PLAY(w, "a1", "+a1* SYNCED");
	assert_int_equal(informer_stop(w->inf), 0);
	recorder_expect(w->r, "DONE");
	recorder_change(w->fx, "a2");
	dispatch_all(w->inf);
	recorder_expect(w->r, "");
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), INFORMER_E_STOPPED);
	assert_int_equal(informer_run(w->inf), INFORMER_E_STOPPED);
	assert_int_equal(informer_stop(w->inf), 0);
	assert_int_equal(informer_begin(w->inf, &snap), 0);
	informer_end(&snap);
}

/* Detaching removes handlers that are still there. */
TEST(detaching_removes_handlers)
{
	char *text;

	PLAY(w, "a1", "+a1* SYNCED");
	informer_detach(w->inf);
	w->inf = NULL;
	text = recorder_text(w->r, true);
	assert_string_equal(text, "DONE");
	free(text);
}

/* A 65th handler is refused with a message. */
TEST(there_is_room_for_64_handlers)
{
	struct recorder *all[64];

	recorder_change(w->fx, "a1");
	for (int i = 0; i < 64; i++) {
		all[i] = recorder_new(w->inf);
		recorder_add(all[i]);
	}
	assert_int_equal(informer_add_handler(w->inf, &w->r->options, NULL), -EUSERS);
	assert_error_text(-EUSERS, "64");
	for (int i = 0; i < 64; i++)
		recorder_expect(all[i], "+a1* SYNCED");
	recorder_change(w->fx, "a2");
	for (int i = 0; i < 64; i++)
		recorder_expect(all[i], "a1>a2");
	informer_remove_handler(all[5]->handler);
	PLAY(w, "", "+a2* SYNCED");
	informer_stop(w->inf);
	for (int i = 0; i < 64; i++)
		recorder_free(all[i]);
}

/* An error of the Reflector is told, also to a later handler, and so is its recovery. */
TEST(errors_of_the_reflector_are_told)
{
	static const char expired[] =
		"{\"recovered\":false,\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\",\"since\":"
		"\"2026-01-01T00:00:00Z\",\"count\":1}";
	static const char recovered[] =
		"{\"recovered\":true,\"code\":0,\"reason\":\"\",\"message\":\"\",\"since\":"
		"\"2026-01-01T00:00:01Z\",\"count\":0}";

	PLAY(w, "", "SYNCED");
	broker_fixture_status(w->fx, expired);
	recorder_expect(w->r, "ERROR(pods 410 Expired)");
	recorder_add(w->other);
	recorder_expect(w->other, "ERROR(pods 410 Expired) SYNCED");
	broker_fixture_status(w->fx, recovered);
	recorder_expect(w->r, "RECOVERED");
	recorder_expect(w->other, "RECOVERED");
}

/* A resync is told only to the handler that asked for it. [ListenerResyncPeriods] */
TEST(a_resync_is_told_only_to_its_handler)
{
	PLAY(w, "a1", "+a1* SYNCED");
	w->other->options.resync_ms = 1000;
	recorder_add(w->other);
	recorder_expect(w->other, "+a1* SYNCED");
	for (int i = 0; i < 2; i++) {
		test_clock_move(1000);
		recorder_expect(w->other, "a1=a1");
	}
	recorder_expect(w->r, "");
	informer_remove_handler(w->other->handler);
	dispatch_all(w->inf);
	recorder_expect(w->other, "DONE");
}

/* A resync tells each object as an update of itself, once a period. */
TEST(resync_tells_each_object_again)
{
	w->r->options.resync_ms = 1; /* counts as 1,000 */
	PLAY(w, "a1 b1", "+a1* +b1* SYNCED");
	test_clock_move(500);
	recorder_expect(w->r, "a1=a1");
	test_clock_move(500);
	recorder_expect(w->r, "b1=b1");
	test_clock_move(500);
	recorder_expect(w->r, "a1=a1");
}

/* A forked child may free the handle, which calls no handler; the parent's handler continues. */
TEST(a_forked_child_calls_no_handler)
{
	struct informer_handler_stats stats = {.size = sizeof(stats)};
	struct informer_cursor cursor;
	int status;
	pid_t child;

	PLAY(w, "a1", "+a1* SYNCED");
	child = fork();
	if (child == 0) {
		unsigned calls = w->r->calls;
		bool good = informer_add_handler(w->inf, &w->r->options, NULL) == INFORMER_E_FORKED &&
			    informer_handler_stats(w->r->handler, &stats) == INFORMER_E_FORKED &&
			    informer_handler_cursor(w->r->handler, &cursor) == INFORMER_E_FORKED &&
			    informer_pause_handler(w->r->handler, true) == INFORMER_E_FORKED &&
			    informer_run(w->inf) == INFORMER_E_FORKED &&
			    informer_stop(w->inf) == INFORMER_E_FORKED &&
			    informer_dispatch(w->inf) == INFORMER_E_FORKED &&
			    !informer_handler_has_synced(w->r->handler);

		informer_remove_handler(w->r->handler);
		informer_detach(w->inf);
		_exit(good && w->r->calls == calls ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	PLAY(w, "a2", "a1>a2");
}

/* Store the cursor's seq in *context. */
static void
read_cursor(struct recorder *r)
{
	struct informer_cursor cursor;

	assert_int_equal(informer_handler_cursor(r->handler, &cursor), 0);
	*(uint64_t *)r->context = cursor.seq;
}

TEST(cursor_and_stats_tell_where_it_stands)
{
	struct informer_handler_stats stats;
	uint64_t seq = 0, first;

	w->r->each = read_cursor;
	w->r->context = &seq;
	PLAY(w, "a1 b1", "+a1* +b1* SYNCED");
	first = seq;
	assert_true(first > 0);
	recorder_change(w->fx, "a2");
	stats = stats_of(w);
	assert_int_equal(stats.waiting, 1);
	assert_int_equal(stats.lag_seq, 1);
	recorder_expect(w->r, "a1>a2");
	assert_int_equal(seq, first + 1);
	stats = stats_of(w);
	assert_int_equal(stats.events, 3);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(stats.lag_seq, 0);
	assert_true(stats.synced && stats.subscribed);
}

static unsigned second_pods;

static void
add_second_entry(struct broker_fixture *fx, void *context)
{
	static const uint8_t fingerprint[32] = "pods of namespace x";
	char descriptor[2000];

	(void)context;
	snprintf(descriptor, sizeof(descriptor), "{\"namespace\":\"x\",%s", pods_descriptor + 1);
	assert_int_equal(store_add_resource(fx->store->store, descriptor, fingerprint, &second_pods), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* Apply changes to the other entry. */
static void
change_second(struct broker_fixture *fx, const char *changes, bool synced)
{
	unsigned first = fx->store->pods;

	fx->store->pods = second_pods;
	if (synced)
		recorder_change(fx, changes);
	else
		recorder_change_unsynced(fx, changes);
	fx->store->pods = first;
}

/* A resource cached by several entries is told as one, in order; it is synced when all entries are. */
TEST(several_entries_are_told_as_one)
{
	char word[32];

	broker_fixture_do(w->fx, add_second_entry, NULL);
	recorder_change(w->fx, "a1");
	change_second(w->fx, "x/b1", false);
	w->r->options.queue_entries = 64;
	PLAY(w, "c1", "+a1* +x/b1* +c1*");
	change_second(w->fx, "x/d1", true);
	recorder_expect(w->r, "+x/d1* SYNCED");
	recorder_change(w->fx, "a2");
	change_second(w->fx, "x/b2 -x/d", true);
	recorder_expect(w->r, "a1>a2 x/b1>x/b2 -x/d1");
	for (int i = 3; i < 80; i++) {
		snprintf(word, sizeof(word), "x/b%d", i);
		change_second(w->fx, word, true);
	}
	recorder_change(w->fx, "a3 -c");
	change_second(w->fx, "x/e1", true);
	recorder_expect(w->r, "COALESCED ?>x/b79 ?>a3 -c1 +x/e1");
}
