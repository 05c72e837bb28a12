/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers under informer_run(): threads, slow ones, removal and stop while they run, and an idle reader's
 * silence.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/timerfd.h>

#include "reader-lib/events/handler.h"
#include "reader-lib/events/run.h"
#include "tests/room.h"
#include "tests/support/recorder_world.h"
#include "tests/support/test_clock.h"

SET_UP(set_up, recorder_world_new("a1", false))

/* How many calls of a handler run; the most there were. */
struct in_flight {
	_Atomic unsigned now, most;
};

static void
stay_a_while(struct recorder *r)
{
	struct in_flight *f = r->context;
	unsigned now = atomic_fetch_add(&f->now, 1) + 1;

	if (now > atomic_load(&f->most))
		atomic_store(&f->most, now);
	for (int i = 0; i < 20; i++)
		sched_yield();
	atomic_fetch_sub(&f->now, 1);
}

/* Both recorders' handlers, told of what is there. */
static void
run_both(struct recorder_world *w)
{
	recorder_add(w->r);
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->r, "+a1* SYNCED");
	recorder_await(w->other, "+a1* SYNCED");
}

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* Events come without anybody's dispatching; handlers may be added while it runs. */
TEST(it_runs_by_itself)
{
	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	assert_int_equal(informer_run(w->inf), 0);
	assert_int_equal(informer_wait_handler_synced(w->inf, w->r->handler, 60000), 0);
	recorder_await(w->r, "+a1* SYNCED");
	recorder_change(w->fx, "a2 b1");
	recorder_await(w->r, "a1>a2 +b1");
	recorder_add(w->other);
	assert_int_equal(informer_wait_handler_synced(w->inf, NULL, 60000), 0);
	recorder_await(w->other, "+a2* +b1* SYNCED");
	recorder_change(w->fx, "-a");
	recorder_await(w->r, "-a2");
	recorder_await(w->other, "-a2");
}

/* The run whose broadcasts are counted; NULL: none. */
static _Atomic(struct run *) observed;
static _Atomic unsigned broadcasts, without_lock;

int
pthread_cond_broadcast(pthread_cond_t *cond)
{
	static _Atomic(void *) real;
	struct run *run = atomic_load(&observed);
	void *function = atomic_load(&real);

	if (!function) {
		function = dlsym(RTLD_NEXT, "pthread_cond_broadcast");
		atomic_store(&real, function);
	}
	if (run && cond == &run->handler_cond) {
		atomic_fetch_add(&broadcasts, 1);
		if (pthread_mutex_trylock(&run->wait_lock) == 0) {
			atomic_fetch_add(&without_lock, 1);
			pthread_mutex_unlock(&run->wait_lock);
		}
	}
	return (*(int (**)(pthread_cond_t *))&function)(cond);
}

/* A watcher is told after each turn with the lock: between its look and its sleep it would miss that. */
TEST(a_watcher_is_told_of_turns_with_the_lock)
{
	char changes[1024] = "", *at = changes;

	for (unsigned i = 0; i < 200; i++) /* more than two turns */
		at += snprintf(at, (size_t)(changes + sizeof(changes) - at), "%c%c1 ", 'b' + i / 20,
			       'a' + i % 20);
	recorder_change(w->fx, changes);
	recorder_add(w->r);
	w->inf->run->watchers++;
	atomic_store(&observed, w->inf->run);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await_calls(w->r, 202); /* and a, and on_synced */
	assert_int_equal(informer_stop(w->inf), 0);
	atomic_store(&observed, NULL);
	w->inf->run->watchers--;
	assert_in_range(atomic_load(&broadcasts), 3, UINT_MAX);
	assert_int_equal(atomic_load(&without_lock), 0);
}

TEST(a_wait_for_sync_ends_at_its_deadline)
{
	w->r->options.resource = "nodes";
	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	assert_int_equal(informer_wait_handler_synced(w->inf, w->r->handler, 20), -ETIMEDOUT);
	assert_int_equal(informer_wait_handler_synced(w->inf, NULL, 0), -ETIMEDOUT);
}

/* A handler is woken for its resync in time, though another thread sleeps already for all of them. */
TEST(resync_goes_on_beside_other_handlers)
{
	char *text;

	w->r->options.resync_ms = 1000;
	run_both(w);
	for (int i = 0; i < 3; i++) {
		unsigned before = atomic_load(&w->r->calls);

		test_clock_move(1000);
		AWAIT(atomic_load(&w->r->calls) > before); /* more, where the machine took its time */
	}
	assert_int_equal(informer_stop(w->inf), 0);
	text = recorder_text(w->r, true);
	assert_int_equal(strncmp(text, "a1=a1 a1=a1 a1=a1", 17), 0);
	free(text);
}

/* A handler that hangs delays no other, and gets what it missed when it goes on. */
TEST(a_slow_handler_delays_no_other)
{
	static struct gate gate = GATE; /* the handler may be in its last call when the test ends */

	w->r->each = gate_wait;
	w->r->context = &gate;
	recorder_add(w->r);
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	gate_await_waiting(&gate);
	recorder_await(w->other, "+a1* SYNCED");
	recorder_follow(w->fx, w->other, 29);
	gate_open(&gate);
	recorder_await_calls(w->r, 30); /* an add, 28 updates, on_synced */
}

static void *
remove_now(void *context)
{
	struct recorder *r = context;

	informer_remove_handler(r->handler);
	return NULL;
}

/* Removal by another thread waits for the call that runs; nothing comes after it. */
TEST(removal_waits_for_the_call_that_runs)
{
	pthread_t thread;
	static struct gate gate = GATE; /* the handler may be in its last call when the test ends */

	recorder_change(w->fx, "b1");
	w->r->each = gate_wait;
	w->r->context = &gate;
	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	gate_await_waiting(&gate);
	assert_int_equal(pthread_create(&thread, NULL, remove_now, w->r), 0);
	AWAIT(atomic_load(&w->r->handler->leave));
	recorder_await(w->r, "+a1*");
	gate_open(&gate);
	pthread_join(thread, NULL);
	recorder_await(w->r, "DONE");
	informer_remove_handler(w->r->handler);
}

static void
stop_within(struct recorder *r)
{
	assert_int_equal(informer_stop(r->inf), -EDEADLK);
	informer_remove_handler(r->handler);
}

/* informer_stop() from within a handler is refused; informer_remove_handler() is not. */
TEST(within_a_handler_it_cannot_be_stopped)
{
	recorder_change(w->fx, "b1");
	w->r->each = stop_within;
	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->r, "+a1* DONE");
	assert_int_equal(informer_stop(w->inf), 0);
}

/* Stop ends threads and handlers, while changes go on; afterwards nothing is called. */
TEST(stop_ends_everything_under_churn)
{
	unsigned calls;
	char change[16], *text;

	recorder_add(w->r);
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	for (int i = 2; i < 200; i++) {
		snprintf(change, sizeof(change), "a%d", i);
		recorder_change(w->fx, change);
	}
	assert_int_equal(informer_stop(w->inf), 0);
	calls = w->r->calls;
	text = recorder_text(w->r, true);
	assert_string_equal(text + strlen(text) - 4, "DONE");
	free(text);
	recorder_change(w->fx, "a1000");
	assert_int_equal(w->r->calls, calls);
	assert_int_equal(informer_stop(w->inf), 0);
}

struct adder {
	struct informer *inf;
	_Atomic bool stop;
};

static void *
add_and_remove(void *context)
{
	struct adder *a = context;

	while (!a->stop) {
		struct recorder *r = recorder_new(a->inf);
		char *text;

		recorder_add(r);
		AWAIT(r->calls >= 2);
		informer_remove_handler(r->handler);
		text = recorder_text(r, true);
		/* a is there all the time, so it is the first that is told; on_done is the last */
		assert_true(strncmp(text, "+a", 2) == 0);
		assert_string_equal(text + strlen(text) - 4, "DONE");
		free(text);
		recorder_free(r);
	}
	return NULL;
}

/* Handlers come and go beside churn, from several threads; one that stays misses nothing. */
TEST(handlers_come_and_go_beside_churn)
{
	struct adder adder = {.inf = w->inf};
	pthread_t threads[3];

	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->r, "+a1* SYNCED");
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, &adder), 0);
	recorder_follow(w->fx, w->r, 299);
	adder.stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* locked: one thread waits for descriptors and no timer, the others for that thread. */
static bool
all_sleep(struct informer *inf)
{
	struct itimerspec timer;

	assert_int_equal(timerfd_gettime(inf->timer, &timer), 0);
	return inf->run->leader && inf->run->idle + 1 == inf->run->thread_count &&
	       inf->run->alarm_at == UINT64_MAX && timer.it_value.tv_sec == 0 && timer.it_value.tv_nsec == 0;
}

/* Threads with nothing to do sleep, and no timer will wake them. */
TEST(an_idle_reader_sleeps)
{
	bool asleep = false;

	run_both(w);
	while (!asleep) {
		test_clock_move(1000); /* what was set at the start ends */
		pthread_mutex_lock(&w->inf->run->wait_lock);
		asleep = all_sleep(w->inf);
		pthread_mutex_unlock(&w->inf->run->wait_lock);
	}
}

/* Of one handler never two calls run at once, and they come in order; of two handlers they may. */
TEST(a_handler_is_called_once_at_a_time)
{
	struct in_flight one = {0}, two = {0};
	char change[16], expected[8192];
	size_t n = 0;

	w->r->each = w->other->each = stay_a_while;
	w->r->context = &one;
	w->other->context = &two;
	run_both(w);
	for (int i = 2; i < 200; i++) {
		snprintf(change, sizeof(change), "a%d", i);
		n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%sa%d>a%d", n ? " " : "", i - 1,
				      i);
		recorder_change(w->fx, change);
	}
	recorder_await(w->r, expected);
	recorder_await(w->other, expected);
	assert_int_equal(atomic_load(&one.most), 1);
	assert_int_equal(atomic_load(&two.most), 1);
}
