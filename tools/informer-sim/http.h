/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server: a libmicrohttpd daemon with one thread per connection, so that a handler may block (a quiet
 * watch, a list at a future RV).
 */
#ifndef TOOLS_INFORMER_SIM_HTTP_H
#define TOOLS_INFORMER_SIM_HTTP_H

#include "tools/informer-sim/request.h"

/*
 * Start serving. The server's registry, store, options, faults and churn must be set, the rest zero.
 *
 * answer   answers a complete, authenticated request; called on its connection's thread
 * Returns  0, or negative errno with a message on stderr
 */
int
sim_server_start(struct sim_server *server, enum MHD_Result (*answer)(struct sim_request *request));
/* Stop, and wait until every request has ended. */
void
sim_server_stop(struct sim_server *server);

#endif
