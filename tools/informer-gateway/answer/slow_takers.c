/* SPDX-License-Identifier: Apache-2.0 */
/* By when a stream gave something last, and how much in all; see slow_takers.h. */
#include "tools/informer-gateway/answer/slow_takers.h"

#define LEAST_BYTES_A_MS 16u
#define BRIEF 16u /* this part of stall_ms says nothing of how fast one is */

static bool
is_slow(const struct gw_body_reader *reader, uint64_t now)
{
	const struct gw_bodies *all = reader->body->bodies;
	uint64_t stall = all->router->options.stall_ms, since = gw_stream_blocked_since(reader->x),
		 age = now - reader->begun_ms;

	if (reader->dropped || since == 0 || since > now)
		return false;
	if (now - since >= stall)
		return true;
	return gw_bodies_are_full(all) && age >= stall && now - since >= stall / BRIEF &&
	       reader->x->sent < age * LEAST_BYTES_A_MS;
}

void
gw_slow_takers_drop(struct gw_body *body)
{
	uint64_t now = gw_bodies_now_ms(body->bodies);
	struct gw_body_reader *r;

	LIST_FOREACH (r, &body->readers, link) {
		if (!is_slow(r, now))
			continue;
		r->dropped = true;
		body->bodies->router->counters.lists_dropped++;
		gw_stream_drop(r->x);
	}
}
