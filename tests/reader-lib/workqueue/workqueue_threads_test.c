/* SPDX-License-Identifier: Apache-2.0 */
/* The workqueue between threads: no key with two workers, no thread left asleep. */
#include <sched.h>

#include "tests/room.h"
#include "tests/support/workqueue_world.h"

struct crowd {
	struct informer_workqueue *q;
	_Atomic unsigned busy[64];	/* workers that have this key: never two */
	_Atomic unsigned worked[64];
	_Atomic unsigned twice;
	unsigned again;			/* how often each worker adds a key again while it has the key */
};

static void *
crowd_producer(void *context)
{
	struct crowd *c = context;
	char key[8];

	for (unsigned i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "%u", i % 50);
		if (i % 3 == 0)
			informer_workqueue_add_after(c->q, key, strlen(key), (uint64_t)i * 1000);
		else if (i % 3 == 1)
			informer_workqueue_add(c->q, key, strlen(key));
		else
			informer_workqueue_add_with(
				c->q, key, strlen(key),
				&(struct informer_work_add){.size = sizeof(struct informer_work_add),
							    .priority = (int)(i % 7),
							    .delay_ns = i % 2 * UINT64_C(1000)});
	}
	return NULL;
}

static void *
crowd_worker(void *context)
{
	struct crowd *c = context;
	unsigned seen[64] = {0};
	struct informer_work_item item;

	while (informer_workqueue_get(c->q, -1, &item) == 0) {
		unsigned k = (unsigned)atoi(item.key);

		if (atomic_fetch_add(&c->busy[k], 1) > 0)
			atomic_fetch_add(&c->twice, 1);
		atomic_fetch_add(&c->worked[k], 1);
		if (seen[k]++ < c->again)
			informer_workqueue_add(c->q, item.key, item.length);
		atomic_fetch_sub(&c->busy[k], 1);
		informer_workqueue_done(c->q, &item);
	}
	return NULL;
}

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* Every key is worked on, by one worker at a time; a shut down ends the workers. [TestBasic] */
TEST_CASE(no_key_is_ever_with_two_workers)
{
	for (unsigned drain = 0; drain < 2; drain++) {
		struct crowd c = {.again = 2};
		pthread_t producers[8], workers[10];

		assert_int_equal(informer_workqueue_new(NULL, &c.q), 0);
		for (unsigned i = 0; i < 10; i++)
			assert_int_equal(pthread_create(&workers[i], NULL, crowd_worker, &c), 0);
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&producers[i], NULL, crowd_producer, &c), 0);
		for (unsigned i = 0; i < 8; i++)
			pthread_join(producers[i], NULL);
		if (drain)
			assert_int_equal(informer_workqueue_shut_down_with_drain(c.q, 60000), 0);
		else
			informer_workqueue_shut_down(c.q);
		assert_int_equal(informer_workqueue_add(c.q, "after", 5), -ESHUTDOWN);
		for (unsigned i = 0; i < 10; i++)
			pthread_join(workers[i], NULL);
		assert_int_equal(c.twice, 0);
		for (unsigned k = 0; k < 50; k++)
			assert_true(c.worked[k] > 0);
		assert_int_equal(informer_workqueue_length(c.q), 0);
		informer_workqueue_free(c.q);
	}
}

/* A thread that waits in get. */
struct sleeper {
	struct informer_workqueue *q;
	int timeout_ms;
	pthread_t thread;
	_Atomic pid_t tid;
	int result;
};

static void *
sleeper_thread(void *context)
{
	struct sleeper *s = context;
	struct informer_work_item item;

	atomic_store(&s->tid, gettid());
	s->result = informer_workqueue_get(s->q, s->timeout_ms, &item);
	if (s->result == 0)
		informer_workqueue_done(s->q, &item);
	return NULL;
}

/* True if the thread sleeps or has ended. */
static bool
is_asleep(pid_t tid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	in = fopen(path, "re");
	if (!in)
		return true;
	if (!fgets(text, sizeof(text), in))
		text[0] = '\0';
	fclose(in);
	state = strrchr(text, ')');
	return !state || state[2] == 'S';
}

static void
sleeper_start(struct sleeper *s, struct informer_workqueue *q, int timeout_ms)
{
	*s = (struct sleeper){.q = q, .timeout_ms = timeout_ms};
	assert_int_equal(pthread_create(&s->thread, NULL, sleeper_thread, s), 0);
	while (!atomic_load(&s->tid) || !is_asleep(atomic_load(&s->tid)))
		sched_yield();
}

static int
sleeper_end(struct sleeper *s)
{
	pthread_join(s->thread, NULL);
	return s->result;
}

/* All keys were handed out when they were ready, not when a waiting thread timed out. */
static void
assert_in_time(struct informer_workqueue *q)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};

	assert_int_equal(informer_workqueue_metrics(q, &m), 0);
	assert_true(m.queue_sum_ns < 3 * SECOND);
}

/* Each waiting thread gets one delayed key when it is ready, in whatever order the keys were added. */
TEST_CASE(waiting_threads_get_delayed_keys_in_time)
{
	static const char *const keys[] = {"a", "b", "c", "d"};
	struct informer_workqueue *q;
	struct sleeper s[4];

	assert_int_equal(informer_workqueue_new(NULL, &q), 0);
	for (unsigned i = 0; i < 4; i++)
		sleeper_start(&s[i], q, 5000);
	for (unsigned i = 4; i-- > 0;)
		assert_int_equal(informer_workqueue_add_after(q, keys[i], 1, 5 * MS * (i + 1)), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sleeper_end(&s[i]), 0);
	assert_in_time(q);
	informer_workqueue_free(q);
}

/*
 * The thread that watches the clock times out; another waiting thread takes over. (On a slow machine the test
 * repeats with a longer delay.)
 */
TEST_CASE(a_thread_that_times_out_hands_the_clock_over)
{
	for (uint64_t delay_ns = 60 * MS;; delay_ns *= 2) {
		struct informer_workqueue *q;
		struct sleeper first, second;
		bool gave_up;

		assert_int_equal(informer_workqueue_new(NULL, &q), 0);
		assert_int_equal(informer_workqueue_add_after(q, "foo", 3, delay_ns), 0);
		sleeper_start(&first, q, 20);
		sleeper_start(&second, q, 20000);
		gave_up = sleeper_end(&first) == -ETIMEDOUT;
		if (!gave_up)
			informer_workqueue_shut_down(q);
		assert_int_equal(sleeper_end(&second), gave_up ? 0 : -ESHUTDOWN);
		if (gave_up)
			assert_in_time(q);
		informer_workqueue_free(q);
		if (gave_up)
			return;
	}
}

/* Each key added wakes one waiting thread, also the thread that watches the clock. */
TEST_CASE(each_key_wakes_one_waiting_thread)
{
	struct informer_workqueue *q;
	struct sleeper s[2];

	for (unsigned round = 0; round < 50; round++) {
		assert_int_equal(informer_workqueue_new(NULL, &q), 0);
		assert_int_equal(informer_workqueue_add_after(q, "late", 4, 3600 * SECOND), 0);
		for (unsigned i = 0; i < 2; i++)
			sleeper_start(&s[i], q, 5000);
		assert_int_equal(informer_workqueue_add(q, "a", 1), 0);
		assert_int_equal(informer_workqueue_add(q, "b", 1), 0);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(sleeper_end(&s[i]), 0);
		assert_in_time(q);
		informer_workqueue_free(q);
	}
}

TEST_CASE(waiting_ends_by_shut_down_or_time)
{
	struct informer_workqueue *q;
	struct informer_work_item item;
	struct sleeper s;

	assert_int_equal(informer_workqueue_new(NULL, &q), 0);
	assert_int_equal(informer_workqueue_get(q, 5, &item), -ETIMEDOUT);
	assert_int_equal(informer_workqueue_add_after(q, "late", 4, 3600 * SECOND), 0);
	assert_int_equal(informer_workqueue_get(q, 5, &item), -ETIMEDOUT);
	sleeper_start(&s, q, -1);
	informer_workqueue_shut_down(q);
	assert_int_equal(sleeper_end(&s), -ESHUTDOWN);
	informer_workqueue_free(q);
}

/* With the caller's clock, a kick wakes a thread that waits for a key which is ready by then. */
TEST(a_kick_wakes_a_thread_that_waits_for_the_callers_clock)
{
	struct sleeper s;

	play(w, "+foo@10s");
	sleeper_start(&s, w->q, -1);
	pass_time(w, 10 * SECOND);
	assert_int_equal(sleeper_end(&s), 0);
}
