/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a workqueue on a virtual clock and counted memory for its tests, and looks that nothing is left
 * behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/workqueue_world.h"

static uint64_t
world_now(void *context)
{
	struct workqueue_world *w = context;

	return atomic_load(&w->now);
}

static void *
world_allocate(void *context, size_t size)
{
	struct workqueue_world *w = context;

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
	struct workqueue_world *w = context;

	w->allocated--;
	free(memory);
}

struct informer_workqueue_options
workqueue_world_options(struct workqueue_world *w)
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

void
workqueue_world_queue(struct workqueue_world *w, const struct informer_workqueue_options *options)
{
	informer_workqueue_free(w->q);
	w->q = NULL;
	assert_int_equal(informer_workqueue_new(options, &w->q), 0);
}

int
workqueue_world_set_up(void **state)
{
	struct workqueue_world *w = calloc(1, sizeof(*w));
	struct informer_workqueue_options o = workqueue_world_options(w);

	w->fail_after = SIZE_MAX;
	atomic_init(&w->now, 1000 * SECOND);
	workqueue_world_queue(w, &o);
	*state = w;
	return 0;
}

/* Nothing is left behind, whatever was in the queue. */
int
workqueue_world_tear_down(void **state)
{
	struct workqueue_world *w = *state;
	size_t left;

	informer_workqueue_free(w->q);
	left = w->allocated;
	free(w);
	return left == 0 ? 0 : -1;
}

void
pass_time(struct workqueue_world *w, uint64_t ns)
{
	atomic_fetch_add(&w->now, ns);
	informer_workqueue_kick(w->q);
}

void
queue_add(struct workqueue_world *w, const char *key)
{
	assert_int_equal(informer_workqueue_add(w->q, key, strlen(key)), 0);
}

void
queue_add_after(struct workqueue_world *w, const char *key, uint64_t delay_ns)
{
	assert_int_equal(informer_workqueue_add_after(w->q, key, strlen(key), delay_ns), 0);
}

void
queue_add_limited(struct workqueue_world *w, const char *key)
{
	assert_int_equal(informer_workqueue_add_rate_limited(w->q, key, strlen(key)), 0);
}

void
queue_add_priority(struct workqueue_world *w, const char *key, int priority)
{
	const struct informer_work_add how = {.size = sizeof(how), .priority = priority};

	assert_int_equal(informer_workqueue_add_with(w->q, key, strlen(key), &how), 0);
}

struct informer_work_item
queue_get(struct workqueue_world *w, const char *expected)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_string_equal(item.key, expected);
	assert_int_equal(item.length, strlen(expected));
	return item;
}

void
queue_get_and_done(struct workqueue_world *w, const char *expected)
{
	struct informer_work_item item = queue_get(w, expected);

	informer_workqueue_done(w->q, &item);
}

void
assert_nothing_waits(struct workqueue_world *w)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ETIMEDOUT);
	assert_int_equal(informer_workqueue_length(w->q), 0);
}

struct informer_workqueue_metrics
queue_metrics(struct workqueue_world *w)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};

	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	return m;
}
