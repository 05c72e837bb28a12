/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue, after client-go's tests of util/workqueue, line by line. Delays and rate limits:
 * workqueue_delay_test.c; threads: workqueue_threads_test.c.
 */
#include "tests/room.h"
#include "tests/support/workqueue_world.h"

/* ---- adding and getting ---- */

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* A key added while it waits is queued once, at the place of its first add. [TestLen, TestDeduping] */
TEST(adding_a_waiting_key_does_nothing)
{
	play(w, "+foo #1 +bar #2 +foo #2 +foo #2 adds=2 foo bar .");
}

/* A key added while it is processed comes again once, after done. [TestReinsert, ReinsertUntilDone] */
TEST(adding_while_processing_brings_it_again_after_done)
{
	play(w, "+foo <foo +foo . +foo +foo +foo +foo >foo #1 foo .");
}

/* [TestGarbageCollection] */
TEST(a_key_that_is_done_leaves_nothing_behind)
{
	size_t before = w->allocated;

	for (int i = 0; i < 3; i++) {
		play(w, "+foo foo");
		assert_int_equal(w->allocated, before);
	}
}

/* Empty keys and keys with zero bytes are keys; a key handed out is terminated. */
TEST(keys_are_bytes)
{
	static const struct {
		const char *key;
		size_t length;
	} keys[] = {{NULL, 0}, {"a\0b", 3}, {"a\0c", 3}, {"axxx", 1}};
	struct informer_work_item item;

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(informer_workqueue_add(w->q, keys[i].key, keys[i].length), 0);
	play(w, "#4");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
		assert_int_equal(item.length, keys[i].length);
		assert_memory_equal(item.key, keys[i].length ? keys[i].key : "", item.length);
		assert_int_equal(item.key[item.length], '\0');
		informer_workqueue_done(w->q, &item);
	}
}

TEST(many_keys_come_once_each)
{
	for (int i = 0; i < 20000; i++)
		play(w, "+namespace/pod-%d", i % 10000);
	for (int i = 0; i < 10000; i++)
		play(w, "namespace/pod-%d", i);
	play(w, ".");
}

/* done with an item that is already done, or with NULL, does nothing. */
TEST(done_twice_does_nothing)
{
	struct informer_work_item item;

	play(w, "+foo");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, NULL);
	play(w, "work_count=1");
}

/* ---- shutting down ---- */

/* After a shut down get hands out waiting keys, then says so; adds are refused. [TestBasic] */
TEST(after_a_shut_down_get_drains_and_adds_are_refused)
{
	assert_false(informer_workqueue_is_shutting_down(w->q));
	play(w, "+foo +bar SHUT +baz! +baz@0s! +baz@1ns! +baz~! baz?0");
	assert_true(informer_workqueue_is_shutting_down(w->q));
	play(w, "foo bar OVER OVER #0");
}

/* A shut down drops keys that are still delayed, not those that are ready. */
TEST(delayed_keys_are_dropped_by_a_shut_down)
{
	play(w, "+ready@10ms +not@30ms /20ms SHUT 1s ready OVER");
}

/* [TestNoQueueDrainageUsingShutDown] */
TEST(a_plain_shut_down_does_not_wait)
{
	play(w, "+foo +bar <foo <bar SHUT >foo >bar");
}

TEST(draining_an_idle_queue_is_done_at_once)
{
	play(w, "DRAIN DRAIN SHUT");
}

/* A drain that times out says so; asked again when all is done, it succeeds. */
TEST(a_drain_gives_up_after_its_time)
{
	play(w, "+foo <foo DRAIN! >foo DRAIN");
}

/* A drain waits for waiting keys too, and drops delayed ones. */
TEST(a_drain_waits_for_waiting_keys_and_drops_delayed_ones)
{
	play(w, "+foo +late@10ms DRAIN! 10ms foo OVER DRAIN");
}

struct drain {
	struct workqueue_world *w;
	pthread_t thread;
	_Atomic bool over;
	int result;
};

static void *
drain_thread(void *context)
{
	struct drain *d = context;

	d->result = informer_workqueue_shut_down_with_drain(d->w->q, -1);
	atomic_store(&d->over, true);
	return NULL;
}

/* Start a drain in its own thread; once it has begun, get says that the queue is over. */
static void
drain_begin(struct drain *d, struct workqueue_world *w)
{
	d->w = w;
	atomic_init(&d->over, false);
	assert_int_equal(pthread_create(&d->thread, NULL, drain_thread, d), 0);
	play(w, "OVER");
}

static int
drain_end(struct drain *d)
{
	pthread_join(d->thread, NULL);
	return d->result;
}

/* [TestQueueDrainageUsingShutDownWithDrain] */
TEST(a_drain_waits_for_processed_keys)
{
	struct drain d;

	play(w, "+foo +bar <foo <bar");
	drain_begin(&d, w);
	play(w, ">foo");
	assert_false(atomic_load(&d.over));
	play(w, ">bar");
	assert_int_equal(drain_end(&d), 0);
}

/* [TestQueueDrainageUsingShutDownWithDrainWithDirtyItem] */
TEST(a_drain_waits_for_a_key_added_again)
{
	struct drain d;

	play(w, "+foo <foo +foo");
	drain_begin(&d, w);
	play(w, ">foo <foo");
	assert_false(atomic_load(&d.over));
	play(w, ">foo OVER");
	assert_int_equal(drain_end(&d), 0);
}

/* A plain shut down ends a drain that would wait for ever. [TestForceQueueShutdownUsingShutDown] */
TEST(a_plain_shut_down_ends_a_drain)
{
	struct drain d;

	play(w, "+foo <foo");
	drain_begin(&d, w);
	play(w, "SHUT");
	assert_int_equal(drain_end(&d), -ECANCELED);
	play(w, ">foo");
}

/* ---- metrics ---- */

/* [TestMetrics] */
TEST(metrics_count_as_kubernetes_does)
{
	/* adding a waiting key does not count */
	play(w, "+foo adds=1 depth=1 +foo adds=1");
	play(w, "50us <foo depth=0 queue_count=1 queue_sum_ns=50us");
	/* added while it is processed: counts in adds and depth; its latency starts there */
	play(w, "25us +foo adds=2 depth=1 unfinished_ns=25us longest_running_ns=25us");
	play(w, ">foo work_count=1 work_sum_ns=25us unfinished_ns=0 longest_running_ns=0");
	play(w, "10us foo depth=0 queue_count=2 queue_sum_ns=60us work_count=2 retries=0");
	play(w, "+foo~ +foo@5ns retries=2 adds=2");
}

/* unfinished sums over all keys in process; longest_running is their maximum. */
TEST(unfinished_is_a_sum_and_longest_running_a_maximum)
{
	play(w, "+a +b +c <a 1s <b 2s <c 3s unfinished_ns=14s longest_running_ns=6s "
		">b unfinished_ns=9s >a longest_running_ns=3s >c unfinished_ns=0 work_sum_ns=14s");
}

/* Buckets are powers of ten from 10 ns to 1,000 s; each includes those below it; the last counts all. */
TEST(buckets_are_powers_of_ten)
{
	struct informer_workqueue_metrics m;
	static const uint64_t latency[] = {0, 10, 11, 100, 50 * MS, 1000 * SECOND, 1000 * SECOND + 1};
	static const uint64_t expected[INFORMER_WORKQUEUE_BUCKETS] = {2, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 7};

	for (unsigned i = 0; i < sizeof(latency) / sizeof(latency[0]); i++) {
		play(w, "+foo");
		pass_time(w, latency[i]);
		play(w, "foo");
	}
	m = queue_metrics(w);
	for (unsigned i = 0; i < INFORMER_WORKQUEUE_BUCKETS; i++) {
		assert_int_equal(m.queue_buckets[i], expected[i]);
		assert_int_equal(m.work_buckets[i], 7);
	}
}

TEST(a_delayed_keys_latency_counts_from_when_it_was_ready)
{
	play(w, "+foo@10ms /15ms foo queue_sum_ns=5ms");
}

TEST(a_shorter_metrics_struct_gets_only_its_fields)
{
	struct informer_workqueue_metrics m;

	memset(&m, 0x55, sizeof(m));
	m.size = offsetof(struct informer_workqueue_metrics, adds);
	play(w, "+foo");
	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	assert_int_equal(m.depth, 1);
	assert_int_equal(m.adds, 0x5555555555555555ull);
}

/* ---- failures ---- */

/* If an allocation fails the add says so and changes nothing; the next add succeeds. */
TEST(an_add_without_memory_changes_nothing)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *other;
	unsigned failed = 0;
	char key[16];

	w->fail_after = 0;
	assert_int_equal(informer_workqueue_add(w->q, "foo", 3), -ENOMEM);
	assert_int_equal(informer_workqueue_add_after(w->q, "foo", 3, 5), -ENOMEM);
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, "foo", 3), -ENOMEM);
	w->fail_after = 1;
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, "foo", 3), -ENOMEM);
	play(w, "foo?0 adds=0 retries=0");
	for (size_t i = 0; i < 2; i++) {
		w->fail_after = i;
		assert_int_equal(informer_workqueue_new(&o, &other), -ENOMEM);
	}
	/* the table keeps its size and works */
	for (unsigned i = 0; i < 300; i++) {
		w->fail_after = 1;
		snprintf(key, sizeof(key), "%u", i);
		failed += informer_workqueue_add(w->q, key, strlen(key)) < 0;
	}
	w->fail_after = SIZE_MAX;
	assert_int_equal(failed, 0);
	for (unsigned i = 0; i < 300; i++)
		play(w, "%u", i);
}

/* Invalid arguments are refused, and NULL queues do no harm. */
TEST(impossible_arguments_are_refused)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *other;
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_new(NULL, NULL), -EINVAL);
	o.release = NULL;
	assert_int_equal(informer_workqueue_new(&o, &other), -EINVAL);
	o = workqueue_world_options(w);
	o.size = 3;
	assert_int_equal(informer_workqueue_new(&o, &other), -EINVAL);
	assert_int_equal(informer_workqueue_add(w->q, NULL, 1), -EINVAL);
	assert_int_equal(informer_workqueue_add(w->q, "", SIZE_MAX), -EINVAL);
	assert_int_equal(informer_workqueue_add_after(w->q, NULL, 1, 0), -EINVAL);
	assert_int_equal(informer_workqueue_add(NULL, "a", 1), -EINVAL);
	assert_int_equal(informer_workqueue_get(w->q, 0, NULL), -EINVAL);
	assert_int_equal(informer_workqueue_get(NULL, 0, &item), -EINVAL);
	assert_int_equal(informer_workqueue_shut_down_with_drain(NULL, 0), -EINVAL);
	assert_int_equal(informer_workqueue_metrics(w->q, NULL), -EINVAL);
	assert_int_equal(informer_workqueue_num_requeues(w->q, NULL, 1), 0);
	assert_int_equal(informer_workqueue_length(NULL), 0);
	assert_true(informer_workqueue_is_shutting_down(NULL));
	informer_workqueue_forget(NULL, "a", 1);
	informer_workqueue_done(NULL, &item);
	informer_workqueue_shut_down(NULL);
	informer_workqueue_kick(NULL);
	informer_workqueue_free(NULL);
	assert_int_equal(informer_workqueue_new(NULL, &other), 0);
	informer_workqueue_free(other);
}
