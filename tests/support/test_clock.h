/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time that a test moves. The program has its own clock_gettime(), which libuv, libcurl and libmicrohttpd
 * call too. After test_clock_stop() all clocks of the process stand still; test_clock_pass() and
 * test_clock_move() move them. A timerfd set to a moment fires when these clocks reach it. A timeout of
 * poll() keeps the system's time.
 */
#ifndef TESTS_SUPPORT_TEST_CLOCK_H
#define TESTS_SUPPORT_TEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* Call before the loop is made. The CPU time clocks continue. */
void test_clock_stop(void);

/* Move only the clocks, stopped or not. From any thread. */
void test_clock_move(uint64_t ms);
void test_clock_move_ns(uint64_t ns);

/* From now on CLOCK_THREAD_CPUTIME_ID shows only the time that its thread passes to test_work(). */
void test_work_stop(void);
void test_work(uint64_t ns);

/*
 * Turn the loop, waiting at most 1 ms for I/O; false: none came. (uv_run(loop, UV_RUN_ONCE) would wait for
 * timers that never fire while the clocks stand.)
 */
bool test_loop_turn(uv_loop_t *loop);

/* Turn the loop until it is idle. */
void test_loop_drain(uv_loop_t *loop);
/* Drain the loop, then move the clocks from one of its timers to the next, and turn it at each. */
void test_clock_pass(uv_loop_t *loop, uint64_t ms);

/* More turns without I/O than any fact needs, under a sanitizer too. */
#define IDLE_TURNS_MAX 20000u

/* Turn the loop until the condition holds. */
#define test_loop_until(loop, condition)                                                                     \
	do {                                                                                                 \
		unsigned idle_turns = 0;                                                                     \
		while (!(condition)) {                                                                       \
			idle_turns += !test_loop_turn(loop);                                                 \
			if (idle_turns > IDLE_TURNS_MAX)                                                     \
				fail_msg("it never came true: %s", #condition);                              \
		}                                                                                            \
	} while (0)

#endif
