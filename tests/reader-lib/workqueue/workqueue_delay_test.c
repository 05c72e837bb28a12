/* SPDX-License-Identifier: Apache-2.0 */
/* Delayed keys and rate limits of the workqueue, on a clock that the test moves. */
#include "tests/room.h"
#include "tests/support/workqueue_world.h"

/* ---- delays ---- */

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* A delayed key comes once, after its time. [TestSimpleQueue] */
TEST(a_delayed_key_comes_after_its_time)
{
	play(w, "+foo@50ms . 49ms . 1ms #1 foo 10s .");
}

/* [TestDeduping] */
TEST(of_two_delays_the_earlier_one_counts)
{
	play(w, "+foo@50ms +foo@70ms 60ms foo 20ms .");
	play(w, "+foo@50ms +foo@30ms 29ms . 1ms foo 20ms .");
}

/* A ready key comes while another is still delayed. [TestAddTwoFireEarly] */
TEST(two_delayed_keys_come_each_at_its_time)
{
	play(w, "+foo@1s +bar@50ms 60ms bar . +baz@2s 1s foo . 2s baz");
}

/* Keys ready at the same time come in the order of their times, not of their adds. [TestCopyShifting] */
TEST(delayed_keys_come_in_order_of_their_times)
{
	play(w, "+foo@1s +bar@500ms +baz@250ms +qux@250ms 2s #4 baz qux bar foo");
}

/* The delays are added in disorder, some are shortened. */
TEST(a_thousand_delays_come_in_order)
{
	for (unsigned i = 0; i < 1000; i++) {
		unsigned at = i * 7919u % 1000u;

		play(w, "+%u@%ums", at, at + 1 + (at % 3 ? 0 : 5000));
	}
	for (unsigned at = 0; at < 1000; at += 3)
		play(w, "+%u@%ums", at, at + 1);
	for (unsigned at = 0; at < 1000; at++)
		play(w, "1ms %u .", at);
}

TEST(a_delay_of_zero_is_no_delay)
{
	play(w, "+foo@0s foo retries=1");
}

/* A key that waits and is delayed comes once for each; if it still waits when the delay ends, only once. */
TEST(a_waiting_key_may_be_delayed_too)
{
	play(w, "+foo +foo@10ms foo . 10ms foo");
	play(w, "+foo +foo@10ms 10ms foo .");
}

/* [TestDeduping, the last case] */
TEST(a_key_that_is_ready_while_processed_comes_after_done)
{
	play(w, "+foo <foo +foo@5ms 5ms . >foo foo");
}

/* A key whose delay ended before another add comes first, even if the queue did not look at the clock. */
TEST(a_ready_key_stands_before_a_later_add)
{
	play(w, "+delayed@10ms /20ms +later delayed later");
}

/* A delay larger than the clock's range never ends. */
TEST(an_endless_delay_does_not_wrap)
{
	play(w, "+foo@%lluns 1000000s .", UINT64_MAX + 0ull);
}

/* ---- rate limits ---- */

/* The backoff ends at 1,000 s. [TestItemExponentialFailureRateLimiterOverFlow] */
TEST(the_backoff_ends_at_its_maximum)
{
	/* 5 ms · 2^17 = 655.36 s is the last wait below the maximum */
	for (unsigned n = 0; n < 18; n++)
		play(w, "one:%ums", 5u << n);
	for (unsigned n = 18; n < 200; n++)
		play(w, "one:%us", 1000u);
	play(w, "one?200");
}

static void
use_limits(struct workqueue_world *w, double qps, uint32_t burst, uint64_t base_delay_ns,
	   uint64_t max_delay_ns)
{
	struct informer_workqueue_options o = workqueue_world_options(w);

	o.qps = qps;
	o.burst = burst;
	o.base_delay_ns = base_delay_ns;
	o.max_delay_ns = max_delay_ns;
	workqueue_world_queue(w, &o);
}

/* [TestItemExponentialFailureRateLimiter's own figures: 1 ms, 1 s] */
TEST(base_and_maximum_are_the_callers)
{
	use_limits(w, -1, 0, 1 * MS, 1 * SECOND);
	for (unsigned n = 0; n < 12; n++)
		play(w, "one:%ums", n < 10 ? 1u << n : 1000);
}

/* A hundred keys at once, then ten a second; each add waits behind earlier ones. */
TEST(the_bucket_gives_ten_a_second_after_a_hundred)
{
	for (unsigned i = 0; i < 130; i++)
		play(w, "+%u~", i);
	/* the first hundred wait only for their own backoff */
	play(w, "5ms #100");
	for (unsigned i = 0; i < 100; i++)
		play(w, "%u", i);
	play(w, "94ms . 1ms");
	for (unsigned i = 100; i < 130; i++)
		play(w, "%u 99ms . 1ms", i);
}

/* The bucket refills up to its size and not above. */
TEST(the_bucket_fills_again)
{
	use_limits(w, 2, 3, 1, 0);
	for (int c = 'a'; c < 'd'; c++) {
		play(w, "+%c1~ +%c2~ +%c3~ +%c4~ +%c5~ 1ns #3 499999999ns #4 500ms #5", c, c, c, c, c);
		play(w, "%c1 %c2 %c3 %c4 %c5 3600s", c, c, c, c, c);
	}
}

/* With negative qps there is no bucket. */
TEST(without_a_bucket_only_the_backoff_counts)
{
	use_limits(w, -1, 0, 0, 0);
	for (unsigned i = 0; i < 1000; i++)
		play(w, "+%u~", i);
	play(w, "5ms #1000");
}

TEST(a_second_rate_limited_add_keeps_the_earlier_time)
{
	play(w, "+foo~ +foo~ foo?2 5ms foo 100ms .");
}

/* Forget removes neither a waiting nor a delayed key. */
TEST(forget_removes_no_key)
{
	play(w, "+delayed~ +waiting -delayed -waiting -unknown waiting 5ms delayed");
}

/* A forgotten key frees its memory; failures of another key are remembered after done. */
TEST(failures_are_remembered_until_forgotten)
{
	size_t before;

	play(w, "+foo~ 5ms foo foo?1");
	before = w->allocated;
	play(w, "-foo foo?0");
	assert_int_equal(w->allocated, before - 1);
}
