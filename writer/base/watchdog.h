/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchdog: tells systemd that a loop turns, three times in each WatchdogSec. Without a watchdog for this
 * process (WATCHDOG_USEC, WATCHDOG_PID) nothing is sent.
 *
 * Source    sd_watchdog_enabled(3)
 */
#ifndef WRITER_BASE_WATCHDOG_H
#define WRITER_BASE_WATCHDOG_H

#include <uv.h>

/* Initialises the timer in any case; the caller closes it. It does not keep the loop alive. */
void watchdog_begin(uv_loop_t *loop, uv_timer_t *timer);

#endif
