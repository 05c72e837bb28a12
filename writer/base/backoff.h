/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backoff: how long to wait after a failure. By default 0.8 s, doubling up to 30 s. A random part, up to the
 * same length, is added to each wait, so that a thousand nodes do not return at the same time. After two
 * minutes without a failure the waits begin anew.
 *
 * Source    client-go reflector.go, wait.Backoff{800ms, 2.0, 1.0, 30s} with a reset of 2min. Different:
 *           Retry-After is honoured
 */
#ifndef WRITER_BASE_BACKOFF_H
#define WRITER_BASE_BACKOFF_H

#include "writer/base/clock.h"

#define BACKOFF_FIRST_MS   800u
#define BACKOFF_MAX_MS	   30000u
#define BACKOFF_RESET_MS   120000u
#define BACKOFF_RETRY_AFTER_MAX_MS 300000u

/* In milliseconds; 0 means the default. */
struct backoff_pace {
	uint64_t first_ms, max_ms; /* first and longest wait, without the random part */
	/*
	 * start again with first_ms if the last wait began longer ago; by default at least two longest waits
	 */
	uint64_t reset_ms;
};
/* The same with defaults in place of 0. */
struct backoff_pace backoff_pace_filled(struct backoff_pace said);

/* Zeroed at first, except its pace. */
struct backoff {
	struct backoff_pace pace;	/* may change at any time */
	uint64_t step_ms;               /* the last wait, without the random part; 0: none yet */
	uint64_t last_ms;               /* when it began */
};

/*
 * The next wait, in milliseconds.
 *
 * retry_after_ms  what the server asked for, or 0; the wait is not shorter, except that more than five
 *                 minutes count as five. A random part is added to it too: a starting server tells a
 *                 thousand nodes the same second.
 */
uint64_t backoff_next(struct backoff *b, struct clock *clock, uint64_t retry_after_ms);

#endif
