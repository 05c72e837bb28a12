/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities of a workqueue: what controller-runtime's tests of its priority queue ask for, and the line
 * against a plain sort.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/workqueue_world.h"

static void
add_with(struct workqueue_world *w, const char *key, struct informer_work_add how)
{
	how.size = sizeof(how);
	assert_int_equal(informer_workqueue_add_with(w->q, key, strlen(key), &how), 0);
}

static void
assert_comes(struct workqueue_world *w, const char *key, int priority)
{
	struct informer_work_item item = queue_get(w, key);

	assert_int_equal(item.priority, priority);
	informer_workqueue_done(w->q, &item);
}

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

TEST(the_highest_comes_first_and_equals_in_order)
{
	queue_add_priority(w, "low", INFORMER_PRIORITY_LOW);
	queue_add_priority(w, "a", 1);
	queue_add(w, "zero");
	queue_add_priority(w, "b", 1);
	queue_add_priority(w, "lowest", INFORMER_PRIORITY_MIN);
	queue_add_priority(w, "highest", INFORMER_PRIORITY_MAX);
	queue_add_priority(w, "c", 1);
	assert_int_equal(informer_workqueue_length(w->q), 7);
	assert_comes(w, "highest", INFORMER_PRIORITY_MAX);
	assert_comes(w, "a", 1);
	assert_comes(w, "b", 1);
	assert_comes(w, "c", 1);
	assert_comes(w, "zero", 0);
	assert_comes(w, "low", INFORMER_PRIORITY_LOW);
	assert_comes(w, "lowest", INFORMER_PRIORITY_MIN);
	assert_nothing_waits(w);
}

/* Added again, a key is raised and never lowered; raised, it stands behind those of that priority. */
TEST(an_add_raises_and_never_lowers)
{
	queue_add_priority(w, "raised", 1);
	queue_add_priority(w, "kept", 5);
	queue_add_priority(w, "other", 5);
	queue_add_priority(w, "kept", 0);
	queue_add_priority(w, "kept", 5);
	queue_add_priority(w, "raised", 5);
	assert_int_equal(informer_workqueue_length(w->q), 3);
	assert_int_equal(queue_metrics(w).adds, 3);
	assert_comes(w, "kept", 5);
	assert_comes(w, "other", 5);
	assert_comes(w, "raised", 5);
	assert_nothing_waits(w);
}

/* It goes for one time: a key that comes again has the priority with which it was added again. */
TEST(a_priority_goes_for_one_time)
{
	struct informer_work_item item;

	queue_add_priority(w, "foo", 7);
	item = queue_get(w, "foo");
	/* while it is processed: the highest of the adds, and only theirs */
	queue_add_priority(w, "foo", 1);
	queue_add_priority(w, "foo", 3);
	queue_add_priority(w, "foo", 2);
	queue_add_priority(w, "bar", 2);
	queue_add_priority(w, "baz", 3);
	informer_workqueue_done(w->q, &item);
	assert_comes(w, "baz", 3);
	assert_comes(w, "foo", 3);
	assert_comes(w, "bar", 2);
	queue_add_priority(w, "foo", -1);
	assert_comes(w, "foo", -1);
}

/* A delayed key keeps nobody waiting; ready, it has its priority. Of equals the first to be ready comes. */
TEST(a_delayed_key_has_its_priority_when_it_is_ready)
{
	add_with(w, "late", (struct informer_work_add){.priority = 9, .delay_ns = 20 * MS});
	add_with(w, "sooner", (struct informer_work_add){.priority = 9, .delay_ns = 10 * MS});
	queue_add(w, "now");
	assert_comes(w, "now", 0);
	assert_nothing_waits(w);
	queue_add(w, "zero");
	pass_time(w, 20 * MS);
	assert_comes(w, "sooner", 9);
	assert_comes(w, "late", 9);
	assert_comes(w, "zero", 0);
}

/* Of two delayed adds the earlier time and the higher priority count, whichever add they came with. */
TEST(of_two_delayed_adds_the_earlier_time_and_the_higher_priority_count)
{
	add_with(w, "a", (struct informer_work_add){.priority = 1, .delay_ns = 10 * MS});
	add_with(w, "a", (struct informer_work_add){.priority = 4, .delay_ns = 90 * MS});
	add_with(w, "b", (struct informer_work_add){.priority = 3, .delay_ns = 90 * MS});
	add_with(w, "b", (struct informer_work_add){.priority = 2, .delay_ns = 10 * MS});
	pass_time(w, 10 * MS);
	assert_comes(w, "a", 4);
	assert_comes(w, "b", 3);
	pass_time(w, 90 * MS);
	assert_nothing_waits(w);
	/* the next delay begins with its own */
	add_with(w, "a", (struct informer_work_add){.priority = -3, .delay_ns = 10 * MS});
	pass_time(w, 10 * MS);
	assert_comes(w, "a", -3);
}

/* A key that waits is raised when its delay, of a higher priority, is over. */
TEST(a_delay_that_is_over_raises_who_waits)
{
	queue_add(w, "first");
	queue_add(w, "foo");
	add_with(w, "foo", (struct informer_work_add){.priority = 5, .delay_ns = 10 * MS});
	pass_time(w, 10 * MS);
	assert_comes(w, "foo", 5);
	assert_comes(w, "first", 0);
	assert_nothing_waits(w);
}

/* rate_limited counts as a failure; with a delay too the shorter wait counts; only waits are retries. */
TEST(rate_limited_and_delayed_the_shorter_wait_counts)
{
	add_with(w, "foo", (struct informer_work_add){.priority = 2, .rate_limited = true});
	assert_nothing_waits(w);
	pass_time(w, 5 * MS);
	assert_comes(w, "foo", 2);
	add_with(w, "foo", (struct informer_work_add){.rate_limited = true, .delay_ns = 3 * MS});
	pass_time(w, 3 * MS);
	assert_comes(w, "foo", 0);
	add_with(w, "foo", (struct informer_work_add){.rate_limited = true, .delay_ns = 90 * MS});
	pass_time(w, 20 * MS);
	assert_comes(w, "foo", 0);
	assert_int_equal(informer_workqueue_num_requeues(w->q, "foo", 3), 3);
	assert_int_equal(queue_metrics(w).retries, 3);
	add_with(w, "foo", (struct informer_work_add){0});
	assert_comes(w, "foo", 0);
	assert_int_equal(informer_workqueue_add_with(w->q, "foo", 3, NULL), 0);
	assert_comes(w, "foo", 0);
	assert_int_equal(queue_metrics(w).retries, 3);
}

/* What is beyond the priorities is refused and changes nothing, and so is what has no size. */
TEST(an_impossible_priority_is_refused)
{
	struct informer_work_add how = {.size = sizeof(how), .priority = INFORMER_PRIORITY_MAX + 1};

	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	how.priority = INFORMER_PRIORITY_MIN - 1;
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	how.priority = 0;
	how.size = 0;
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -EINVAL);
	/* one that knows of no delays */
	how.size = offsetof(struct informer_work_add, rate_limited);
	how.delay_ns = 1 * SECOND;
	how.priority = 3;
	assert_nothing_waits(w);
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), 0);
	assert_comes(w, "a", 3);
	informer_workqueue_shut_down(w->q);
	assert_int_equal(informer_workqueue_add_with(w->q, "a", 1, &how), -ESHUTDOWN);
}

/* Many keys with all priorities, some raised, taken in between: the highest, and of these the first. */
TEST(the_line_is_a_sorted_one)
{
	struct {
		int priority;
		unsigned order;
		bool in;
	} model[500] = {{0}};
	unsigned order = 0, seed = 1;

	for (unsigned step = 0; step < 20000; step++) {
		unsigned best = 500;
		char key[8];

		seed = seed * 1103515245u + 12345u;
		if (seed >> 16 & 1) {
			unsigned i = (seed >> 17) % 500;
			int priority = (int)(seed >> 8 & 255) - 128;

			snprintf(key, sizeof(key), "%u", i);
			queue_add_priority(w, key, priority);
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
			assert_nothing_waits(w);
			continue;
		}
		snprintf(key, sizeof(key), "%u", best);
		assert_comes(w, key, model[best].priority);
		model[best].in = false;
	}
}
