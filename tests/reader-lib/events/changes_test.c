/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_changes_next(): a pulled handler gets the same changes, in the same order, as a handler with
 * functions. What the call lends is valid until the next call.
 */
#include <poll.h>

#include "reader-lib/events/run.h"
#include "tests/room.h"
#include "tests/support/recorder_world.h"

static struct recorder_world *
pulled_world(void)
{
	struct recorder_world *w = recorder_world_new("a1", true);

	w->r->options.pull = true;
	return w;
}

SET_UP(set_up, pulled_world())

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* ---- the stories of handlers, pulled ---- */

TEST(each_change_is_pulled_in_order)
{
	PLAY(w, "b1", "+a1* +b1* SYNCED", "a2;b2 c1;-a", "a1>a2 b1>b2 +c1 -a2");
}

TEST(selectors_narrow_a_pulled_handler)
{
	w->r->options.label_selector = "app=web";
	PLAY(w, "b1:web c1:db", "+b1* SYNCED", "b2:db c2:web;-c", "-b1 +c2 -c2");
}

/* The filter gets the user's context; the handler's other functions have another. */
static bool
is_b(void *context, const struct informer_object *object)
{
	const char *name = "";
	size_t length = 0;

	assert_string_equal(((struct recorder *)context)->options.resource, "pods");
	return informer_object_name(object, &name, &length) == 0 && name[0] == 'b';
}

TEST(a_filter_narrows_a_pulled_handler)
{
	w->r->options.filter = is_b;
	PLAY(w, "b1 c1", "+b1* SYNCED", "a2;b2", "b1>b2");
}

TEST(a_full_queue_is_coalesced)
{
	w->r->options.queue_entries = QUEUE_ENTRIES_MIN;
	PLAY(w, "b1", "+a1* +b1* SYNCED", "a*70;-b c1", "COALESCED ?>a70 -b1 +c1", "c2", "c1>c2");
}

/* Where only keys are known, a deletion has its object until the next call. */
TEST(another_lineage_is_pulled_as_changes)
{
	PLAY(w, "b1 c1", "+a1* +b1* +c1* SYNCED", "REPLACE;b1 c2", "COALESCED ?>c2 -a!", "REPLACE;c9:new",
	     "COALESCED -c! +c9 -b!");
}

TEST(a_pulled_consumer_resumes_at_its_cursor)
{
	w->r->options.consumer = "agent";
	PLAY(w, "b1", "BEGIN +a1* +b1* END SYNCED", "a2", "a1>a2");
	/* a change counts as acknowledged with the next call */
	assert_int_equal(recorder_pull(w->r, 0), 0);
	recorder_change(w->fx, "");
	PLAY(w, "DETACH;a3 -b c1;ATTACH", "COALESCED ?>a3 -b1 +c1 SYNCED");
}

/* ---- what is lent ---- */

static unsigned
version_of(const struct informer_object *object)
{
	const char *text = "";
	size_t length = 0;

	assert_int_equal(informer_object_resource_version(object, &text, &length), 0);
	return (unsigned)atoi(text);
}

/* Pull a's update to version 2. */
static const struct informer_change *
lent_update(struct recorder_world *w)
{
	const struct informer_change *change;

	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	recorder_change(w->fx, "a2");
	assert_int_equal(informer_changes_next(w->r->handler, 10000, &change), 1);
	return change;
}

/* A lent change reads the same until the next call, whatever the writer does meanwhile. */
TEST(a_change_stays_until_the_next_call)
{
	const struct informer_change *change = lent_update(w);

	recorder_world_happen(w, "a*199");
	assert_int_equal(change->kind, INFORMER_CHANGE_UPDATED);
	assert_int_equal(version_of(change->object), 2);
	assert_int_equal(version_of(change->old), 1);
	assert_int_equal(informer_changes_next(w->r->handler, 10000, &change), 1);
	assert_int_equal(version_of(change->object), 3);
}

/* When the arena is revoked while a change is lent, the object is told again. */
TEST(a_change_lent_from_a_revoked_arena_is_pulled_again)
{
	lent_update(w);
	broker_fixture_adopt(w->fx);
	broker_fixture_adopt(w->fx);
	recorder_expect(w->r, "COALESCED ?>a2");
	recorder_change(w->fx, "-a");
	recorder_expect(w->r, "-a2");
}

/* A handler may be paused or removed while a change is lent. */
TEST(a_lent_change_ends_with_its_handler)
{
	recorder_add(w->r);
	assert_int_equal(recorder_pull(w->r, 10000), 1);
	assert_int_equal(informer_pause_handler(w->r->handler, true), 0);
	assert_int_equal(recorder_pull(w->r, 0), 0);
	assert_false(w->r->handler->work->feed.open);
	assert_int_equal(informer_pause_handler(w->r->handler, false), 0);
	recorder_expect(w->r, "+a1* SYNCED");
	recorder_change(w->fx, "a2");
	assert_int_equal(recorder_pull(w->r, 10000), 1);
	informer_remove_handler(w->r->handler);
	assert_int_equal(recorder_pull(w->r, -1), INFORMER_E_STOPPED);
	recorder_add(w->r);
	assert_int_equal(recorder_pull(w->r, 10000), 1);
}

/* ---- waiting ---- */

/* With timeout 0 informer_changes_next() does not wait; informer_fd() says when to call it again. */
TEST(an_event_loop_pulls)
{
	struct pollfd news = {.fd = informer_fd(w->inf), .events = POLLIN};

	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	assert_int_equal(recorder_pull(w->r, 0), 0);
	assert_int_equal(poll(&news, 1, 0), 0);
	for (unsigned i = 2; i < 50; i++) {
		char text[32];

		recorder_world_update(w, i, 1, text, sizeof(text));
		assert_int_equal(poll(&news, 1, 10000), 1);
		while (recorder_pull(w->r, 0) > 0)
			;
		recorder_expect(w->r, text);
	}
}

static void *
pull_one(void *recorder)
{
	return (void *)(intptr_t)recorder_pull(recorder, -1);
}

static void
start_pull(struct recorder_world *w, pthread_t *thread)
{
	assert_int_equal(pthread_create(thread, NULL, pull_one, w->r), 0);
	AWAIT(({
		pthread_mutex_lock(&w->inf->run->wait_lock);
		unsigned waiters = w->inf->run->waiters;
		pthread_mutex_unlock(&w->inf->run->wait_lock);
		waiters > 0;
	}));
}

static void
expect_pulled(pthread_t thread, int expected)
{
	void *result;

	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, expected);
}

/* Each change wakes a thread that waits for it. */
static void
wait_for_a_change(struct recorder_world *w)
{
	pthread_t thread;

	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	for (unsigned i = 2; i < 50; i++) {
		char text[32];

		start_pull(w, &thread);
		recorder_world_update(w, i, 1, text, sizeof(text));
		expect_pulled(thread, 1);
		recorder_expect(w->r, text);
	}
}

TEST(a_waiting_thread_is_woken)
{
	wait_for_a_change(w);
}

TEST(beside_handlers_that_run_a_waiting_thread_is_woken)
{
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->other, "+a1* SYNCED");
	wait_for_a_change(w);
	recorder_await_calls(w->other, 50);
}

/* While informer_run() has threads, informer_fd() still says when to pull. */
TEST(beside_handlers_that_run_an_event_loop_pulls)
{
	struct pollfd news = {.fd = informer_fd(w->inf), .events = POLLIN};

	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	while (recorder_pull(w->r, 0) > 0)
		;
	recorder_await(w->other, "+a1* SYNCED");
	recorder_change(w->fx, "a2");
	recorder_await(w->other, "a1>a2");
	/* the threads have read the news */
	AWAIT(poll(&(struct pollfd){w->inf->epoll, POLLIN, 0}, 1, 0) == 0);
	assert_int_equal(poll(&news, 1, 10000), 1);
	assert_int_equal(recorder_pull(w->r, 0), 1);
	recorder_expect(w->r, "a1>a2");
}

TEST(a_wait_ends_with_its_handler)
{
	pthread_t thread;

	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	start_pull(w, &thread);
	informer_remove_handler(w->r->handler);
	expect_pulled(thread, INFORMER_E_STOPPED);
	/* the same where another thread leads */
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->other, "+a1* SYNCED");
	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	start_pull(w, &thread);
	informer_remove_handler(w->r->handler);
	expect_pulled(thread, INFORMER_E_STOPPED);
	recorder_add(w->r);
	recorder_expect(w->r, "+a1* SYNCED");
	start_pull(w, &thread);
	assert_int_equal(informer_stop(w->inf), 0);
	expect_pulled(thread, INFORMER_E_STOPPED);
}

/* ---- what is refused ---- */

TEST(a_pulled_handler_has_no_functions)
{
	struct informer_handler_options o = {.size = sizeof(o), .resource = "pods", .pull = true};
	const struct informer_change *change;

	o.on_synced = w->r->options.on_synced;
	assert_int_equal(informer_add_handler(w->inf, &o, NULL), -EINVAL);
	assert_error_text(-EINVAL, "informer_changes_next()");
	o.on_synced = NULL;
	o.resync_ms = 1000;
	assert_int_equal(informer_add_handler(w->inf, &o, NULL), -EINVAL);
	assert_error_text(-EINVAL, "resync_ms");
	recorder_add(w->other);
	assert_int_equal(informer_changes_next(w->other->handler, 0, &change), -EINVAL);
	assert_error_text(-EINVAL, "pull");
	assert_int_equal(informer_changes_next(NULL, 0, &change), -EINVAL);
	assert_int_equal(informer_changes_next(w->other->handler, 0, NULL), -EINVAL);
}
