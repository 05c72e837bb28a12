/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for what a reader's connection, or another thread, brings about.
 */
#ifndef TESTS_SUPPORT_DISPATCH_H
#define TESTS_SUPPORT_DISPATCH_H

#include <sched.h>
#include <stdbool.h>

#include "reader-lib/informer.h"

/* Take what is there, without waiting. */
void dispatch_all(struct informer *inf);
/* As an event loop does: wait for news, at most 1 ms, and take all that is there. False: none came. */
bool dispatch_turn(struct informer *inf);

/* What informer_error_text() says has this in it. */
void assert_error_text(int code, const char *part);

/* A fact needs far fewer turns without news, under a sanitizer too. */
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

/* What other threads or processes bring about; the room ends a test that waits in vain. */
#define AWAIT(condition)                                                                                     \
	do {                                                                                                 \
		while (!(condition))                                                                         \
			sched_yield();                                                                       \
	} while (0)

#endif
