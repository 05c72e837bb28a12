/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities of a workqueue, after controller-runtime's tests of its priority queue; and the queue's order
 * against a plain sort.
 */
#include "tests/room.h"
#include "tests/support/workqueue_world.h"

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

TEST(the_highest_priority_comes_first_and_equal_ones_in_order)
{
	const int low = INFORMER_PRIORITY_LOW, min = INFORMER_PRIORITY_MIN, max = INFORMER_PRIORITY_MAX;

	play(w, "+low^%d +a^1 +zero +b^1 +lowest^%d +highest^%d +c^1 #7", low, min, max);
	play(w, "highest^%d a^1 b^1 c^1 zero^0 low^%d lowest^%d .", max, low, min);
}

/* A second add may raise a waiting key, never lower it; a raised key goes behind those of its priority. */
TEST(a_second_add_raises_a_key_and_never_lowers_it)
{
	play(w, "+raised^1 +kept^5 +other^5 +kept^0 +kept^5 +raised^5 #3 adds=3 kept^5 other^5 raised^5 .");
}

/* A key added again has the priority of its new add; of several adds during processing the highest counts. */
TEST(a_priority_holds_for_one_processing)
{
	play(w, "+foo^7 <foo +foo^1 +foo^3 +foo^2 +bar^2 +baz^3 >foo baz^3 foo^3 bar^2 +foo^-1 foo^-1");
}

/* A delayed key delays no other key; when ready, it has its priority. The first ready comes first. */
TEST(a_delayed_key_has_its_priority_when_it_is_ready)
{
	play(w, "+late^9@20ms +sooner^9@10ms +now now^0 . +zero 20ms sooner^9 late^9 zero^0");
}

/* Of two delayed adds the earlier time and the higher priority count, whichever add has them. */
TEST(of_two_delayed_adds_the_earlier_time_and_the_higher_priority_count)
{
	play(w, "+a^1@10ms +a^4@90ms +b^3@90ms +b^2@10ms 10ms a^4 b^3 90ms .");
	/* the next delay starts with its own priority */
	play(w, "+a^-3@10ms 10ms a^-3");
}

/* When its delay of a higher priority ends, a waiting key is raised. */
TEST(an_ended_delay_raises_a_waiting_key)
{
	play(w, "+first +foo +foo^5@10ms 10ms foo^5 first^0 .");
}

/* rate_limited counts as a failure. With a delay too, the shorter wait counts. Only waits are retries. */
TEST(rate_limited_and_delayed_the_shorter_wait_counts)
{
	play(w, "+foo^2~ . 5ms foo^2 +foo^0~@3ms 3ms foo^0 +foo^0~@90ms 20ms foo^0 foo?3 retries=3");
	play(w, "+foo^0 foo^0");
	assert_int_equal(informer_workqueue_add_with(w->q, "foo", 3, NULL), 0);
	play(w, "foo^0 retries=3");
}

/* A priority out of range, or a struct without a size, is refused and changes nothing. */
TEST(an_impossible_priority_is_refused)
{
	struct informer_work_add how = {.size = sizeof(how), .priority = INFORMER_PRIORITY_MAX + 1};

	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	how.priority = INFORMER_PRIORITY_MIN - 1;
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	how.priority = 0;
	how.size = 0;
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	/* a caller's struct that ends before the delays */
	how.size = offsetof(struct informer_work_add, rate_limited);
	how.delay_ns = 1 * SECOND;
	how.priority = 3;
	play(w, ".");
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), 0);
	play(w, "a^3 SHUT");
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -ESHUTDOWN);
}

/* Keys with all priorities, some raised: the highest comes first, and of equal ones the first. */
TEST(the_queue_is_sorted_by_priority_and_order)
{
	struct {
		int priority;
		unsigned order;
		bool in;
	} model[500] = {{0}};
	unsigned order = 0, seed = 1;

	for (unsigned step = 0; step < 20000; step++) {
		unsigned best = 500;

		seed = seed * 1103515245u + 12345u;
		if (seed >> 16 & 1) {
			unsigned i = (seed >> 17) % 500;
			int priority = (int)(seed >> 8 & 255) - 128;

			play(w, "+%u^%d", i, priority);
			if (!model[i].in || priority > model[i].priority) {
				model[i].in = true;
				model[i].priority = priority;
				model[i].order = order++;
			}
			continue;
		}
		for (unsigned i = 0; i < 500; i++) {
			if (model[i].in && (best == 500 || model[i].priority > model[best].priority ||
					    (model[i].priority == model[best].priority &&
					     model[i].order < model[best].order)))
				best = i;
		}
		if (best == 500) {
			play(w, ".");
			continue;
		}
		play(w, "%u^%d", best, model[best].priority);
		model[best].in = false;
	}
}
