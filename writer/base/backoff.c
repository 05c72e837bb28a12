/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a Reflector's backoff: the delay that is due now, and the next one made longer. Chance comes
 * from the clock, so that a test knows every jitter.
 */
#include "writer/base/backoff.h"

uint64_t
backoff_next(struct backoff *b, struct clock *clock, uint64_t retry_after_ms)
{
	uint64_t now = clock->now_ms(clock), wait;

	if (b->step_ms == 0 || now - b->last_ms > BACKOFF_RESET_MS)
		b->step_ms = BACKOFF_FIRST_MS;
	else
		b->step_ms = b->step_ms * 2 < BACKOFF_MAX_MS ? b->step_ms * 2 : BACKOFF_MAX_MS;
	b->last_ms = now;
	if (retry_after_ms > BACKOFF_RETRY_AFTER_MAX_MS)
		retry_after_ms = BACKOFF_RETRY_AFTER_MAX_MS;
	wait = retry_after_ms > b->step_ms ? retry_after_ms : b->step_ms;
	return wait + clock->chance(clock, (uint32_t)b->step_ms + 1);
}
