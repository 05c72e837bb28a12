/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiescence: whether the server has said all that there is to say for now. Every request under way is then
 * a watch whose events were all sent, or one that is held or frozen. A test looks at it before it lets
 * virtual time pass.
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
	uint64_t given;	    /* bytes that the bodies of the open watches have so far */
};

void
sim_server_quiescence(struct sim_server *server, struct sim_quiescence *ret_rest);

#endif
