/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up counters of the server, under its lock, and of the watches; see quiescence.h. */
#include "tools/informer-sim/quiescence.h"

#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/slow_watches.h"

/* Whether a watch waits and has seen all events and rules. */
static bool
is_resting(struct sim_server *server, const struct sim_watch *watch)
{
	return atomic_load(&watch->doing) == SIM_WAITING &&
	       atomic_load(&watch->position) >= sim_store_end(server->store, watch->resource) &&
	       atomic_load(&watch->rules) == sim_faults_version(server->faults);
}

void
sim_server_quiescence(struct sim_server *server, struct sim_quiescence *ret_rest)
{
	unsigned resting = sim_holds_count(server->holds), busy = 0;

	*ret_rest = (struct sim_quiescence){0};
	pthread_mutex_lock(&server->lock);
	ret_rest->begun = server->begun;
	ret_rest->under_way = server->under_way;
	ret_rest->watches = server->watch_count;
	resting += server->frozen;
	for (const struct sim_watch *watch = server->watches; watch; watch = watch->next) {
		bool rests = is_resting(server, watch);

		resting += rests;
		/* some of these have ended but are still listed */
		busy += !rests && atomic_load(&watch->doing) != SIM_FROZEN;
		ret_rest->given += atomic_load(&watch->given);
	}
	pthread_mutex_unlock(&server->lock);
	ret_rest->at_rest = resting == ret_rest->under_way && busy == 0;
}
