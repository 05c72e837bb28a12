/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock that libinformer reads, in a program that the linker is told to wrap clock_gettime() in. It is
 * the system's until a test moves or stops it. What waits in the kernel (poll, timers) keeps the system's
 * time.
 */
#ifndef TESTS_SUPPORT_MOVED_CLOCK_H
#define TESTS_SUPPORT_MOVED_CLOCK_H

#include <stdint.h>

/* All clocks are so much further ahead from now on. From any thread. */
void moved_clock_advance(uint64_t ns);

/* All clocks stand, for good. */
void moved_clock_stop(void);

#endif
