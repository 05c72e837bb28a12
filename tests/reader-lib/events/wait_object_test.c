/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for one object: what the condition is shown, and when; also over a daemon's end and return. */
#include <stdatomic.h>

#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/broker_fixture.h"

/* What is waited for, and what was shown. */
struct wanted {
	struct informer *inf;
	const char *phase; /* NULL: wait for its deletion */
	int result, answer;
	char uid[16]; /* of the object shown last; "" if there was none */
	_Atomic unsigned calls;
};

static int
look(struct wanted *w, const struct informer_object *object)
{
	struct informer_path *path;
	const char *data;
	size_t length;
	int r;

	w->uid[0] = '\0';
	if (!object)
		return !w->phase;
	assert_int_equal(informer_object_uid(object, &data, &length), 0);
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)length, data);
	if (!w->phase)
		return 0;
	assert_int_equal(informer_path_compile(w->inf, "status.phase", 12, &path), 0);
	r = informer_get_string(object, path, &data, &length);
	informer_path_free(path);
	return r == 0 && length == strlen(w->phase) && memcmp(data, w->phase, length) == 0;
}

static int
is_as_wanted(void *context, const struct informer_snapshot *snap, const struct informer_object *object)
{
	struct wanted *w = context;
	int r = w->answer;

	assert_non_null(snap);
	if (!r)
		r = look(w, object);
	/* last: a thread that sees the count also sees what was shown */
	atomic_fetch_add(&w->calls, 1);
	return r;
}

static int
wait_ms(struct wanted *w, int timeout_ms)
{
	return informer_wait_object(w->inf, "pods", INFORMER_BY_KEY, "n/a", is_as_wanted, w, timeout_ms);
}

static void *
wait_in_thread(void *context)
{
	struct wanted *w = context;

	w->result = wait_ms(w, 60000);
	return NULL;
}

/* Start a thread that waits, and return when it has looked once. */
static pthread_t
begin_to_wait(struct wanted *w)
{
	pthread_t thread;

	w->result = 1;
	assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, w), 0);
	while (atomic_load(&w->calls) == 0)
		sched_yield();
	return thread;
}

static void
put(struct broker_fixture *fx, const char *name, const char *uid, const char *phase)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\"},"
		 "\"status\":{\"phase\":\"%s\"}}",
		 name, uid, phase);
	broker_fixture_put(fx, (const char *const[]){text, NULL});
}

#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* A wait whose condition holds returns at once; with timeout 0 the condition is still checked once. */
TEST(a_condition_that_holds_needs_no_wait)
{
	struct wanted w = {.phase = "Running"};

	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Running");
	w.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(wait_ms(&w, 0), 0);
	assert_string_equal(w.uid, "u-1");
	w.phase = "Failed";
	assert_int_equal(wait_ms(&w, 0), -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "after 0 ms still: pods n/a: it is there, and not as it is waited for");
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_KEY, "n/b", is_as_wanted, &w, 0),
			 -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "pods n/b: it is not there");
	assert_int_equal(informer_wait_object(w.inf, "nodes", INFORMER_BY_KEY, "b", is_as_wanted, &w, 1),
			 -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "nodes b: informerd does not cache it");
	informer_detach(w.inf);
}

/* The condition is checked at each change; other objects' changes do not end the wait; nothing is polled. */
TEST(a_change_ends_the_wait_and_nothing_is_polled)
{
	struct wanted w = {.phase = "Running"};
	pthread_t thread;

	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Pending");
	w.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(wait_ms(&w, 1), -ETIMEDOUT);
	assert_int_equal(atomic_load(&w.calls), 1);
	atomic_store(&w.calls, 0);
	thread = begin_to_wait(&w);
	put(fx, "b", "u-2", "Running");
	put(fx, "a", "u-1", "Running");
	pthread_join(thread, NULL);
	assert_int_equal(w.result, 0);
	assert_true(atomic_load(&w.calls) <= 3);
	informer_detach(w.inf);
}

/* A deleted object is shown as NULL; a new object of that name has another UID. */
TEST(a_wait_ends_with_the_deletion)
{
	struct wanted w = {0};
	pthread_t thread;

	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Running");
	w.inf = broker_fixture_attach(fx, 0);
	thread = begin_to_wait(&w);
	assert_string_equal(w.uid, "u-1");
	broker_fixture_delete(fx, "n", "a");
	pthread_join(thread, NULL);
	assert_int_equal(w.result, 0);
	assert_string_equal(w.uid, "");
	put(fx, "a", "u-2", "Running");
	assert_int_equal(wait_ms(&w, 1), -ETIMEDOUT);
	assert_string_equal(w.uid, "u-2");
	informer_detach(w.inf);
}

/* Until the first list is complete no object is reported as absent. */
TEST(no_object_is_absent_before_the_first_list)
{
	struct wanted w = {0};

	broker_fixture_start(fx);
	w.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(wait_ms(&w, 1), -ETIMEDOUT);
	assert_int_equal(atomic_load(&w.calls), 0);
	assert_error_text(-ETIMEDOUT, "pods n/a: the first list is not in");
	put(fx, "b", "u-2", "Running");
	assert_int_equal(wait_ms(&w, 60000), 0);
	informer_detach(w.inf);
}

/* A wait continues over the daemon's end and its return with another arena. */
TEST(a_wait_outlives_the_daemon)
{
	struct wanted w = {.phase = "Running"};
	struct informer_status status = {.size = sizeof(status)};
	pthread_t thread;

	broker_fixture_keep_generations(fx);
	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Pending");
	w.inf = broker_fixture_attach(fx, 0);
	thread = begin_to_wait(&w);
	broker_fixture_adopt(fx);
	put(fx, "a", "u-1", "Running");
	pthread_join(thread, NULL);
	assert_int_equal(w.result, 0);
	assert_int_equal(informer_status(w.inf, &status), 0);
	assert_int_equal(status.attaches, 2);
	informer_detach(w.inf);
}

/* The condition may end the wait with a code of its own. */
TEST(the_caller_may_end_the_wait)
{
	struct wanted w = {.answer = -ENOTSUP};

	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Running");
	w.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(wait_ms(&w, -1), -ENOTSUP);
	assert_int_equal(informer_wait_object(w.inf, NULL, INFORMER_BY_KEY, "n/a", is_as_wanted, &w, 0),
			 -EINVAL);
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_KEY, NULL, is_as_wanted, &w, 0),
			 -EINVAL);
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_KEY, "n/a", NULL, &w, 0), -EINVAL);
	informer_detach(w.inf);
}

/* The object may be named by its UID or by an index's value; of several objects one is enough. */
TEST(an_object_is_awaited_by_other_keys_than_its_name)
{
	struct wanted w = {.phase = "Running"}, gone = {0};

	broker_fixture_start(fx);
	put(fx, "a", "u-1", "Running");
	w.inf = gone.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_UID, "u-1", is_as_wanted, &w, 0), 0);
	assert_int_equal(
		informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "namespace=n", is_as_wanted, &w, 0),
		0);
	put(fx, "a", "u-1", "Pending");
	assert_int_equal(
		informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "namespace=n", is_as_wanted, &w, 0),
		-ETIMEDOUT);
	put(fx, "b", "u-2", "Running");
	put(fx, "c", "u-3", "Pending");
	assert_int_equal(
		informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "namespace=n", is_as_wanted, &w, 0),
		0);
	assert_string_equal(w.uid, "u-2");
	broker_fixture_delete(fx, "n", "a");
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_UID, "u-1", is_as_wanted, &gone, 0),
			 0);
	assert_int_equal(
		informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "namespace=x", is_as_wanted, &gone, 0),
		0);
	assert_int_equal(
		informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "nothing", is_as_wanted, &w, 0),
		-EINVAL);
	assert_error_text(-EINVAL, "an index and a value are expected");
	assert_int_equal(informer_wait_object(w.inf, "pods", INFORMER_BY_INDEX, "no=x", is_as_wanted, &w, -1),
			 INFORMER_E_NO_INDEX);
	informer_detach(w.inf);
}
