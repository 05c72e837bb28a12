/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the counts of both sides. When requests and bytes are equal, nothing is on its way. */
#include "tests/conversations/settle.h"

#include <errno.h>
#include <time.h>

#include "shm-layout/time_ns.h"

#define SETTLE_LIMIT_NS 20000000000u
#define STEP_NS     100000

static bool
is_at_rest(struct settling *s)
{
	uint64_t begun = 0, taken = 0;
	unsigned under_way = 0;
	int64_t surplus;
	struct sim_quiescence server;

	talk_server_rest(s->server, &server);
	for (size_t i = 0; i < s->count; i++) {
		struct talk_client_wire wire;

		talk_client_wire(s->clients[i], &wire);
		if (wire.due)
			return false;
		begun += wire.begun;
		under_way += wire.under_way;
		taken += wire.taken;
	}
	surplus = (int64_t)server.begun - (int64_t)begun;
	if (talk_server_is_down(s->server) && under_way == 0 && server.under_way == 0)
		s->unheard += surplus < s->surplus ? (uint64_t)(s->surplus - surplus) : 0;
	else if (!server.at_rest || server.under_way != under_way || surplus < s->surplus ||
		 server.given != taken)
		return false;
	s->surplus = surplus;
	return true;
}

int
settle(struct settling *s)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	uint64_t until = time_ns(CLOCK_MONOTONIC) + SETTLE_LIMIT_NS;

	for (;;) {
		uv_run(s->loop, UV_RUN_NOWAIT);
		for (size_t i = 0; i < s->count; i++)
			talk_client_turn(s->clients[i]);
		if (is_at_rest(s))
			return 0;
		if (time_ns(CLOCK_MONOTONIC) > until)
			return -ETIMEDOUT;
		nanosleep(&step, NULL);
	}
}
