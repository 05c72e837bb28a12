/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP side: one libmicrohttpd daemon with a thread for each connection, so that a handler may simply
 * block (a quiet watch, a list at a future RV).
 */
#ifndef TOOLS_INFORMER_SIM_HTTP_H
#define TOOLS_INFORMER_SIM_HTTP_H

#include "tools/informer-sim/request.h"

/*
 * Start serving. The server's registry, store, options, faults and churn are set, the rest zero.
 *
 * answer   answers a whole request whose client may ask; called on its connection's thread
 * Returns  0, or negative errno with a message on stderr
 */
int
sim_server_start(struct sim_server *server, enum MHD_Result (*answer)(struct sim_request *request));
/* Stop, waiting for every request to end. */
void
sim_server_stop(struct sim_server *server);

#endif
