/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiescence: whether the server has sent everything for now. Then every request in progress is a watch whose
 * events are all sent, or is held or frozen. A test checks it before it advances virtual time.
 *
 * Threads   any
 */
#ifndef TOOLS_INFORMER_SIM_QUIESCENCE_H
#define TOOLS_INFORMER_SIM_QUIESCENCE_H

#include "tools/informer-sim/sim_server.h"

struct sim_quiescence {
	bool at_rest;
	uint64_t begun;	    /* requests since the start */
	unsigned under_way; /* of these */
	unsigned watches;   /* of these */
	uint64_t given;     /* bytes sent so far in the bodies of open watches */
};

void
sim_server_quiescence(struct sim_server *server, struct sim_quiescence *ret_rest);

#endif
