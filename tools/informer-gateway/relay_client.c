/* SPDX-License-Identifier: Apache-2.0 */
/* Which stream is asked to end; see relay_client.h. */
#include "tools/informer-gateway/relay_client.h"

#include "tools/informer-gateway/exchange_private.h"

unsigned
gw_relay_clients(const struct gw_front *front)
{
	unsigned count = 0;

	for (const struct gw_client *c = front->clients; c; c = c->next)
		if (c->x && gw_exchange_may_move(c->x))
			count++;
	return count;
}

bool
gw_relay_client_move(const struct gw_front *front, uint64_t grace_ms)
{
	struct gw_exchange *oldest = NULL;
	uint64_t now = uv_hrtime();

	for (const struct gw_client *c = front->clients; c; c = c->next)
		if (c->x && gw_exchange_may_move(c->x) && gw_exchange_is_settled(c->x) &&
		    now - c->x->begun_ns >= grace_ms * 1000000u &&
		    (!oldest || c->x->begun_ns < oldest->begun_ns))
			oldest = c->x;
	if (oldest)
		gw_exchange_move(oldest);
	return oldest != NULL;
}
