/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue: keys that wait for their time, and rate limits, against a clock that the test moves.
 */
#include <stdio.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/workqueue_world.h"

/* ---- later ---- */

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* A delayed key comes after its time, once. [TestSimpleQueue] */
TEST(a_delayed_key_comes_after_its_time)
{
	queue_add_after(w, "foo", 50 * MS);
	assert_nothing_waits(w);
	pass_time(w, 49 * MS);
	assert_nothing_waits(w);
	pass_time(w, 1 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 1);
	queue_get_and_done(w, "foo");
	pass_time(w, 10 * SECOND);
	assert_nothing_waits(w);
}

/*
 * Of two delays for one key the earlier one counts, whichever came first; the other is gone.
 * [TestDeduping]
 */
TEST(of_two_delays_the_earlier_one_counts)
{
	queue_add_after(w, "foo", 50 * MS);
	queue_add_after(w, "foo", 70 * MS);
	pass_time(w, 60 * MS);
	queue_get_and_done(w, "foo");
	pass_time(w, 20 * MS);
	assert_nothing_waits(w);

	queue_add_after(w, "foo", 50 * MS);
	queue_add_after(w, "foo", 30 * MS);
	pass_time(w, 29 * MS);
	assert_nothing_waits(w);
	pass_time(w, 1 * MS);
	queue_get_and_done(w, "foo");
	pass_time(w, 20 * MS);
	assert_nothing_waits(w);
}

/*
 * Keys that are ready come while others still wait, and those come at their own time.
 * [TestAddTwoFireEarly]
 */
TEST(two_delayed_keys_come_each_at_its_time)
{
	queue_add_after(w, "foo", 1 * SECOND);
	queue_add_after(w, "bar", 50 * MS);
	pass_time(w, 60 * MS);
	queue_get_and_done(w, "bar");
	assert_nothing_waits(w);
	queue_add_after(w, "baz", 2 * SECOND);
	pass_time(w, 1 * SECOND);
	queue_get_and_done(w, "foo");
	assert_nothing_waits(w);
	pass_time(w, 2 * SECOND);
	queue_get_and_done(w, "baz");
}

/* Keys that are ready at once come in the order of their times, not of their adds. [TestCopyShifting] */
TEST(delayed_keys_come_in_order_of_their_times)
{
	queue_add_after(w, "foo", 1 * SECOND);
	queue_add_after(w, "bar", 500 * MS);
	queue_add_after(w, "baz", 250 * MS);
	queue_add_after(w, "qux", 250 * MS);
	pass_time(w, 2 * SECOND);
	assert_int_equal(informer_workqueue_length(w->q), 4);
	queue_get_and_done(w, "baz");
	queue_get_and_done(w, "qux");
	queue_get_and_done(w, "bar");
	queue_get_and_done(w, "foo");
}

/* A thousand delays, added in disorder, some made shorter: the heap gives them back in order. */
TEST(a_thousand_delays_come_in_order)
{
	char key[16];

	for (unsigned i = 0; i < 1000; i++) {
		unsigned at = i * 7919u % 1000u;

		snprintf(key, sizeof(key), "%04u", at);
		queue_add_after(w, key, (at + 1 + (at % 3 ? 0 : 5000)) * MS);
	}
	for (unsigned at = 0; at < 1000; at += 3) {
		snprintf(key, sizeof(key), "%04u", at);
		queue_add_after(w, key, (at + 1) * MS);
	}
	for (unsigned at = 0; at < 1000; at++) {
		pass_time(w, 1 * MS);
		snprintf(key, sizeof(key), "%04u", at);
		queue_get_and_done(w, key);
		assert_nothing_waits(w);
	}
}

/* Without a delay a key comes at once. */
TEST(without_a_delay_it_comes_at_once)
{
	queue_add_after(w, "foo", 0);
	queue_get_and_done(w, "foo");
	assert_int_equal(queue_metrics(w).retries, 1);
}

/* A key may wait and be delayed: it comes for either, once each; when it still waits at the time, once. */
TEST(a_waiting_key_may_be_delayed_too)
{
	queue_add(w, "foo");
	queue_add_after(w, "foo", 10 * MS);
	queue_get_and_done(w, "foo");
	assert_nothing_waits(w);
	pass_time(w, 10 * MS);
	queue_get_and_done(w, "foo");

	queue_add(w, "foo");
	queue_add_after(w, "foo", 10 * MS);
	pass_time(w, 10 * MS);
	queue_get_and_done(w, "foo");
	assert_nothing_waits(w);
}

/* A key whose time comes while it is processed comes again after done. [TestDeduping, the last case] */
TEST(a_key_that_is_ready_while_processed_comes_after_done)
{
	struct informer_work_item item;

	queue_add(w, "foo");
	item = queue_get(w, "foo");
	queue_add_after(w, "foo", 5 * MS);
	pass_time(w, 5 * MS);
	assert_nothing_waits(w);
	informer_workqueue_done(w->q, &item);
	queue_get_and_done(w, "foo");
}

/*
 * A key that was ready before another was added comes before it, though nobody looked at the clock
 * between.
 */
TEST(a_ready_key_stands_before_a_later_add)
{
	queue_add_after(w, "delayed", 10 * MS);
	atomic_fetch_add(&w->now, 20 * MS);
	queue_add(w, "later");
	queue_get_and_done(w, "delayed");
	queue_get_and_done(w, "later");
}

/* A delay beyond all time is one that never ends, not one that wraps round. */
TEST(an_endless_delay_does_not_wrap)
{
	queue_add_after(w, "foo", UINT64_MAX);
	pass_time(w, 1000000 * SECOND);
	assert_nothing_waits(w);
}

/* ---- rate limits ---- */

/*
 * An item's own backoff doubles from 5 ms; forget begins anew; each item has its own.
 * [TestItemExponentialFailureRateLimiter]
 */
TEST(an_items_backoff_doubles_until_forgotten)
{
	for (unsigned n = 0; n < 5; n++) {
		queue_add_limited(w, "one");
		assert_nothing_waits(w);
		pass_time(w, (5 * MS << n) - 1);
		assert_nothing_waits(w);
		pass_time(w, 1);
		queue_get_and_done(w, "one");
		assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), n + 1);
	}
	queue_add_limited(w, "two");
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "two");
	queue_add_limited(w, "two");
	pass_time(w, 5 * MS);
	assert_nothing_waits(w);
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "two");
	assert_int_equal(informer_workqueue_num_requeues(w->q, "two", 3), 2);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 5);

	informer_workqueue_forget(w->q, "one", 3);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 0);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "two", 3), 2);
	queue_add_limited(w, "one");
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "one");
}

/*
 * The backoff ends at 1,000 s, and stays there however often.
 * [TestItemExponentialFailureRateLimiterOverFlow]
 */
TEST(the_backoff_ends_at_its_maximum)
{
	static const uint64_t expected[] = {640 * SECOND + 1, 1000 * SECOND};
	unsigned n = 0;

	/* 5 ms · 2^17 = 655.36 s is the last below the maximum */
	for (; n < 200; n++) {
		queue_add_limited(w, "one");
		if (n == 17) {
			pass_time(w, expected[0]);
			assert_nothing_waits(w);
			pass_time(w, 655360 * MS - expected[0]);
		} else if (n >= 18) {
			pass_time(w, expected[1] - 1);
			assert_nothing_waits(w);
			pass_time(w, 1);
		} else {
			pass_time(w, 5 * MS << n);
		}
		queue_get_and_done(w, "one");
	}
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 200);
}

/* Base and maximum are the caller's. [TestItemExponentialFailureRateLimiter's own figures: 1 ms, 1 s] */
TEST(base_and_maximum_are_the_callers)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	static const uint64_t expected[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000};

	o.base_delay_ns = 1 * MS;
	o.max_delay_ns = 1 * SECOND;
	o.qps = -1;
	workqueue_world_queue(w, &o);
	for (unsigned n = 0; n < 12; n++) {
		queue_add_limited(w, "one");
		pass_time(w, expected[n] * MS - 1);
		assert_nothing_waits(w);
		pass_time(w, 1);
		queue_get_and_done(w, "one");
	}
}

/*
 * The bucket: a hundred at once, then ten a second; each add that comes waits behind those before it.
 * [TestBucketRateLimiter, TestMaxOfRateLimiter]
 */
TEST(the_bucket_gives_ten_a_second_after_a_hundred)
{
	char key[16];

	for (unsigned i = 0; i < 130; i++) {
		snprintf(key, sizeof(key), "%u", i);
		queue_add_limited(w, key);
	}
	/* the first hundred wait for their own backoff alone */
	pass_time(w, 5 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 100);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "%u", i);
		queue_get_and_done(w, key);
	}
	pass_time(w, 94 * MS);
	assert_nothing_waits(w);
	pass_time(w, 1 * MS);
	for (unsigned i = 100; i < 130; i++) {
		snprintf(key, sizeof(key), "%u", i);
		queue_get_and_done(w, key);
		pass_time(w, 99 * MS);
		assert_nothing_waits(w);
		pass_time(w, 1 * MS);
	}
}

/* The bucket fills again, up to its size and not above. */
TEST(the_bucket_fills_again)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	char key[16];

	o.burst = 3;
	o.qps = 2;
	o.base_delay_ns = 1;
	workqueue_world_queue(w, &o);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 5; i++) {
			snprintf(key, sizeof(key), "%u-%u", round, i);
			queue_add_limited(w, key);
		}
		pass_time(w, 1);
		assert_int_equal(informer_workqueue_length(w->q), 3);
		pass_time(w, 500 * MS - 1);
		assert_int_equal(informer_workqueue_length(w->q), 4);
		pass_time(w, 500 * MS);
		assert_int_equal(informer_workqueue_length(w->q), 5);
		for (unsigned i = 0; i < 5; i++) {
			snprintf(key, sizeof(key), "%u-%u", round, i);
			queue_get_and_done(w, key);
		}
		pass_time(w, 3600 * SECOND);
	}
}

/*
 * The longer of the two counts: an item's backoff beyond the bucket's wait, and the other way round.
 * [TestMaxOfRateLimiter]
 */
TEST(the_longer_of_backoff_and_bucket_counts)
{
	struct informer_workqueue_options o = workqueue_world_options(w);

	o.burst = 1;
	o.qps = 10;
	o.base_delay_ns = 30 * MS;
	workqueue_world_queue(w, &o);
	queue_add_limited(w, "a");	/* backoff 30, bucket 0 */
	queue_add_limited(w, "b");	/* backoff 30, bucket 100 */
	pass_time(w, 30 * MS);
	queue_get_and_done(w, "a");
	pass_time(w, 69 * MS);
	assert_nothing_waits(w);
	pass_time(w, 1 * MS);
	queue_get_and_done(w, "b");
}

/* With qps below zero there is no bucket: only the item's own backoff counts. */
TEST(without_a_bucket_only_the_backoff_counts)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	char key[16];

	o.qps = -1;
	workqueue_world_queue(w, &o);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%u", i);
		queue_add_limited(w, key);
	}
	pass_time(w, 5 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 1000);
}

/*
 * A key added with a rate limit while its earlier one still waits keeps the earlier time, and counts as
 * tried.
 */
TEST(a_second_rate_limited_add_keeps_the_earlier_time)
{
	queue_add_limited(w, "foo");
	queue_add_limited(w, "foo");
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 2);
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "foo");
	pass_time(w, 100 * MS);
	assert_nothing_waits(w);
}

/* Forget does not take a key out of the queue, nor one that is delayed. */
TEST(forget_takes_nothing_out)
{
	queue_add_limited(w, "delayed");
	queue_add(w, "waiting");
	informer_workqueue_forget(w->q, "delayed", 7);
	informer_workqueue_forget(w->q, "waiting", 7);
	informer_workqueue_forget(w->q, "unknown", 7);
	queue_get_and_done(w, "waiting");
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "delayed");
}

/* What was forgotten leaves nothing behind, what was not is remembered after done. */
TEST(failures_are_remembered_until_forgotten)
{
	size_t before;

	queue_add_limited(w, "foo");
	pass_time(w, 5 * MS);
	queue_get_and_done(w, "foo");
	before = w->allocated;
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 1);
	informer_workqueue_forget(w->q, "foo", 3);
	assert_int_equal(w->allocated, before - 1);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 0);
}
