/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backoff: how long to wait after a failure. Unless its pace says otherwise 0.8 s, doubling, at most 30 s,
 * each plus up to as much again by chance, so that a thousand nodes do not come back in step; from the start
 * again after two minutes without a failure.
 *
 * Source    client-go reflector.go, wait.Backoff{800ms, 2.0, 1.0, 30s} with a reset of 2min;
 *           better: Retry-After is honoured
 */
#ifndef WRITER_BASE_BACKOFF_H
#define WRITER_BASE_BACKOFF_H

#include "writer/base/clock.h"

#define BACKOFF_FIRST_MS   800u
#define BACKOFF_MAX_MS	   30000u
#define BACKOFF_RESET_MS   120000u
#define BACKOFF_RETRY_AFTER_MAX_MS 300000u

/* In milliseconds; 0 is what is usual. */
struct backoff_pace {
	uint64_t first_ms, max_ms;	/* waits, without chance */
	/* begin anew when the last wait began longer ago; usual: not less than two longest waits */
	uint64_t reset_ms;
};
/* The same with what is usual instead of 0. */
struct backoff_pace backoff_pace_filled(struct backoff_pace said);

/* Zeroed at first, but for its pace. */
struct backoff {
	struct backoff_pace pace;	/* may change at any time */
	uint64_t step_ms;	/* the last one, without jitter; 0: none yet */
	uint64_t last_ms;	/* when */
};

/*
 * The next wait, in milliseconds.
 *
 * retry_after_ms  what the server asked for, or 0; the wait is not shorter (a wish above five minutes is not
 *                 believed). Chance is added to it as well: a server that starts tells a thousand nodes the
 *                 same second
 */
uint64_t backoff_next(struct backoff *b, struct clock *clock, uint64_t retry_after_ms);

#endif
