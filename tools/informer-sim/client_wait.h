/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a client's request, at most as long as the client stays connected.
 *
 * Threads   any
 */
#ifndef TOOLS_INFORMER_SIM_CLIENT_WAIT_H
#define TOOLS_INFORMER_SIM_CLIENT_WAIT_H

#include <stdbool.h>

#include "tools/informer-sim/sim_server.h"

/* Whether the client has disconnected. */
bool
sim_hung_up(int socket);
/* Sleep for ms; 0: no limit. Returns false early if the server stops or the client disconnects. */
bool
sim_fault_sleep(struct sim_server *server, int socket, unsigned ms);
#endif
