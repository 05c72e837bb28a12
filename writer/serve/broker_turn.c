/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of one turn of the loop the clients get: TURN_NS from the first one on, for the same turn hears
 * the API server, commits and wakes. A client that comes later in the turn is put off: the next turn tells of
 * it again.
 *
 * A round is the turns until nobody was put off. Each client is heard once a round, and so is the listener:
 * clients that ask without pause take turns with all the others.
 */
#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"

#define TURN_NS 100000u

bool
turn_has_room(struct broker *b)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);

	if (b->turn_until_ns == 0)
		b->turn_until_ns = now + TURN_NS;
	if (now < b->turn_until_ns)
		return true;
	b->put_off = true;
	return false;
}

bool
turn_takes(struct broker *b, uint64_t *round)
{
	if (*round == b->round || !turn_has_room(b))
		return false;
	*round = b->round;
	return true;
}

static void
on_turn(uv_prepare_t *turn)
{
	struct broker *b = turn->data;

	if (!b->put_off)
		b->round++;
	b->put_off = false;
	b->turn_until_ns = 0;
}

void
turn_open(struct broker *b)
{
	b->round = 1;
	uv_prepare_init(b->loop, &b->turn);
	b->turn.data = b;
	b->open_handles++;
	uv_prepare_start(&b->turn, on_turn);
}

void
turn_close(struct broker *b)
{
	uv_close((uv_handle_t *)&b->turn, broker_on_closed);
}
