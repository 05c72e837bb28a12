/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a libuv loop. */
#include "tests/room.h"
#include "writer/base/clock_uv.h"

#define TIMES 5u

/* Counts the loop's turns, and sets a timer of no delay from within its timer. */
struct world {
	uv_loop_t loop;
	uv_check_t check;
	struct clock_uv clock;
	struct clock_timer timer;
	unsigned turns, fired, turn_of[TIMES];
};

static void
count_turn(uv_check_t *check)
{
	((struct world *)check->data)->turns++;
}

static void
fire(void *context)
{
	struct world *w = context;

	w->turn_of[w->fired++] = w->turns;
	if (w->fired < TIMES)
		clock_set(&w->clock.clock, &w->timer, 0, fire, w);
}

static void
world_open(struct world *w)
{
	uv_loop_init(&w->loop);
	uv_check_init(&w->loop, &w->check);
	w->check.data = w;
	uv_check_start(&w->check, count_turn);
	uv_unref((uv_handle_t *)&w->check);
	clock_uv_init(&w->clock, &w->loop);
}

static void
world_close(struct world *w)
{
	clock_uv_close(&w->clock);
	uv_close((uv_handle_t *)&w->check, NULL);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
}

/* A timer without delay, set within a timer, fires in the loop's next turn, after its sockets. */
TEST_CASE(no_delay_means_the_next_turn_of_the_loop)
{
	struct world w = {0};

	world_open(&w);
	clock_set(&w.clock.clock, &w.timer, 0, fire, &w);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	assert_int_equal(w.fired, TIMES);
	for (unsigned i = 1; i < TIMES; i++)
		assert_int_equal(w.turn_of[i], w.turn_of[i - 1] + 1);
	world_close(&w);
}

/* A cleared timer does not fire, and the loop does not wait for it. */
TEST_CASE(a_cleared_timer_leaves_the_loop_nothing_to_do)
{
	struct world w = {0};

	world_open(&w);
	clock_set(&w.clock.clock, &w.timer, 0, fire, &w);
	clock_clear(&w.clock.clock, &w.timer);
	clock_set(&w.clock.clock, &w.timer, 3600000, fire, &w);
	clock_clear(&w.clock.clock, &w.timer);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	assert_int_equal(w.fired, 0);
	world_close(&w);
}
