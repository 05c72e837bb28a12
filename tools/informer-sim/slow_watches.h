/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow watches: a thread that cuts off watches whose client reads so slowly that the ring of events has moved
 * past them. Their own threads are blocked in send() and cannot notice.
 */
#ifndef TOOLS_INFORMER_SIM_SLOW_WATCHES_H
#define TOOLS_INFORMER_SIM_SLOW_WATCHES_H

#include "tools/informer-sim/sim_server.h"

enum sim_doing {
	SIM_BUSY,
	SIM_WAITING, /* for an event */
	SIM_FROZEN,  /* until the client disconnects */
};

/* One open watch, as the slow-watch thread sees it. */
struct sim_watch {
	struct sim_watch *next, **link;
	const struct api_resource *resource;
	_Atomic uint64_t position; /* in the ring */
	_Atomic unsigned rules;    /* version of the fault rules at the last check */
	_Atomic uint64_t given;    /* bytes of its body */
	_Atomic enum sim_doing doing;
	int socket;
	bool cut;
};

void
sim_slow_watches_start(struct sim_server *server);
void
sim_slow_watches_stop(struct sim_server *server);
/* Register and unregister a watch; its socket must stay open in between. */
void
sim_slow_watches_add(struct sim_server *server, struct sim_watch *watch);
void
sim_slow_watches_remove(struct sim_server *server, struct sim_watch *watch);

#endif
