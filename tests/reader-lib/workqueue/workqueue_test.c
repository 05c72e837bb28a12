/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue: what client-go's tests of its util/workqueue ask for, line by line. Delays and rate limits:
 * workqueue_delay_test.c; threads: workqueue_threads_test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/workqueue_world.h"

/* ---- adding and getting ---- */

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* Keys come in the order in which they were added. */
TEST(keys_come_in_order)
{
	queue_add(w, "a");
	queue_add(w, "b");
	queue_add(w, "c");
	queue_get_and_done(w, "a");
	queue_get_and_done(w, "b");
	queue_get_and_done(w, "c");
	assert_nothing_waits(w);
}

/* A key that is added while it waits is there once. [TestLen, TestDeduping] */
TEST(adding_a_waiting_key_does_nothing)
{
	queue_add(w, "foo");
	assert_int_equal(informer_workqueue_length(w->q), 1);
	queue_add(w, "bar");
	assert_int_equal(informer_workqueue_length(w->q), 2);
	queue_add(w, "foo");
	assert_int_equal(informer_workqueue_length(w->q), 2);
	assert_int_equal(queue_metrics(w).adds, 2);
	queue_get_and_done(w, "foo");
	queue_get_and_done(w, "bar");
	assert_nothing_waits(w);
}

/*
 * A key that is added while it is processed comes again after done, and not before. [TestReinsert,
 * ReinsertUntilDone]
 */
TEST(adding_while_processing_brings_it_again_after_done)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	queue_add(w, "foo");
	assert_nothing_waits(w);
	informer_workqueue_done(w->q, &item);
	queue_get_and_done(w, "foo");
	assert_nothing_waits(w);
}

/* However often it is added while it is processed, it comes once. [TestCollapseWhileProcessing] */
TEST(adds_while_processing_collapse)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	for (int i = 0; i < 5; i++)
		queue_add(w, "foo");
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_length(w->q), 1);
	queue_get_and_done(w, "foo");
	assert_nothing_waits(w);
}

/* Adds while a key waits collapse too; the queue holds it at the place of its first add. [TestCollapse] */
TEST(adds_while_waiting_collapse)
{
	queue_add(w, "foo");
	queue_add(w, "bar");
	queue_add(w, "foo");
	queue_add(w, "foo");
	queue_get_and_done(w, "foo");
	queue_get_and_done(w, "bar");
	assert_nothing_waits(w);
}

/*
 * A key that is done, and added anew, is processed anew; nothing of it is kept meanwhile.
 * [TestGarbageCollection]
 */
TEST(a_key_that_is_done_leaves_nothing_behind)
{
	size_t before = w->allocated;

	for (int i = 0; i < 3; i++) {
		queue_add(w, "foo");
		queue_get_and_done(w, "foo");
		assert_int_equal(w->allocated, before);
	}
}

/* Keys are bytes: empty ones, and ones with zeros inside, are keys; what is handed out is terminated. */
TEST(keys_are_bytes)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_add(w->q, NULL, 0), 0);
	assert_int_equal(informer_workqueue_add(w->q, "a\0b", 3), 0);
	assert_int_equal(informer_workqueue_add(w->q, "a\0c", 3), 0);
	assert_int_equal(informer_workqueue_add(w->q, "axxx", 1), 0);
	assert_int_equal(informer_workqueue_length(w->q), 4);
	queue_get_and_done(w, "");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_int_equal(item.length, 3);
	assert_memory_equal(item.key, "a\0b", 4);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_memory_equal(item.key, "a\0c", 4);
	informer_workqueue_done(w->q, &item);
	queue_get_and_done(w, "a");
}

/* Ten thousand keys: all come, each once, in order. */
TEST(many_keys_come_once_each)
{
	char key[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++) {
			snprintf(key, sizeof(key), "namespace/pod-%d", i);
			queue_add(w, key);
		}
	}
	for (int i = 0; i < 10000; i++) {
		snprintf(key, sizeof(key), "namespace/pod-%d", i);
		queue_get_and_done(w, key);
	}
	assert_nothing_waits(w);
}

/* Done a second time with the same item, or with none, does nothing. */
TEST(done_twice_does_nothing)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, NULL);
	assert_int_equal(queue_metrics(w).work_count, 1);
}

/* ---- shutting down ---- */

/* After a shut down get hands out what is left and then says so; adds are refused. [TestBasic] */
TEST(after_a_shut_down_get_drains_and_adds_are_refused)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	queue_add(w, "bar");
	assert_false(informer_workqueue_is_shutting_down(w->q));
	informer_workqueue_shut_down(w->q);
	assert_true(informer_workqueue_is_shutting_down(w->q));
	assert_int_equal(informer_workqueue_add(w->q, "baz", 3), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_after(w->q, "baz", 3, 0), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_after(w->q, "baz", 3, 1), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, "baz", 3), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "baz", 3), 0);
	queue_get_and_done(w, "foo");
	queue_get_and_done(w, "bar");
	assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_length(w->q), 0);
}

/* Keys that are delayed when it shuts down are dropped; those that are ready by then are not. */
TEST(delayed_keys_are_dropped_by_a_shut_down)
{
	struct informer_work_item item;

	queue_add_after(w, "ready", 10 * MS);
	queue_add_after(w, "not", 30 * MS);
	atomic_fetch_add(&w->now, 20 * MS);
	informer_workqueue_shut_down(w->q);
	pass_time(w, 1 * SECOND);
	queue_get_and_done(w, "ready");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ESHUTDOWN);
}

/* A plain shut down waits for nobody. [TestNoQueueDrainageUsingShutDown] */
TEST(a_plain_shut_down_does_not_wait)
{
	struct informer_work_item foo, bar;

	queue_add(w, "foo");
	queue_add(w, "bar");
	foo = queue_get(w, "foo");
	bar = queue_get(w, "bar");
	informer_workqueue_shut_down(w->q);
	informer_workqueue_done(w->q, &foo);
	informer_workqueue_done(w->q, &bar);
}

/* Draining an idle queue is done at once, and can be asked for again. */
TEST(draining_an_idle_queue_is_done_at_once)
{
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, -1), 0);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, -1), 0);
	informer_workqueue_shut_down(w->q);
}

/* A drain gives up after its time, and says so; asked again when all is done it succeeds. */
TEST(a_drain_gives_up_after_its_time)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), -ETIMEDOUT);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), 0);
}

/* It waits for what nobody got yet as well, and not for what is delayed: that is dropped. */
TEST(a_drain_waits_for_the_line_and_drops_the_delayed)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	queue_add_after(w, "late", 10 * MS);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), -ETIMEDOUT);
	pass_time(w, 10 * MS);
	queue_get_and_done(w, "foo");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), 0);
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

/* Start a drain in a thread of its own, and wait until it has begun: then get says so. */
static void
drain_begin(struct drain *d, struct workqueue_world *w)
{
	struct informer_work_item item;

	d->w = w;
	atomic_init(&d->over, false);
	assert_int_equal(pthread_create(&d->thread, NULL, drain_thread, d), 0);
	assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
}

static int
drain_end(struct drain *d)
{
	pthread_join(d->thread, NULL);
	return d->result;
}

/* A drain waits until what is processed is done. [TestQueueDrainageUsingShutDownWithDrain] */
TEST(a_drain_waits_for_what_is_processed)
{
	struct informer_work_item foo, bar;
	struct drain d;

	queue_add(w, "foo");
	queue_add(w, "bar");
	foo = queue_get(w, "foo");
	bar = queue_get(w, "bar");
	drain_begin(&d, w);
	informer_workqueue_done(w->q, &foo);
	assert_false(atomic_load(&d.over));
	informer_workqueue_done(w->q, &bar);
	assert_int_equal(drain_end(&d), 0);
}

/*
 * What was added again while it was processed is drained too.
 * [TestQueueDrainageUsingShutDownWithDrainWithDirtyItem]
 */
TEST(a_drain_waits_for_what_was_added_again)
{
	struct informer_work_item item;
	struct drain d;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	queue_add(w, "foo");
	drain_begin(&d, w);
	informer_workqueue_done(w->q, &item);
	item = queue_get(w, "foo");
	assert_false(atomic_load(&d.over));
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
	assert_int_equal(drain_end(&d), 0);
}

/* A plain shut down ends a drain that would wait for ever. [TestForceQueueShutdownUsingShutDown] */
TEST(a_plain_shut_down_ends_a_drain)
{
	struct informer_work_item item;
	struct drain d;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	drain_begin(&d, w);
	informer_workqueue_shut_down(w->q);
	assert_int_equal(drain_end(&d), -ECANCELED);
	informer_workqueue_done(w->q, &item);
}

/* ---- metrics ---- */

/*
 * Depth, adds, latency, work time, unfinished, longest running and retries are those of client-go's own test.
 * [TestMetrics]
 */
TEST(metrics_count_as_kubernetes_does)
{
	struct informer_workqueue_metrics m;
	struct informer_work_item item;

	queue_add(w, "foo");
	m = queue_metrics(w);
	assert_int_equal(m.adds, 1);
	assert_int_equal(m.depth, 1);

	/* an item that waits is no second add */
	queue_add(w, "foo");
	assert_int_equal(queue_metrics(w).adds, 1);

	pass_time(w, 50000);
	item = queue_get(w, "foo");
	m = queue_metrics(w);
	assert_int_equal(m.depth, 0);
	assert_int_equal(m.queue_count, 1);
	assert_int_equal(m.queue_sum_ns, 50000);

	/* added while it is processed: an add, and counted in depth; its latency runs from there */
	pass_time(w, 25000);
	queue_add(w, "foo");
	m = queue_metrics(w);
	assert_int_equal(m.adds, 2);
	assert_int_equal(m.depth, 1);
	assert_int_equal(m.unfinished_ns, 25000);
	assert_int_equal(m.longest_running_ns, 25000);
	informer_workqueue_done(w->q, &item);
	m = queue_metrics(w);
	assert_int_equal(m.work_count, 1);
	assert_int_equal(m.work_sum_ns, 25000);
	assert_int_equal(m.unfinished_ns, 0);
	assert_int_equal(m.longest_running_ns, 0);

	pass_time(w, 10000);
	item = queue_get(w, "foo");
	m = queue_metrics(w);
	assert_int_equal(m.depth, 0);
	assert_int_equal(m.queue_count, 2);
	assert_int_equal(m.queue_sum_ns, 60000);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(queue_metrics(w).work_count, 2);
	assert_int_equal(queue_metrics(w).retries, 0);
	queue_add_limited(w, "foo");
	queue_add_after(w, "foo", 5);
	assert_int_equal(queue_metrics(w).retries, 2);
	assert_int_equal(queue_metrics(w).adds, 2);
}

/* Unfinished is the sum over all that are processed, longest running the longest of them. */
TEST(unfinished_is_a_sum_and_longest_running_a_maximum)
{
	struct informer_work_item a, b, c;

	queue_add(w, "a");
	queue_add(w, "b");
	queue_add(w, "c");
	a = queue_get(w, "a");
	pass_time(w, 1 * SECOND);
	b = queue_get(w, "b");
	pass_time(w, 2 * SECOND);
	c = queue_get(w, "c");
	pass_time(w, 3 * SECOND);
	assert_int_equal(queue_metrics(w).unfinished_ns, 14 * SECOND);
	assert_int_equal(queue_metrics(w).longest_running_ns, 6 * SECOND);
	informer_workqueue_done(w->q, &b);
	assert_int_equal(queue_metrics(w).unfinished_ns, 9 * SECOND);
	informer_workqueue_done(w->q, &a);
	assert_int_equal(queue_metrics(w).longest_running_ns, 3 * SECOND);
	informer_workqueue_done(w->q, &c);
	assert_int_equal(queue_metrics(w).unfinished_ns, 0);
	assert_int_equal(queue_metrics(w).work_sum_ns, (6 + 5 + 3) * SECOND);
}

/* Buckets are powers of ten from 10 ns to 1,000 s, each including those below; the last one counts all. */
TEST(buckets_are_powers_of_ten)
{
	struct informer_workqueue_metrics m;
	static const uint64_t latency[] = {0, 10, 11, 100, 50 * MS, 1000 * SECOND, 1000 * SECOND + 1};
	static const uint64_t expected[INFORMER_WORKQUEUE_BUCKETS] = {2, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 7};

	for (unsigned i = 0; i < sizeof(latency) / sizeof(latency[0]); i++) {
		queue_add(w, "foo");
		pass_time(w, latency[i]);
		queue_get_and_done(w, "foo");
	}
	m = queue_metrics(w);
	for (unsigned i = 0; i < INFORMER_WORKQUEUE_BUCKETS; i++) {
		assert_int_equal(m.queue_buckets[i], expected[i]);
		assert_int_equal(m.work_buckets[i], 7);
	}
}

/* The latency of a delayed key counts from when it was ready, not from when somebody came to move it. */
TEST(a_delayed_keys_latency_counts_from_when_it_was_ready)
{
	queue_add_after(w, "foo", 10 * MS);
	atomic_fetch_add(&w->now, 15 * MS);
	queue_get_and_done(w, "foo");
	assert_int_equal(queue_metrics(w).queue_sum_ns, 5 * MS);
}

/* A caller that knows fewer metrics gets those. */
TEST(a_shorter_struct_is_filled_as_far_as_it_goes)
{
	struct informer_workqueue_metrics m;

	memset(&m, 0x55, sizeof(m));
	m.size = offsetof(struct informer_workqueue_metrics, adds);
	queue_add(w, "foo");
	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	assert_int_equal(m.depth, 1);
	assert_int_equal(m.adds, 0x5555555555555555ull);
}

/* ---- failures ---- */

/* Whichever allocation fails, the add says so and nothing has changed; the next one succeeds. */
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
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 0);
	assert_int_equal(queue_metrics(w).adds, 0);
	assert_int_equal(queue_metrics(w).retries, 0);
	for (size_t i = 0; i < 2; i++) {
		w->fail_after = i;
		assert_int_equal(informer_workqueue_new(&o, &other), -ENOMEM);
	}
	/* the table stays as small as it is, and works */
	for (unsigned i = 0; i < 300; i++) {
		w->fail_after = 1;
		snprintf(key, sizeof(key), "%u", i);
		failed += informer_workqueue_add(w->q, key, strlen(key)) < 0;
	}
	w->fail_after = SIZE_MAX;
	assert_int_equal(failed, 0);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "%u", i);
		queue_get_and_done(w, key);
	}
}

/* Impossible arguments are refused, and NULL queues do no harm. */
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
