/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop is to tell the broker of, and when: connections, packets, and that it is time to look at the
 * clients. Any of its files may ask for that; what is done then is not known here, for those above handed it
 * down (broker.c, broker_client.c).
 */
#include "writer/serve/broker_internal.h"

#define CLOCK_MS 1000

void
broker_listen(struct broker *b)
{
	if (!uv_is_active((uv_handle_t *)&b->listener))
		uv_poll_start(&b->listener, UV_READABLE, b->on_connection);
}

void
broker_look_later(struct broker *b)
{
	if (!uv_is_active((uv_handle_t *)&b->clock))
		uv_timer_start(&b->clock, b->on_clock, CLOCK_MS, CLOCK_MS);
}

void
broker_look_at_clients(struct broker *b)
{
	uv_timer_start(&b->clock, b->on_clock, 0, CLOCK_MS);
}

void
client_listen(struct client *c, int events)
{
	uv_poll_start(&c->poll, events | UV_DISCONNECT, c->on_packet);
}

void
client_set_deadline(struct client *c)
{
	c->deadline_ms = uv_now(c->broker->loop) + BROKER_DEADLINE_MS;
	broker_look_later(c->broker);
}
