/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time that a test moves. The program has a clock_gettime() of its own, which libuv, libcurl and
 * libmicrohttpd call too. After test_clock_stop() all clocks of the process stand still; test_clock_pass()
 * and test_clock_move() move them. timerfds that were set to a moment fire when these clocks come to it. A
 * timeout of poll() keeps the system's time.
 */
#ifndef TESTS_SUPPORT_TEST_CLOCK_H
#define TESTS_SUPPORT_TEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* Before the loop is made. CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID go on. */
void test_clock_stop(void);

/* Move the clocks alone, whether they stand or not. From any thread. */
void test_clock_move(uint64_t ms);
void test_clock_move_ns(uint64_t ns);

/* From now on CLOCK_THREAD_CPUTIME_ID shows only what its thread gives to test_work(). */
void test_work_stop(void);
void test_work(uint64_t ns);

/* uv_run(loop, UV_RUN_ONCE) would wait for timers that never fire while the clocks stand. This waits for I/O
 * alone, at most 1 ms, and returns false when none came. */
bool test_loop_turn(uv_loop_t *loop);

/* Turn the loop until it has nothing to do. */
void test_loop_drain(uv_loop_t *loop);
/* Settle, then move the clocks by this much, from one of the loop's timers to the next, and turn the loop at
 * each. */
void test_clock_pass(uv_loop_t *loop, uint64_t ms);

/* A fact needs far fewer turns without I/O, under a sanitizer too. */
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
