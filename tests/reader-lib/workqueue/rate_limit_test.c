/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate limits that a queue can be given: what client-go's tests of its limiters ask for, with their
 * figures, against a clock that the test moves.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/workqueue_world.h"

static void
use_limit(struct workqueue_world *w, const struct informer_rate_limit *limit)
{
	struct informer_workqueue_options o = workqueue_world_options(w);

	o.rate_limit = limit;
	workqueue_world_queue(w, &o);
}

/* A failed key comes after this wait, to the nanosecond. */
static void
assert_waits(struct workqueue_world *w, const char *key, uint64_t wait_ns)
{
	queue_add_limited(w, key);
	if (wait_ns > 0) {
		assert_nothing_waits(w);
		pass_time(w, wait_ns - 1);
		assert_nothing_waits(w);
		pass_time(w, 1);
	}
	queue_get_and_done(w, key);
}

static uint32_t
requeues(struct workqueue_world *w, const char *key)
{
	return informer_workqueue_num_requeues(w->q, key, strlen(key));
}

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* [TestItemExponentialFailureRateLimiter] */
TEST(exponential_doubles_by_key_until_forgotten)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 1 * MS, .max_ns = 1 * SECOND};

	use_limit(w, &limit);
	for (unsigned n = 0; n < 5; n++)
		assert_waits(w, "one", 1 * MS << n);
	assert_int_equal(requeues(w, "one"), 5);
	assert_waits(w, "two", 1 * MS);
	assert_waits(w, "two", 2 * MS);
	assert_int_equal(requeues(w, "two"), 2);
	informer_workqueue_forget(w->q, "one", 3);
	assert_int_equal(requeues(w, "one"), 0);
	assert_waits(w, "one", 1 * MS);
}

/* [TestItemExponentialFailureRateLimiterOverFlow] */
TEST(exponential_ends_at_its_maximum_and_never_wraps)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 1 * MS, .max_ns = 1000 * SECOND};
	const struct informer_rate_limit endless = {.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 3};

	use_limit(w, &limit);
	/* 2^19 ms are 524 s, 2^20 ms are more than the maximum */
	for (unsigned n = 0; n < 20; n++)
		assert_waits(w, "one", 1 * MS << n);
	for (unsigned n = 20; n < 80; n++)
		assert_waits(w, "one", 1000 * SECOND);
	/* without a maximum: as long as there is time */
	use_limit(w, &endless);
	for (unsigned n = 0; n < 40; n++)
		assert_waits(w, "one", UINT64_C(3) << n);
	for (unsigned n = 0; n < 80; n++)
		queue_add_limited(w, "two");
	pass_time(w, 3);
	queue_get_and_done(w, "two");
	queue_add_limited(w, "two");
	pass_time(w, 9000000000 * SECOND);
	assert_nothing_waits(w);
}

/* [TestItemFastSlowRateLimiter] */
TEST(fast_at_first_then_slow)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_FAST_SLOW, .fast_ns = 5 * MS, .slow_ns = 10 * SECOND, .fast_tries = 3};

	use_limit(w, &limit);
	for (unsigned n = 0; n < 3; n++)
		assert_waits(w, "one", 5 * MS);
	assert_waits(w, "one", 10 * SECOND);
	assert_waits(w, "one", 10 * SECOND);
	assert_int_equal(requeues(w, "one"), 5);
	assert_waits(w, "two", 5 * MS);
	informer_workqueue_forget(w->q, "one", 3);
	assert_waits(w, "one", 5 * MS);
}

/* One bucket for all keys, which forget does not fill. [TestBucketRateLimiter] */
TEST(a_bucket_is_one_for_all_keys)
{
	const struct informer_rate_limit limit = {.kind = INFORMER_LIMIT_BUCKET, .qps = 4, .burst = 2};

	use_limit(w, &limit);
	assert_waits(w, "one", 0);
	assert_waits(w, "two", 0);
	informer_workqueue_forget(w->q, "one", 3);
	informer_workqueue_forget(w->q, "two", 3);
	assert_waits(w, "three", 250 * MS);
	assert_waits(w, "four", 250 * MS);
	/* filled again to two, not more */
	pass_time(w, 3600 * SECOND);
	assert_waits(w, "one", 0);
	assert_waits(w, "two", 0);
	assert_waits(w, "three", 250 * MS);
}

/* A queue has a bucket of its own, also where two were described by one. */
TEST(queues_of_one_description_do_not_share_a_bucket)
{
	const struct informer_rate_limit limit = {.kind = INFORMER_LIMIT_BUCKET, .qps = 1, .burst = 1};
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *other;

	use_limit(w, &limit);
	o.rate_limit = &limit;
	assert_int_equal(informer_workqueue_new(&o, &other), 0);
	assert_int_equal(informer_workqueue_add_rate_limited(other, "x", 1), 0);
	assert_int_equal(informer_workqueue_length(other), 1);
	assert_waits(w, "one", 0);
	informer_workqueue_free(other);
}

/* [TestMaxOfRateLimiter] */
TEST(the_longest_of_several_counts_and_all_are_asked)
{
	const struct informer_rate_limit each = {
		.kind = INFORMER_LIMIT_FAST_SLOW, .fast_ns = 5 * MS, .slow_ns = 3 * SECOND, .fast_tries = 3};
	const struct informer_rate_limit all = {.kind = INFORMER_LIMIT_BUCKET, .qps = 1, .burst = 2};
	const struct informer_rate_limit *const both[] = {&each, &all};
	const struct informer_rate_limit inner = {
		.kind = INFORMER_LIMIT_LONGEST_OF, .limits = both, .n_limits = 2};
	const struct informer_rate_limit none = {.kind = INFORMER_LIMIT_FAST_SLOW};
	const struct informer_rate_limit *const three[] = {&none, &inner, &none};
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_LONGEST_OF, .limits = three, .n_limits = 3};

	use_limit(w, &limit);
	assert_waits(w, "one", 5 * MS);
	assert_waits(w, "one", 5 * MS);
	/* both tokens went though the other wait was longer; a hundredth of one is back */
	assert_waits(w, "one", 990 * MS);
	assert_waits(w, "one", 3 * SECOND);
}

/* [TestWithMaxWaitRateLimiter] */
TEST(no_wait_is_longer_than_the_longest)
{
	struct informer_rate_limit limit = {.kind = INFORMER_LIMIT_FAST_SLOW,
					    .max_ns = 100 * MS,
					    .fast_ns = 5 * MS,
					    .slow_ns = 3 * SECOND,
					    .fast_tries = 1};
	const struct informer_rate_limit slow = {.kind = INFORMER_LIMIT_FAST_SLOW, .slow_ns = 3 * SECOND};
	const struct informer_rate_limit *const one[] = {&slow};
	const struct informer_rate_limit outer = {
		.kind = INFORMER_LIMIT_LONGEST_OF, .max_ns = 20 * MS, .limits = one, .n_limits = 1};
	const struct informer_rate_limit bucket = {
		.kind = INFORMER_LIMIT_BUCKET, .max_ns = 7 * MS, .qps = 1, .burst = 1};

	use_limit(w, &limit);
	assert_waits(w, "one", 5 * MS);
	assert_waits(w, "one", 100 * MS);
	use_limit(w, &outer);
	assert_waits(w, "one", 20 * MS);
	use_limit(w, &bucket);
	assert_waits(w, "one", 0);
	assert_waits(w, "one", 7 * MS);
}

/* ---- the caller's own ---- */

struct own {
	struct workqueue_world *world;
	unsigned asked, forgotten;
	uint32_t failures;
	uint64_t now_ns;
	char key[16];
};

static uint64_t
own_when(void *context, const char *key, size_t length, uint32_t failures, uint64_t now_ns)
{
	struct own *own = context;

	own->asked++;
	own->failures = failures;
	own->now_ns = now_ns;
	snprintf(own->key, sizeof(own->key), "%.*s", (int)length, key);
	return 42 * MS;
}

static void
own_forget(void *context, const char *key, size_t length)
{
	struct own *own = context;

	own->forgotten++;
	snprintf(own->key, sizeof(own->key), "%.*s", (int)length, key);
}

/* The caller's function is told what the others know, also as one of several; forget tells it, if it can. */
TEST(the_callers_own_function_decides)
{
	struct own own = {.world = w};
	const struct informer_rate_limit mine = {
		.kind = INFORMER_LIMIT_OWN, .context = &own, .when = own_when, .forget = own_forget};
	const struct informer_rate_limit silent = {
		.kind = INFORMER_LIMIT_OWN, .max_ns = 1 * MS, .context = &own, .when = own_when};
	const struct informer_rate_limit *const both[] = {&silent, &mine};
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_LONGEST_OF, .limits = both, .n_limits = 2};

	use_limit(w, &limit);
	assert_waits(w, "one", 42 * MS);
	assert_int_equal(own.failures, 0);
	assert_int_equal(own.asked, 2);
	assert_int_equal(own.now_ns, w->now - 42 * MS);
	assert_waits(w, "one", 42 * MS);
	assert_int_equal(own.failures, 1);
	assert_string_equal(own.key, "one");
	/* also a key that the queue knows nothing of */
	informer_workqueue_forget(w->q, "unknown", 7);
	assert_int_equal(own.forgotten, 1);
	assert_string_equal(own.key, "unknown");
}

/* ---- what makes no sense ---- */

static void
assert_refused(struct workqueue_world *w, const struct informer_rate_limit *limit)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *q = NULL;

	o.rate_limit = limit;
	assert_int_equal(informer_workqueue_new(&o, &q), -EINVAL);
	assert_null(q);
}

/* Each is refused alone, and within another; so is one that is made of itself. */
TEST(a_limit_that_makes_no_sense_is_refused)
{
	static const struct informer_rate_limit good = {.kind = INFORMER_LIMIT_FAST_SLOW};
	static const struct informer_rate_limit *const with_hole[] = {&good, NULL};
	static const struct informer_rate_limit bad[] = {
		{0},
		{.kind = (enum informer_rate_limit_kind)99},
		{.kind = INFORMER_LIMIT_EXPONENTIAL},
		{.kind = INFORMER_LIMIT_BUCKET, .burst = 1},
		{.kind = INFORMER_LIMIT_BUCKET, .qps = -1, .burst = 1},
		{.kind = INFORMER_LIMIT_BUCKET, .qps = __builtin_nan(""), .burst = 1},
		{.kind = INFORMER_LIMIT_BUCKET, .qps = 1},
		{.kind = INFORMER_LIMIT_LONGEST_OF, .limits = with_hole},
		{.kind = INFORMER_LIMIT_LONGEST_OF, .n_limits = 1},
		{.kind = INFORMER_LIMIT_LONGEST_OF, .limits = with_hole, .n_limits = 2},
		{.kind = INFORMER_LIMIT_OWN},
	};
	const struct informer_rate_limit *parts[64];
	struct informer_rate_limit of = {.kind = INFORMER_LIMIT_LONGEST_OF, .limits = parts, .n_limits = 1};
	struct informer_workqueue_options o = workqueue_world_options(w);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_refused(w, &bad[i]);
		parts[0] = &bad[i];
		assert_refused(w, &of);
	}
	parts[0] = &of;
	assert_refused(w, &of);
	/* 64 in all, itself included */
	for (size_t i = 0; i < 64; i++)
		parts[i] = &good;
	of.n_limits = 64;
	assert_refused(w, &of);
	of.n_limits = 63;
	use_limit(w, &of);
	/* and both ways to say it at once */
	o.rate_limit = &good;
	o.burst = 1;
	assert_int_equal(informer_workqueue_new(&o, &(struct informer_workqueue *){NULL}), -EINVAL);
	o.burst = 0;
	o.qps = -1;
	assert_int_equal(informer_workqueue_new(&o, &(struct informer_workqueue *){NULL}), -EINVAL);
	o.qps = 0;
	o.base_delay_ns = 1;
	assert_int_equal(informer_workqueue_new(&o, &(struct informer_workqueue *){NULL}), -EINVAL);
	o.base_delay_ns = 0;
	o.max_delay_ns = 1;
	assert_int_equal(informer_workqueue_new(&o, &(struct informer_workqueue *){NULL}), -EINVAL);
}

/* Whichever piece of memory is missing, no queue is made and nothing is left behind. */
TEST(a_queue_is_made_whole_or_not_at_all)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	size_t before = w->allocated, pieces = 0;
	struct informer_workqueue *q = NULL;
	int r = -ENOMEM;

	o.name = "pods";
	for (; r == -ENOMEM; pieces++) {
		assert_null(q);
		assert_int_equal(w->allocated, before);
		w->fail_after = pieces;
		r = informer_workqueue_new(&o, &q);
	}
	assert_int_equal(r, 0);
	assert_true(pieces > 4); /* the queue, its limit, its name, its table of keys */
	w->fail_after = SIZE_MAX;
	informer_workqueue_free(q);
	assert_int_equal(w->allocated, before);
}
