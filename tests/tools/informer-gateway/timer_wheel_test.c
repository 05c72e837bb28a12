/* SPDX-License-Identifier: Apache-2.0 */
/* The timer wheel: each time comes once, not early, and only if it still stands. */
#include "tests/room.h"
#include "tests/support/test_clock.h"
#include "tools/informer-gateway/timer_wheel.h"

/* a step is looked at when it has passed, and the looks may lag behind by as much */
#define LATE_MS (2ull * GW_WHEEL_STEP_MS)

struct alarm {
	struct gw_wheel_time time;
	struct gw_wheel *wheel;
	uv_loop_t *loop;
	struct alarm *other; /* that is cleared when this one comes */
	unsigned came;
	bool again;
	uint64_t at_ms;
};

static void
come(struct gw_wheel_time *time)
{
	struct alarm *a = (struct alarm *)time; /* its first member */

	a->came++;
	a->at_ms = uv_now(a->loop);
	if (a->other)
		gw_wheel_clear(a->wheel, &a->other->time);
	if (a->again) {
		a->again = false;
		gw_wheel_set(a->wheel, &a->time, a->at_ms + 300);
	}
}

TEST_CASE(times_come_once_and_not_early)
{
	struct alarm a[5];
	uv_loop_t loop;
	struct gw_wheel *wheel;
	uint64_t begun;

	test_clock_stop();
	uv_loop_init(&loop);
	wheel = gw_wheel_new(&loop);
	for (unsigned i = 0; i < 5; i++)
		a[i] = (struct alarm){.time.due = come, .wheel = wheel, .loop = &loop};
	begun = uv_now(&loop);
	a[0].again = true;
	gw_wheel_set(wheel, &a[0].time, begun + 100);
	gw_wheel_set(wheel, &a[1].time, begun); /* is past */
	gw_wheel_set(wheel, &a[2].time, begun + 600000); /* is set anew */
	gw_wheel_set(wheel, &a[2].time, begun + 500);
	/* two in one slot, of which the first clears the other */
	gw_wheel_set(wheel, &a[3].time, begun + 700);
	gw_wheel_set(wheel, &a[4].time, begun + 700);
	a[3].other = &a[4];
	a[4].other = &a[3];
	test_clock_pass(&loop, 2000);
	assert_false(uv_loop_alive(&loop)); /* an empty wheel has no timer */
	assert_int_equal(a[0].came, 2);
	assert_int_equal(a[1].came, 1);
	assert_int_equal(a[2].came, 1);
	assert_in_range(a[0].at_ms, begun + 400, begun + 400 + 2 * LATE_MS);
	assert_in_range(a[2].at_ms, begun + 500, begun + 500 + LATE_MS);
	assert_int_equal(a[3].came + a[4].came, 1);
	gw_wheel_free(wheel);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}
