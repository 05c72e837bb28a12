/* SPDX-License-Identifier: Apache-2.0 */
/* From a request's path and method to the handler that answers it. */
#ifndef TOOLS_INFORMER_SIM_ROUTE_H
#define TOOLS_INFORMER_SIM_ROUTE_H

#include "tools/informer-sim/request.h"

/* Find the handler of a complete request and answer it. */
enum MHD_Result
sim_route(struct sim_request *request);

#endif
