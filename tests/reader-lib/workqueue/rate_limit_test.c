/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate limits of a workqueue, with the figures of client-go's own tests of its limiters, on a clock that
 * the test moves.
 */
#include "tests/room.h"
#include "tests/support/workqueue_world.h"

static void
use_limit(struct workqueue_world *w, const struct informer_rate_limit *limit)
{
	struct informer_workqueue_options o = workqueue_world_options(w);

	o.rate_limit = limit;
	workqueue_world_queue(w, &o);
}

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* [TestItemExponentialFailureRateLimiter] */
TEST(exponential_doubles_by_key_until_forgotten)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 1 * MS, .max_ns = 1 * SECOND};

	use_limit(w, &limit);
	play(w, "one:1ms one:2ms one:4ms one:8ms one:16ms one?5 two:1ms two:2ms two?2 -one one?0 one:1ms");
}

/* [TestItemExponentialFailureRateLimiterOverFlow] */
TEST(exponential_ends_at_its_maximum_and_never_wraps)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 1 * MS, .max_ns = 1000 * SECOND};
	const struct informer_rate_limit endless = {.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 3};

	use_limit(w, &limit);
	/* 2^19 ms are 524 s, 2^20 ms exceed the maximum */
	for (unsigned n = 0; n < 80; n++)
		play(w, "one:%ums", n < 20 ? 1u << n : 1000000);
	/* without a maximum the delay doubles up to the largest time */
	use_limit(w, &endless);
	for (unsigned n = 0; n < 40; n++)
		play(w, "one:%lluns", 3ull << n);
	for (unsigned n = 0; n < 80; n++)
		play(w, "+two~");
	play(w, "3ns two +two~ 9000000000s .");
}

/* [TestItemFastSlowRateLimiter] */
TEST(fast_at_first_then_slow)
{
	const struct informer_rate_limit limit = {
		.kind = INFORMER_LIMIT_FAST_SLOW, .fast_ns = 5 * MS, .slow_ns = 10 * SECOND, .fast_tries = 3};

	use_limit(w, &limit);
	play(w, "one:5ms one:5ms one:5ms one:10s one:10s one?5 two:5ms -one one:5ms");
}

/* One bucket serves all keys; forget does not refill it. [TestBucketRateLimiter] */
TEST(one_bucket_serves_all_keys)
{
	const struct informer_rate_limit limit = {.kind = INFORMER_LIMIT_BUCKET, .qps = 4, .burst = 2};

	use_limit(w, &limit);
	play(w, "one:0s two:0s -one -two three:250ms four:250ms");
	/* refilled to two, not more */
	play(w, "3600s one:0s two:0s three:250ms");
}

/* Each queue has its own bucket, even when two queues have one description. */
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
	play(w, "one:0s");
	informer_workqueue_free(other);
}

/* [TestMaxOfRateLimiter] */
TEST(the_longest_wait_counts_and_each_limit_is_asked)
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
	/* the third add takes the last token although the other wait is longer; 0.01 token is back */
	play(w, "one:5ms one:5ms one:990ms one:3s");
}

/* [TestWithMaxWaitRateLimiter] */
TEST(no_wait_exceeds_max_ns)
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
	play(w, "one:5ms one:100ms");
	use_limit(w, &outer);
	play(w, "one:20ms");
	use_limit(w, &bucket);
	play(w, "one:0s one:7ms");
}

/* ---- the caller's own function ---- */

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

/*
 * The caller's function gets key, failures and time, also as one of several limits. forget calls the caller's
 * function, if given.
 */
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
	play(w, "one:42ms");
	assert_int_equal(own.failures, 0);
	assert_int_equal(own.asked, 2);
	assert_int_equal(own.now_ns, w->now - 42 * MS);
	play(w, "one:42ms");
	assert_int_equal(own.failures, 1);
	assert_string_equal(own.key, "one");
	/* also for a key that the queue does not know */
	play(w, "-unknown");
	assert_int_equal(own.forgotten, 1);
	assert_string_equal(own.key, "unknown");
}

/* ---- invalid limits ---- */

static void
assert_refused(struct workqueue_world *w, const struct informer_rate_limit *limit)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *q = NULL;

	o.rate_limit = limit;
	assert_int_equal(informer_workqueue_new(&o, &q), -EINVAL);
	assert_null(q);
}

/* Each invalid limit is refused alone, within another limit, and so is a limit that contains itself. */
TEST(an_invalid_limit_is_refused)
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
	/* 64 limits in all, the outer one included */
	for (size_t i = 0; i < 64; i++)
		parts[i] = &good;
	of.n_limits = 64;
	assert_refused(w, &of);
	of.n_limits = 63;
	use_limit(w, &of);
	/* and both forms of a limit at the same time */
	for (unsigned i = 0; i < 4; i++) {
		o.rate_limit = &good;
		o.burst = i == 0;
		o.qps = i == 1 ? -1 : 0;
		o.base_delay_ns = i == 2;
		o.max_delay_ns = i == 3;
		assert_int_equal(informer_workqueue_new(&o, &(struct informer_workqueue *){NULL}), -EINVAL);
	}
}

/* A failed allocation makes no queue and leaves nothing behind. */
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
