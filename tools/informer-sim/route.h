/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a request's handler by path and method. */
#ifndef TOOLS_INFORMER_SIM_ROUTE_H
#define TOOLS_INFORMER_SIM_ROUTE_H

#include "tools/informer-sim/request.h"

/* Find the handler of a complete request and answer it. */
enum MHD_Result
sim_route(struct sim_request *request);

#endif
