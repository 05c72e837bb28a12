/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for an arena, for the first list, for a commit; from several threads. */
#include <poll.h>
#include <sched.h>

#include "reader-lib/events/run.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"

static struct informer_moment
moment_of(struct informer *inf)
{
	struct informer_snapshot snap;
	struct informer_moment moment;

	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_snapshot_moment(&snap, &moment), 0);
	informer_end(&snap);
	return moment;
}

#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* At its deadline a wait says what is missing. */
TEST(a_wait_ends_at_its_deadline)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	struct informer_moment moment;
	char text[256];

	assert_int_equal(informer_wait_attached(inf, 1), -ETIMEDOUT);
	assert_true(informer_error_text(-ETIMEDOUT, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "no arena is attached"));
	broker_fixture_start(fx);
	assert_int_equal(informer_wait_attached(inf, 60000), 0);
	assert_int_equal(informer_wait_synced(inf, "pods", 1), -ETIMEDOUT);
	assert_int_equal(informer_wait_synced(inf, NULL, 0), -ETIMEDOUT);
	moment = moment_of(inf);
	assert_int_equal(informer_wait_commit(inf, &moment, 1), -ETIMEDOUT);
	broker_fixture_pod(fx, "a");
	assert_int_equal(informer_wait_commit(inf, &moment, 60000), 0);
	assert_int_equal(informer_wait_synced(inf, "pods", 0), 0);
	assert_int_equal(informer_wait_synced(inf, NULL, 0), 0);
	assert_int_equal(informer_wait_commit(inf, NULL, 0), 0);
	informer_detach(inf);
}

/* Another informerd may cache other resources, so the wait goes on while none runs. */
TEST(a_running_daemon_without_the_resource_ends_a_wait_for_it)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf = broker_fixture_serve(fx, 0);

	assert_int_equal(informer_wait_synced(inf, "nodes", 20000), INFORMER_E_NO_RESOURCE);
	assert_error_text(INFORMER_E_NO_RESOURCE, "does not cache this resource; it caches: pods");
	assert_int_equal(informer_wait_version(inf, "nodes", "7", 20000), INFORMER_E_NO_RESOURCE);
	broker_fixture_stop(fx);
	DISPATCH_UNTIL(inf, informer_status(inf, &status) == 0 && status.stale);
	assert_int_equal(informer_wait_synced(inf, "nodes", 1), -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "informerd does not cache it");
	informer_detach(inf);
}

/* A wait that times out tells the API server's last error for the resource, until it has recovered. */
TEST(a_timed_out_wait_tells_the_servers_error)
{
	static const char refused[] = "{\"recovered\":false,\"code\":403,\"reason\":\"Forbidden\","
				      "\"message\":\"LIST failed:\\nforbidden\"}";
	static const char recovered[] = "{\"recovered\":true,\"code\":0,\"reason\":\"\",\"message\":\"\"}";
	struct informer *inf;
	char text[256];

	broker_fixture_start(fx);
	broker_fixture_status(fx, refused);
	inf = broker_fixture_attach(fx, 0);
	assert_int_equal(informer_wait_synced(inf, "pods", 1), -ETIMEDOUT);
	informer_error_text(-ETIMEDOUT, text, sizeof(text));
	assert_non_null(strstr(text, "the first list is not in; LIST failed: forbidden"));
	assert_int_equal(informer_wait_version(inf, "pods", "7", 1), -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "LIST failed: forbidden");
	broker_fixture_status(fx, recovered);
	assert_int_equal(informer_wait_synced(inf, "pods", 1), -ETIMEDOUT);
	informer_error_text(-ETIMEDOUT, text, sizeof(text));
	assert_null(strstr(text, "LIST failed"));
	informer_detach(inf);
}

struct sleeper {
	struct informer *inf;
	struct informer_moment seen;
	const char *resource;
	int result;
};

static void *
sleep_for_commit(void *context)
{
	struct sleeper *s = context;

	s->result = s->resource ? informer_wait_synced(s->inf, s->resource, 20000) :
		informer_wait_commit(s->inf, &s->seen, 20000);
	return NULL;
}

/* Return when this many threads wait on the handle. */
static void
await_sleepers(struct informer *inf, unsigned count)
{
	unsigned waiters = 0;

	while (waiters < count) {
		pthread_mutex_lock(&inf->run->wait_lock);
		waiters = inf->run->waiters;
		pthread_mutex_unlock(&inf->run->wait_lock);
		sched_yield();
	}
}

/* One commit wakes all threads that wait on a handle, also while another thread dispatches. */
TEST(one_commit_wakes_every_waiter)
{
	struct sleeper sleepers[4];
	pthread_t threads[4];
	struct informer *inf = broker_fixture_serve(fx, 0);

	for (int round = 0; round < 10; round++) {
		struct informer_moment seen = moment_of(inf);
		char name[16];

		for (int i = 0; i < 4; i++) {
			sleepers[i] = (struct sleeper){.inf = inf, .seen = seen, .result = 1};
			assert_int_equal(pthread_create(&threads[i], NULL, sleep_for_commit, &sleepers[i]),
					 0);
		}
		if (round % 2)
			await_sleepers(inf, 4);
		snprintf(name, sizeof(name), "p%d", round);
		broker_fixture_pod(fx, name);
		for (int i = 0; i < 10; i++)
			informer_dispatch(inf);
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(sleepers[i].result, 0);
		}
	}
	informer_detach(inf);
}

/* A wait begun before the daemon exists ends when the first list is complete. */
TEST(a_wait_spans_the_daemons_start)
{
	struct sleeper s = {.resource = "pods", .result = 1};
	pthread_t thread;

	s.inf = broker_fixture_attach(fx, 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_for_commit, &s), 0);
	await_sleepers(s.inf, 1);
	broker_fixture_start(fx);
	await_sleepers(s.inf, 1);
	broker_fixture_pod(fx, "a");
	pthread_join(thread, NULL);
	assert_int_equal(s.result, 0);
	informer_detach(s.inf);
}

TEST(a_commit_wait_ends_with_a_new_generation)
{
	struct sleeper s = {.result = 1};
	pthread_t thread;

	s.inf = broker_fixture_serve(fx, 0);
	s.seen = moment_of(s.inf);
	assert_int_equal(pthread_create(&thread, NULL, sleep_for_commit, &s), 0);
	broker_fixture_replace(fx, true);
	for (int i = 0; i < 200 && s.seen.epoch >= store_epoch(fx->store->store); i++)
		broker_fixture_pod(fx, "b");
	pthread_join(thread, NULL);
	assert_int_equal(s.result, 0);
	informer_detach(s.inf);
}

/* An armed descriptor becomes readable at the next commit, not before; an unarmed one stays quiet. */
TEST(the_descriptor_tells_of_a_commit_once_armed)
{
	struct informer_moment seen;
	struct informer *inf;
	struct pollfd p = {.events = POLLIN};

	inf = broker_fixture_serve(fx, 0);
	p.fd = informer_fd(inf);
	while (informer_dispatch(inf) > 0)
		;
	broker_fixture_pod(fx, "b");
	assert_int_equal(poll(&p, 1, 0), 0);
	seen = moment_of(inf);
	assert_int_equal(informer_arm(inf, &seen), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	broker_fixture_pod(fx, "c");
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(informer_dispatch(inf), 1);
	assert_int_equal(informer_dispatch(inf), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(informer_arm(inf, &seen), 1);
	AWAIT(broker_fixture_stats(fx).wakeups >= 1);
	informer_detach(inf);
}

/* A long report. */
static char *
long_report(void *context)
{
	char *text = malloc(300001);

	(void)context;
	for (int i = 0; i < 300000; i++)
		text[i] = (char)('a' + i % 26);
	text[300000] = '\0';
	return text;
}

TEST(a_long_report_comes_whole_and_needs_no_slot)
{
	struct informer *inf[6], *other;
	char *text;
	size_t length;

	fx->options.report = long_report;
	broker_fixture_start(fx);
	for (int i = 0; i < 6; i++)
		inf[i] = broker_fixture_attach(fx, 0);
	other = broker_fixture_attach(fx, 0);
	assert_int_equal(informer_stat_json(other, 60000, &text, &length), 0);
	assert_int_equal(length, 300000);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(text[i], 'a' + (int)(i % 26));
	informer_free(other, text);
	informer_detach(other);
	for (int i = 0; i < 6; i++)
		informer_detach(inf[i]);
}

/* Without a daemon the error names the socket. */
TEST(without_a_daemon_there_is_no_report)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	char *text;

	assert_int_equal(informer_stat_json(inf, 1000, &text, NULL), -ENOENT);
	assert_error_text(-ENOENT, fx->socket);
	informer_detach(inf);
}
