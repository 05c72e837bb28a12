/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a Reflector's backoff: returns the present wait and lengthens the next one. Random numbers
 * come from the clock, so that a test knows every wait.
 */
#include "writer/base/backoff.h"

struct backoff_pace
backoff_pace_filled(struct backoff_pace said)
{
	struct backoff_pace is = said;

	if (is.first_ms == 0)
		is.first_ms = BACKOFF_FIRST_MS;
	if (is.max_ms == 0)
		is.max_ms = BACKOFF_MAX_MS;
	if (is.reset_ms == 0)
		is.reset_ms = 2 * is.max_ms > BACKOFF_RESET_MS ? 2 * is.max_ms : BACKOFF_RESET_MS;
	return is;
}

uint64_t
backoff_next(struct backoff *b, struct clock *clock, uint64_t retry_after_ms)
{
	struct backoff_pace pace = backoff_pace_filled(b->pace);
	uint64_t now = clock->now_ms(clock), wait;

	if (b->step_ms == 0 || now - b->last_ms > pace.reset_ms)
		b->step_ms = pace.first_ms;
	else
		b->step_ms = b->step_ms * 2 < pace.max_ms ? b->step_ms * 2 : pace.max_ms;
	b->last_ms = now;
	if (retry_after_ms > BACKOFF_RETRY_AFTER_MAX_MS)
		retry_after_ms = BACKOFF_RETRY_AFTER_MAX_MS;
	wait = retry_after_ms > b->step_ms ? retry_after_ms : b->step_ms;
	return wait + clock->chance(clock, (uint32_t)b->step_ms + 1);
}
