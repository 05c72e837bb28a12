/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers under informer_run(): threads, slow handlers, removal and stop while they run, and an idle
 * reader's sleep.
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

/* How many calls of a handler run; the most at a time. */
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

/* Run both recorders' handlers until they were told of the present object. */
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

/* Events come without dispatching; handlers may be added while informer_run() works. */
TEST(informer_run_dispatches_by_itself)
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

/* A watcher is told of each turn with the lock held; otherwise it could miss a turn before it sleeps. */
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

/* A handler is woken for its resync, though another thread already sleeps for all handlers. */
TEST(resync_goes_on_beside_other_handlers)
{
	char *text;

	w->r->options.resync_ms = 1000;
	run_both(w);
	for (int i = 0; i < 3; i++) {
		unsigned before = atomic_load(&w->r->calls);

		test_clock_move(1000);
		AWAIT(atomic_load(&w->r->calls) > before); /* more, on a slow machine */
	}
	assert_int_equal(informer_stop(w->inf), 0);
	text = recorder_text(w->r, true);
	assert_int_equal(strncmp(text, "a1=a1 a1=a1 a1=a1", 17), 0);
	free(text);
}

/* A handler that hangs delays no other handler, and gets its missed events when it continues. */
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

/* Removal by another thread waits for the running call; no call follows it. */
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

/* Within a handler informer_stop() is refused and informer_remove_handler() is not. */
TEST(within_a_handler_it_cannot_be_stopped)
{
	recorder_change(w->fx, "b1");
	w->r->each = stop_within;
	recorder_add(w->r);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_await(w->r, "+a1* DONE");
	assert_int_equal(informer_stop(w->inf), 0);
}

/* Stop ends threads and handlers while changes continue; no call follows it. */
TEST(stop_ends_everything_under_churn)
{
	unsigned calls;
	char *text;

	recorder_add(w->r);
	recorder_add(w->other);
	assert_int_equal(informer_run(w->inf), 0);
	recorder_world_happen(w, "a*199");
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
		/* a is always there, so it is told first; on_done comes last */
		assert_true(strncmp(text, "+a", 2) == 0);
		assert_string_equal(text + strlen(text) - 4, "DONE");
		free(text);
		recorder_free(r);
	}
	return NULL;
}

/* Handlers come and go in several threads; a handler that stays misses nothing. */
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

/* locked: one thread waits for descriptors without a timer, the others for that thread. */
static bool
all_sleep(struct informer *inf)
{
	struct itimerspec timer;

	assert_int_equal(timerfd_gettime(inf->timer, &timer), 0);
	return inf->run->leader && inf->run->idle + 1 == inf->run->thread_count &&
	       inf->run->alarm_at == UINT64_MAX && timer.it_value.tv_sec == 0 && timer.it_value.tv_nsec == 0;
}

/* Idle threads sleep, and no timer will wake them. */
TEST(an_idle_reader_sleeps)
{
	bool asleep = false;

	run_both(w);
	while (!asleep) {
		test_clock_move(1000); /* timers set at the start expire */
		pthread_mutex_lock(&w->inf->run->wait_lock);
		asleep = all_sleep(w->inf);
		pthread_mutex_unlock(&w->inf->run->wait_lock);
	}
}

/* Two calls of one handler never run at the same time, and they come in order. */
TEST(a_handler_is_called_once_at_a_time)
{
	static struct in_flight one, two; /* a handler may be in its last call when the test ends */
	char expected[8192];

	w->r->each = w->other->each = stay_a_while;
	w->r->context = &one;
	w->other->context = &two;
	run_both(w);
	recorder_world_update(w, 2, 198, expected, sizeof(expected));
	recorder_await(w->r, expected);
	recorder_await(w->other, expected);
	assert_int_equal(atomic_load(&one.most), 1);
	assert_int_equal(atomic_load(&two.most), 1);
}
