/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for facts that a reader's connection or another thread brings about. */
#ifndef TESTS_SUPPORT_DISPATCH_H
#define TESTS_SUPPORT_DISPATCH_H

#include <sched.h>
#include <stdbool.h>

#include "reader-lib/informer.h"

/* Dispatch everything that is there, without waiting. */
void dispatch_all(struct informer *inf);
/* Wait for news, at most 1 ms, and dispatch all of it, as an event loop does. False: none came. */
bool dispatch_turn(struct informer *inf);

/* Dispatch until the handle is connected, or is not. */
void dispatch_until_connected(struct informer *inf, bool connected);

/* informer_error_text() contains this part. */
void assert_error_text(int code, const char *part);

/* More turns without news than any fact needs, under a sanitizer too. */
#define DISPATCH_IDLE_MAX 20000u

#define DISPATCH_UNTIL(inf, condition)                                                                       \
	do {                                                                                                 \
		unsigned idle_turns = 0;                                                                     \
		while (!(condition)) {                                                                       \
			idle_turns += !dispatch_turn(inf);                                                   \
			if (idle_turns > DISPATCH_IDLE_MAX)                                                  \
				fail_msg("it never came true: %s", #condition);                              \
		}                                                                                            \
	} while (0)

/* Wait for a fact of another thread or process. The room ends a test that waits too long. */
#define AWAIT(condition)                                                                                     \
	do {                                                                                                 \
		while (!(condition))                                                                         \
			sched_yield();                                                                       \
	} while (0)

#endif
