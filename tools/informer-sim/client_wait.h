/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting on behalf of a client: no longer than it is there.
 *
 * Threads   any
 */
#ifndef TOOLS_INFORMER_SIM_CLIENT_WAIT_H
#define TOOLS_INFORMER_SIM_CLIENT_WAIT_H

#include <stdbool.h>

#include "tools/informer-sim/sim_server.h"

/* Has the client gone? */
bool
sim_hung_up(int socket);
/*
 * Sleep; ends early when the server stops or the client goes. ms 0: only then. Returns false in these
 * cases.
 */
bool
sim_fault_sleep(struct sim_server *server, int socket, unsigned ms);
#endif
