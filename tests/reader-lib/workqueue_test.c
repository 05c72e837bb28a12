/*
 * The workqueue, against a clock that the test moves; what client-go's util/workqueue tests ask for, line by line, and
 * threads.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "reader-lib/informer-workqueue.h"

#define MS 1000000ull
#define SECOND 1000000000ull

struct world {
	struct informer_workqueue *q;
	_Atomic uint64_t now;
	size_t allocated;	/* pieces that are out */
	size_t fail_after;	/* allocations that succeed; SIZE_MAX: all */
};

static uint64_t
world_now(void *context)
{
	struct world *w = context;

	return atomic_load(&w->now);
}

static void *
world_allocate(void *context, size_t size)
{
	struct world *w = context;

	if (w->fail_after == 0)
		return NULL;
	if (w->fail_after != SIZE_MAX)
		w->fail_after--;
	w->allocated++;
	return malloc(size);
}

static void
world_release(void *context, void *memory)
{
	struct world *w = context;

	w->allocated--;
	free(memory);
}

static struct informer_workqueue_options
options_of(struct world *w)
{
	return (struct informer_workqueue_options){
		.size = sizeof(struct informer_workqueue_options),
		.clock = world_now,
		.clock_context = w,
		.allocate = world_allocate,
		.release = world_release,
		.allocator_context = w,
	};
}

static void
world_queue(struct world *w, const struct informer_workqueue_options *options)
{
	informer_workqueue_free(w->q);
	assert_int_equal(informer_workqueue_new(options, &w->q), 0);
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct informer_workqueue_options o = options_of(w);

	w->fail_after = SIZE_MAX;
	atomic_init(&w->now, 1000 * SECOND);
	world_queue(w, &o);
	*state = w;
	return 0;
}

/* Nothing is left behind, whatever was in the queue. */
static int
tear_down(void **state)
{
	struct world *w = *state;
	size_t left;

	informer_workqueue_free(w->q);
	left = w->allocated;
	free(w);
	return left == 0 ? 0 : -1;
}

static void
pass(struct world *w, uint64_t ns)
{
	atomic_fetch_add(&w->now, ns);
	informer_workqueue_kick(w->q);
}

static void
add(struct world *w, const char *key)
{
	assert_int_equal(informer_workqueue_add(w->q, key, strlen(key)), 0);
}

static void
add_after(struct world *w, const char *key, uint64_t delay_ns)
{
	assert_int_equal(informer_workqueue_add_after(w->q, key, strlen(key), delay_ns), 0);
}

static void
add_limited(struct world *w, const char *key)
{
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, key, strlen(key)), 0);
}

static struct informer_work_item
get(struct world *w, const char *expected)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_string_equal(item.key, expected);
	assert_int_equal(item.length, strlen(expected));
	return item;
}

static void
get_and_done(struct world *w, const char *expected)
{
	struct informer_work_item item = get(w, expected);

	informer_workqueue_done(w->q, &item);
}

static void
assert_nothing(struct world *w)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ETIMEDOUT);
	assert_int_equal(informer_workqueue_length(w->q), 0);
}

static struct informer_workqueue_metrics
metrics(struct world *w)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};

	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	return m;
}

/* ---- adding and getting ---- */

/* Keys come in the order in which they were added. */
static void
keys_come_in_order(void **state)
{
	struct world *w = *state;

	add(w, "a");
	add(w, "b");
	add(w, "c");
	get_and_done(w, "a");
	get_and_done(w, "b");
	get_and_done(w, "c");
	assert_nothing(w);
}

/* A key that is added while it waits is there once. [TestLen, TestDeduping] */
static void
adding_a_waiting_key_does_nothing(void **state)
{
	struct world *w = *state;

	add(w, "foo");
	assert_int_equal(informer_workqueue_length(w->q), 1);
	add(w, "bar");
	assert_int_equal(informer_workqueue_length(w->q), 2);
	add(w, "foo");
	assert_int_equal(informer_workqueue_length(w->q), 2);
	assert_int_equal(metrics(w).adds, 2);
	get_and_done(w, "foo");
	get_and_done(w, "bar");
	assert_nothing(w);
}

/* A key that is added while it is processed comes again after done, and not before. [TestReinsert, ReinsertUntilDone] */
static void
adding_while_processing_brings_it_again_after_done(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	item = get(w, "foo");
	add(w, "foo");
	assert_nothing(w);
	informer_workqueue_done(w->q, &item);
	get_and_done(w, "foo");
	assert_nothing(w);
}

/* However often it is added while it is processed, it comes once. [TestCollapseWhileProcessing] */
static void
adds_while_processing_collapse(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	item = get(w, "foo");
	for (int i = 0; i < 5; i++)
		add(w, "foo");
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_length(w->q), 1);
	get_and_done(w, "foo");
	assert_nothing(w);
}

/* Adds while a key waits collapse too; the queue holds it at the place of its first add. [TestCollapse] */
static void
adds_while_waiting_collapse(void **state)
{
	struct world *w = *state;

	add(w, "foo");
	add(w, "bar");
	add(w, "foo");
	add(w, "foo");
	get_and_done(w, "foo");
	get_and_done(w, "bar");
	assert_nothing(w);
}

/* A key that is done, and added anew, is processed anew; nothing of it is kept meanwhile. [TestGarbageCollection] */
static void
a_key_that_is_done_leaves_nothing_behind(void **state)
{
	struct world *w = *state;
	size_t before = w->allocated;

	for (int i = 0; i < 3; i++) {
		add(w, "foo");
		get_and_done(w, "foo");
		assert_int_equal(w->allocated, before);
	}
}

/* Keys are bytes: empty ones, and ones with zeros inside, are keys; what is handed out is terminated. */
static void
keys_are_bytes(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_add(w->q, NULL, 0), 0);
	assert_int_equal(informer_workqueue_add(w->q, "a\0b", 3), 0);
	assert_int_equal(informer_workqueue_add(w->q, "a\0c", 3), 0);
	assert_int_equal(informer_workqueue_add(w->q, "axxx", 1), 0);
	assert_int_equal(informer_workqueue_length(w->q), 4);
	get_and_done(w, "");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_int_equal(item.length, 3);
	assert_memory_equal(item.key, "a\0b", 4);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_memory_equal(item.key, "a\0c", 4);
	informer_workqueue_done(w->q, &item);
	get_and_done(w, "a");
}

/* Ten thousand keys: all come, each once, in order. */
static void
many_keys_come_once_each(void **state)
{
	struct world *w = *state;
	char key[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++) {
			snprintf(key, sizeof(key), "namespace/pod-%d", i);
			add(w, key);
		}
	}
	for (int i = 0; i < 10000; i++) {
		snprintf(key, sizeof(key), "namespace/pod-%d", i);
		get_and_done(w, key);
	}
	assert_nothing(w);
}

/* Done a second time with the same item, or with none, does nothing. */
static void
done_twice_does_nothing(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	item = get(w, "foo");
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, &item);
	informer_workqueue_done(w->q, NULL);
	assert_int_equal(metrics(w).work_count, 1);
}

/* ---- later ---- */

/* A delayed key comes after its time, once. [TestSimpleQueue] */
static void
a_delayed_key_comes_after_its_time(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 50 * MS);
	assert_nothing(w);
	pass(w, 49 * MS);
	assert_nothing(w);
	pass(w, 1 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 1);
	get_and_done(w, "foo");
	pass(w, 10 * SECOND);
	assert_nothing(w);
}

/* Of two delays for one key the earlier one counts, whichever came first; the other is gone. [TestDeduping] */
static void
of_two_delays_the_earlier_one_counts(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 50 * MS);
	add_after(w, "foo", 70 * MS);
	pass(w, 60 * MS);
	get_and_done(w, "foo");
	pass(w, 20 * MS);
	assert_nothing(w);

	add_after(w, "foo", 50 * MS);
	add_after(w, "foo", 30 * MS);
	pass(w, 29 * MS);
	assert_nothing(w);
	pass(w, 1 * MS);
	get_and_done(w, "foo");
	pass(w, 20 * MS);
	assert_nothing(w);
}

/* Keys that are ready come while others still wait, and those come at their own time. [TestAddTwoFireEarly] */
static void
two_delayed_keys_come_each_at_its_time(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 1 * SECOND);
	add_after(w, "bar", 50 * MS);
	pass(w, 60 * MS);
	get_and_done(w, "bar");
	assert_nothing(w);
	add_after(w, "baz", 2 * SECOND);
	pass(w, 1 * SECOND);
	get_and_done(w, "foo");
	assert_nothing(w);
	pass(w, 2 * SECOND);
	get_and_done(w, "baz");
}

/* Keys that are ready at once come in the order of their times, not of their adds. [TestCopyShifting] */
static void
delayed_keys_come_in_order_of_their_times(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 1 * SECOND);
	add_after(w, "bar", 500 * MS);
	add_after(w, "baz", 250 * MS);
	add_after(w, "qux", 250 * MS);
	pass(w, 2 * SECOND);
	assert_int_equal(informer_workqueue_length(w->q), 4);
	get_and_done(w, "baz");
	get_and_done(w, "qux");
	get_and_done(w, "bar");
	get_and_done(w, "foo");
}

/* A thousand delays, added in disorder, some made shorter: the heap gives them back in order. */
static void
a_thousand_delays_come_in_order(void **state)
{
	struct world *w = *state;
	char key[16];

	for (unsigned i = 0; i < 1000; i++) {
		unsigned at = i * 7919u % 1000u;

		snprintf(key, sizeof(key), "%04u", at);
		add_after(w, key, (at + 1 + (at % 3 ? 0 : 5000)) * MS);
	}
	for (unsigned at = 0; at < 1000; at += 3) {
		snprintf(key, sizeof(key), "%04u", at);
		add_after(w, key, (at + 1) * MS);
	}
	for (unsigned at = 0; at < 1000; at++) {
		pass(w, 1 * MS);
		snprintf(key, sizeof(key), "%04u", at);
		get_and_done(w, key);
		assert_nothing(w);
	}
}

/* Without a delay a key comes at once. */
static void
without_a_delay_it_comes_at_once(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 0);
	get_and_done(w, "foo");
	assert_int_equal(metrics(w).retries, 1);
}

/* A key may wait and be delayed: it comes for either, once each; when it still waits at the time, once. */
static void
a_waiting_key_may_be_delayed_too(void **state)
{
	struct world *w = *state;

	add(w, "foo");
	add_after(w, "foo", 10 * MS);
	get_and_done(w, "foo");
	assert_nothing(w);
	pass(w, 10 * MS);
	get_and_done(w, "foo");

	add(w, "foo");
	add_after(w, "foo", 10 * MS);
	pass(w, 10 * MS);
	get_and_done(w, "foo");
	assert_nothing(w);
}

/* A key whose time comes while it is processed comes again after done. [TestDeduping, the last case] */
static void
a_key_that_is_ready_while_processed_comes_after_done(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	item = get(w, "foo");
	add_after(w, "foo", 5 * MS);
	pass(w, 5 * MS);
	assert_nothing(w);
	informer_workqueue_done(w->q, &item);
	get_and_done(w, "foo");
}

/* A key that was ready before another was added comes before it, though nobody looked at the clock between. */
static void
a_ready_key_stands_before_a_later_add(void **state)
{
	struct world *w = *state;

	add_after(w, "delayed", 10 * MS);
	atomic_fetch_add(&w->now, 20 * MS);
	add(w, "later");
	get_and_done(w, "delayed");
	get_and_done(w, "later");
}

/* A delay beyond all time is one that never ends, not one that wraps round. */
static void
an_endless_delay_does_not_wrap(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", UINT64_MAX);
	pass(w, 1000000 * SECOND);
	assert_nothing(w);
}

/* ---- rate limits ---- */

/* An item's own backoff doubles from 5 ms; forget begins anew; each item has its own. [TestItemExponentialFailureRateLimiter] */
static void
an_items_backoff_doubles_until_forgotten(void **state)
{
	struct world *w = *state;

	for (unsigned n = 0; n < 5; n++) {
		add_limited(w, "one");
		assert_nothing(w);
		pass(w, (5 * MS << n) - 1);
		assert_nothing(w);
		pass(w, 1);
		get_and_done(w, "one");
		assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), n + 1);
	}
	add_limited(w, "two");
	pass(w, 5 * MS);
	get_and_done(w, "two");
	add_limited(w, "two");
	pass(w, 5 * MS);
	assert_nothing(w);
	pass(w, 5 * MS);
	get_and_done(w, "two");
	assert_int_equal(informer_workqueue_num_requeues(w->q, "two", 3), 2);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 5);

	informer_workqueue_forget(w->q, "one", 3);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 0);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "two", 3), 2);
	add_limited(w, "one");
	pass(w, 5 * MS);
	get_and_done(w, "one");
}

/* The backoff ends at 1,000 s, and stays there however often. [TestItemExponentialFailureRateLimiterOverFlow] */
static void
the_backoff_ends_at_its_maximum(void **state)
{
	struct world *w = *state;
	static const uint64_t expected[] = {640 * SECOND + 1, 1000 * SECOND};
	unsigned n = 0;

	/* 5 ms · 2^17 = 655.36 s is the last below the maximum */
	for (; n < 200; n++) {
		add_limited(w, "one");
		if (n == 17) {
			pass(w, expected[0]);
			assert_nothing(w);
			pass(w, 655360 * MS - expected[0]);
		} else if (n >= 18) {
			pass(w, expected[1] - 1);
			assert_nothing(w);
			pass(w, 1);
		} else {
			pass(w, 5 * MS << n);
		}
		get_and_done(w, "one");
	}
	assert_int_equal(informer_workqueue_num_requeues(w->q, "one", 3), 200);
}

/* Base and maximum are the caller's. [TestItemExponentialFailureRateLimiter's own figures: 1 ms, 1 s] */
static void
base_and_maximum_are_the_callers(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);
	static const uint64_t expected[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000};

	o.base_delay_ns = 1 * MS;
	o.max_delay_ns = 1 * SECOND;
	o.qps = -1;
	world_queue(w, &o);
	for (unsigned n = 0; n < 12; n++) {
		add_limited(w, "one");
		pass(w, expected[n] * MS - 1);
		assert_nothing(w);
		pass(w, 1);
		get_and_done(w, "one");
	}
}

/*
 * The bucket: a hundred at once, then ten a second; each add that comes waits behind those before it. [TestBucketRateLimiter,
 * TestMaxOfRateLimiter]
 */
static void
the_bucket_gives_ten_a_second_after_a_hundred(void **state)
{
	struct world *w = *state;
	char key[16];

	for (unsigned i = 0; i < 130; i++) {
		snprintf(key, sizeof(key), "%u", i);
		add_limited(w, key);
	}
	/* the first hundred wait for their own backoff alone */
	pass(w, 5 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 100);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "%u", i);
		get_and_done(w, key);
	}
	pass(w, 94 * MS);
	assert_nothing(w);
	pass(w, 1 * MS);
	for (unsigned i = 100; i < 130; i++) {
		snprintf(key, sizeof(key), "%u", i);
		get_and_done(w, key);
		pass(w, 99 * MS);
		assert_nothing(w);
		pass(w, 1 * MS);
	}
}

/* The bucket fills again, up to its size and not above. */
static void
the_bucket_fills_again(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);
	char key[16];

	o.burst = 3;
	o.qps = 2;
	o.base_delay_ns = 1;
	world_queue(w, &o);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 5; i++) {
			snprintf(key, sizeof(key), "%u-%u", round, i);
			add_limited(w, key);
		}
		pass(w, 1);
		assert_int_equal(informer_workqueue_length(w->q), 3);
		pass(w, 500 * MS - 1);
		assert_int_equal(informer_workqueue_length(w->q), 4);
		pass(w, 500 * MS);
		assert_int_equal(informer_workqueue_length(w->q), 5);
		for (unsigned i = 0; i < 5; i++) {
			snprintf(key, sizeof(key), "%u-%u", round, i);
			get_and_done(w, key);
		}
		pass(w, 3600 * SECOND);
	}
}

/* The longer of the two counts: an item's backoff beyond the bucket's wait, and the other way round. [TestMaxOfRateLimiter] */
static void
the_longer_of_backoff_and_bucket_counts(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);

	o.burst = 1;
	o.qps = 10;
	o.base_delay_ns = 30 * MS;
	world_queue(w, &o);
	add_limited(w, "a");	/* backoff 30, bucket 0 */
	add_limited(w, "b");	/* backoff 30, bucket 100 */
	pass(w, 30 * MS);
	get_and_done(w, "a");
	pass(w, 69 * MS);
	assert_nothing(w);
	pass(w, 1 * MS);
	get_and_done(w, "b");
}

/* With qps below zero there is no bucket: only the item's own backoff counts. */
static void
without_a_bucket_only_the_backoff_counts(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);
	char key[16];

	o.qps = -1;
	world_queue(w, &o);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%u", i);
		add_limited(w, key);
	}
	pass(w, 5 * MS);
	assert_int_equal(informer_workqueue_length(w->q), 1000);
}

/* A key added with a rate limit while its earlier one still waits keeps the earlier time, and counts as tried. */
static void
a_second_rate_limited_add_keeps_the_earlier_time(void **state)
{
	struct world *w = *state;

	add_limited(w, "foo");
	add_limited(w, "foo");
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 2);
	pass(w, 5 * MS);
	get_and_done(w, "foo");
	pass(w, 100 * MS);
	assert_nothing(w);
}

/* Forget does not take a key out of the queue, nor one that is delayed. */
static void
forget_takes_nothing_out(void **state)
{
	struct world *w = *state;

	add_limited(w, "delayed");
	add(w, "waiting");
	informer_workqueue_forget(w->q, "delayed", 7);
	informer_workqueue_forget(w->q, "waiting", 7);
	informer_workqueue_forget(w->q, "unknown", 7);
	get_and_done(w, "waiting");
	pass(w, 5 * MS);
	get_and_done(w, "delayed");
}

/* What was forgotten leaves nothing behind, what was not is remembered after done. */
static void
failures_are_remembered_until_forgotten(void **state)
{
	struct world *w = *state;
	size_t before;

	add_limited(w, "foo");
	pass(w, 5 * MS);
	get_and_done(w, "foo");
	before = w->allocated;
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 1);
	informer_workqueue_forget(w->q, "foo", 3);
	assert_int_equal(w->allocated, before - 1);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 0);
}

/* ---- shutting down ---- */

/* After a shut down get hands out what is left and then says so; adds are refused. [TestBasic] */
static void
after_a_shut_down_get_drains_and_adds_are_refused(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	add(w, "bar");
	assert_false(informer_workqueue_is_shutting_down(w->q));
	informer_workqueue_shut_down(w->q);
	assert_true(informer_workqueue_is_shutting_down(w->q));
	assert_int_equal(informer_workqueue_add(w->q, "baz", 3), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_after(w->q, "baz", 3, 0), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_after(w->q, "baz", 3, 1), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, "baz", 3), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "baz", 3), 0);
	get_and_done(w, "foo");
	get_and_done(w, "bar");
	assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ESHUTDOWN);
	assert_int_equal(informer_workqueue_length(w->q), 0);
}

/* Keys that are delayed when it shuts down are dropped; those that are ready by then are not. */
static void
delayed_keys_are_dropped_by_a_shut_down(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add_after(w, "ready", 10 * MS);
	add_after(w, "not", 30 * MS);
	atomic_fetch_add(&w->now, 20 * MS);
	informer_workqueue_shut_down(w->q);
	pass(w, 1 * SECOND);
	get_and_done(w, "ready");
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ESHUTDOWN);
}

/* A plain shut down waits for nobody. [TestNoQueueDrainageUsingShutDown] */
static void
a_plain_shut_down_does_not_wait(void **state)
{
	struct world *w = *state;
	struct informer_work_item foo, bar;

	add(w, "foo");
	add(w, "bar");
	foo = get(w, "foo");
	bar = get(w, "bar");
	informer_workqueue_shut_down(w->q);
	informer_workqueue_done(w->q, &foo);
	informer_workqueue_done(w->q, &bar);
}

/* Draining an idle queue is done at once, and can be asked for again. */
static void
draining_an_idle_queue_is_done_at_once(void **state)
{
	struct world *w = *state;

	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, -1), 0);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, -1), 0);
	informer_workqueue_shut_down(w->q);
}

/* A drain gives up after its time, and says so; asked again when all is done it succeeds. */
static void
a_drain_gives_up_after_its_time(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;

	add(w, "foo");
	item = get(w, "foo");
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), -ETIMEDOUT);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 5), 0);
}

struct drain {
	struct world *w;
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
drain_begin(struct drain *d, struct world *w)
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
static void
a_drain_waits_for_what_is_processed(void **state)
{
	struct world *w = *state;
	struct informer_work_item foo, bar;
	struct drain d;

	add(w, "foo");
	add(w, "bar");
	foo = get(w, "foo");
	bar = get(w, "bar");
	drain_begin(&d, w);
	informer_workqueue_done(w->q, &foo);
	assert_false(atomic_load(&d.over));
	informer_workqueue_done(w->q, &bar);
	assert_int_equal(drain_end(&d), 0);
}

/* What was added again while it was processed is drained too. [TestQueueDrainageUsingShutDownWithDrainWithDirtyItem] */
static void
a_drain_waits_for_what_was_added_again(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;
	struct drain d;

	add(w, "foo");
	item = get(w, "foo");
	add(w, "foo");
	drain_begin(&d, w);
	informer_workqueue_done(w->q, &item);
	item = get(w, "foo");
	assert_false(atomic_load(&d.over));
	informer_workqueue_done(w->q, &item);
	assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
	assert_int_equal(drain_end(&d), 0);
}

/* A plain shut down ends a drain that would wait for ever. [TestForceQueueShutdownUsingShutDown] */
static void
a_plain_shut_down_ends_a_drain(void **state)
{
	struct world *w = *state;
	struct informer_work_item item;
	struct drain d;

	add(w, "foo");
	item = get(w, "foo");
	drain_begin(&d, w);
	informer_workqueue_shut_down(w->q);
	assert_int_equal(drain_end(&d), -ECANCELED);
	informer_workqueue_done(w->q, &item);
}

/* ---- metrics ---- */

/*
 * Depth, adds, latency, work time, unfinished, longest running and retries are those of client-go's own test. [TestMetrics]
 */
static void
metrics_count_as_kubernetes_does(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_metrics m;
	struct informer_work_item item;

	add(w, "foo");
	m = metrics(w);
	assert_int_equal(m.adds, 1);
	assert_int_equal(m.depth, 1);

	/* an item that waits is no second add */
	add(w, "foo");
	assert_int_equal(metrics(w).adds, 1);

	pass(w, 50000);
	item = get(w, "foo");
	m = metrics(w);
	assert_int_equal(m.depth, 0);
	assert_int_equal(m.queue_count, 1);
	assert_int_equal(m.queue_sum_ns, 50000);

	/* added while it is processed: an add, and counted in depth; its latency runs from there */
	pass(w, 25000);
	add(w, "foo");
	m = metrics(w);
	assert_int_equal(m.adds, 2);
	assert_int_equal(m.depth, 1);
	assert_int_equal(m.unfinished_ns, 25000);
	assert_int_equal(m.longest_running_ns, 25000);
	informer_workqueue_done(w->q, &item);
	m = metrics(w);
	assert_int_equal(m.work_count, 1);
	assert_int_equal(m.work_sum_ns, 25000);
	assert_int_equal(m.unfinished_ns, 0);
	assert_int_equal(m.longest_running_ns, 0);

	pass(w, 10000);
	item = get(w, "foo");
	m = metrics(w);
	assert_int_equal(m.depth, 0);
	assert_int_equal(m.queue_count, 2);
	assert_int_equal(m.queue_sum_ns, 60000);
	informer_workqueue_done(w->q, &item);
	assert_int_equal(metrics(w).work_count, 2);
	assert_int_equal(metrics(w).retries, 0);
	add_limited(w, "foo");
	add_after(w, "foo", 5);
	assert_int_equal(metrics(w).retries, 2);
	assert_int_equal(metrics(w).adds, 2);
}

/* Unfinished is the sum over all that are processed, longest running the longest of them. */
static void
unfinished_is_a_sum_and_longest_running_a_maximum(void **state)
{
	struct world *w = *state;
	struct informer_work_item a, b, c;

	add(w, "a");
	add(w, "b");
	add(w, "c");
	a = get(w, "a");
	pass(w, 1 * SECOND);
	b = get(w, "b");
	pass(w, 2 * SECOND);
	c = get(w, "c");
	pass(w, 3 * SECOND);
	assert_int_equal(metrics(w).unfinished_ns, 14 * SECOND);
	assert_int_equal(metrics(w).longest_running_ns, 6 * SECOND);
	informer_workqueue_done(w->q, &b);
	assert_int_equal(metrics(w).unfinished_ns, 9 * SECOND);
	informer_workqueue_done(w->q, &a);
	assert_int_equal(metrics(w).longest_running_ns, 3 * SECOND);
	informer_workqueue_done(w->q, &c);
	assert_int_equal(metrics(w).unfinished_ns, 0);
	assert_int_equal(metrics(w).work_sum_ns, (6 + 5 + 3) * SECOND);
}

/* Buckets are powers of ten from 10 ns to 1,000 s, each including those below; the last one counts all. */
static void
buckets_are_powers_of_ten(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_metrics m;
	static const uint64_t latency[] = {0, 10, 11, 100, 50 * MS, 1000 * SECOND, 1000 * SECOND + 1};
	static const uint64_t expected[INFORMER_WORKQUEUE_BUCKETS] = {2, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 7};

	for (unsigned i = 0; i < sizeof(latency) / sizeof(latency[0]); i++) {
		add(w, "foo");
		pass(w, latency[i]);
		get_and_done(w, "foo");
	}
	m = metrics(w);
	for (unsigned i = 0; i < INFORMER_WORKQUEUE_BUCKETS; i++) {
		assert_int_equal(m.queue_buckets[i], expected[i]);
		assert_int_equal(m.work_buckets[i], 7);
	}
}

/* The latency of a delayed key counts from when it was ready, not from when somebody came to move it. */
static void
a_delayed_keys_latency_counts_from_when_it_was_ready(void **state)
{
	struct world *w = *state;

	add_after(w, "foo", 10 * MS);
	atomic_fetch_add(&w->now, 15 * MS);
	get_and_done(w, "foo");
	assert_int_equal(metrics(w).queue_sum_ns, 5 * MS);
}

/* A caller that knows fewer metrics gets those. */
static void
a_shorter_struct_is_filled_as_far_as_it_goes(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_metrics m;

	memset(&m, 0x55, sizeof(m));
	m.size = offsetof(struct informer_workqueue_metrics, adds);
	add(w, "foo");
	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	assert_int_equal(m.depth, 1);
	assert_int_equal(m.adds, 0x5555555555555555ull);
}

/* ---- failures ---- */

/* Whichever allocation fails, the add says so and nothing has changed; the next one succeeds. */
static void
an_add_without_memory_changes_nothing(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);
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
	assert_int_equal(metrics(w).adds, 0);
	assert_int_equal(metrics(w).retries, 0);
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
		get_and_done(w, key);
	}
}

/* Impossible arguments are refused, and NULL queues do no harm. */
static void
impossible_arguments_are_refused(void **state)
{
	struct world *w = *state;
	struct informer_workqueue_options o = options_of(w);
	struct informer_workqueue *other;
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_new(NULL, NULL), -EINVAL);
	o.release = NULL;
	assert_int_equal(informer_workqueue_new(&o, &other), -EINVAL);
	o = options_of(w);
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

/* ---- threads ---- */

struct crowd {
	struct informer_workqueue *q;
	_Atomic unsigned busy[64];	/* workers that have this key: never two */
	_Atomic unsigned worked[64];
	_Atomic unsigned twice;
	unsigned again;			/* how often a worker adds each key again while it has it */
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
		else
			informer_workqueue_add(c->q, key, strlen(key));
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

/*
 * Many producers and many workers: every key is worked on, none by two at once, and a shut down of either kind ends them all with
 * nothing left. [TestBasic, TestAddWhileProcessing]
 */
static void
no_key_is_ever_with_two_workers(void **state)
{
	(void)state;
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

/* One who waits in get, in a thread of its own. */
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

/* Whether a thread sleeps, or has ended. */
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

/* Everything was handed out when it was ready, not when those who waited for it had waited for long enough. */
static void
assert_in_time(struct informer_workqueue *q)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};

	assert_int_equal(informer_workqueue_metrics(q, &m), 0);
	assert_true(m.queue_sum_ns < 3 * SECOND);
}

/* Those who wait get delayed keys when they are ready, one each, in whatever order they were added. */
static void
those_who_wait_get_delayed_keys_in_time(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "d"};
	struct informer_workqueue *q;
	struct sleeper s[4];

	(void)state;
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

/* One who sleeps until the next delayed key is ready and gives up before leaves that to another who waits. */
static void
who_gives_up_leaves_the_watch_to_another(void **state)
{
	struct informer_workqueue *q;
	struct sleeper first, second;

	(void)state;
	assert_int_equal(informer_workqueue_new(NULL, &q), 0);
	assert_int_equal(informer_workqueue_add_after(q, "foo", 3, 60 * MS), 0);
	sleeper_start(&first, q, 20);
	sleeper_start(&second, q, 5000);
	assert_int_equal(sleeper_end(&first), -ETIMEDOUT);
	assert_int_equal(sleeper_end(&second), 0);
	assert_in_time(q);
	informer_workqueue_free(q);
}

/* Keys added in quick succession wake one each of those who wait, the one who watches the clock as well. */
static void
each_key_wakes_one_who_waits(void **state)
{
	struct informer_workqueue *q;
	struct sleeper s[2];

	(void)state;
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

/* One who waits is let go by a shut down, and a wait ends after its time. */
static void
waiting_ends_by_shut_down_or_time(void **state)
{
	struct informer_workqueue *q;
	struct informer_work_item item;
	struct sleeper s;

	(void)state;
	assert_int_equal(informer_workqueue_new(NULL, &q), 0);
	assert_int_equal(informer_workqueue_get(q, 5, &item), -ETIMEDOUT);
	assert_int_equal(informer_workqueue_add_after(q, "late", 4, 3600 * SECOND), 0);
	assert_int_equal(informer_workqueue_get(q, 5, &item), -ETIMEDOUT);
	sleeper_start(&s, q, -1);
	informer_workqueue_shut_down(q);
	assert_int_equal(sleeper_end(&s), -ESHUTDOWN);
	informer_workqueue_free(q);
}

/* With a clock of the caller's, a kick wakes those who wait for a key that is ready by then. */
static void
a_kick_wakes_who_waits_for_the_callers_clock(void **state)
{
	struct world *w = *state;
	struct sleeper s;

	add_after(w, "foo", 10 * SECOND);
	sleeper_start(&s, w->q, -1);
	pass(w, 10 * SECOND);
	assert_int_equal(sleeper_end(&s), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_come_in_order),
		TEST(adding_a_waiting_key_does_nothing),
		TEST(adding_while_processing_brings_it_again_after_done),
		TEST(adds_while_processing_collapse),
		TEST(adds_while_waiting_collapse),
		TEST(a_key_that_is_done_leaves_nothing_behind),
		TEST(keys_are_bytes),
		TEST(many_keys_come_once_each),
		TEST(done_twice_does_nothing),
		TEST(a_delayed_key_comes_after_its_time),
		TEST(of_two_delays_the_earlier_one_counts),
		TEST(two_delayed_keys_come_each_at_its_time),
		TEST(delayed_keys_come_in_order_of_their_times),
		TEST(a_thousand_delays_come_in_order),
		TEST(without_a_delay_it_comes_at_once),
		TEST(a_waiting_key_may_be_delayed_too),
		TEST(a_key_that_is_ready_while_processed_comes_after_done),
		TEST(a_ready_key_stands_before_a_later_add),
		TEST(an_endless_delay_does_not_wrap),
		TEST(an_items_backoff_doubles_until_forgotten),
		TEST(the_backoff_ends_at_its_maximum),
		TEST(base_and_maximum_are_the_callers),
		TEST(the_bucket_gives_ten_a_second_after_a_hundred),
		TEST(the_bucket_fills_again),
		TEST(the_longer_of_backoff_and_bucket_counts),
		TEST(without_a_bucket_only_the_backoff_counts),
		TEST(a_second_rate_limited_add_keeps_the_earlier_time),
		TEST(forget_takes_nothing_out),
		TEST(failures_are_remembered_until_forgotten),
		TEST(after_a_shut_down_get_drains_and_adds_are_refused),
		TEST(delayed_keys_are_dropped_by_a_shut_down),
		TEST(a_plain_shut_down_does_not_wait),
		TEST(draining_an_idle_queue_is_done_at_once),
		TEST(a_drain_gives_up_after_its_time),
		TEST(a_drain_waits_for_what_is_processed),
		TEST(a_drain_waits_for_what_was_added_again),
		TEST(a_plain_shut_down_ends_a_drain),
		TEST(metrics_count_as_kubernetes_does),
		TEST(unfinished_is_a_sum_and_longest_running_a_maximum),
		TEST(buckets_are_powers_of_ten),
		TEST(a_delayed_keys_latency_counts_from_when_it_was_ready),
		TEST(a_shorter_struct_is_filled_as_far_as_it_goes),
		TEST(an_add_without_memory_changes_nothing),
		TEST(impossible_arguments_are_refused),
		cmocka_unit_test(no_key_is_ever_with_two_workers),
		cmocka_unit_test(those_who_wait_get_delayed_keys_in_time),
		cmocka_unit_test(who_gives_up_leaves_the_watch_to_another),
		cmocka_unit_test(each_key_wakes_one_who_waits),
		cmocka_unit_test(waiting_ends_by_shut_down_or_time),
		TEST(a_kick_wakes_who_waits_for_the_callers_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
