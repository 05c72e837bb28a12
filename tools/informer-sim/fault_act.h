/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults as they are done to a request that has just come. fault_body.c does those of an answer's body,
 * watch_fault.c those of a watch.
 */
#ifndef TOOLS_INFORMER_SIM_FAULT_ACT_H
#define TOOLS_INFORMER_SIM_FAULT_ACT_H

#include "tools/informer-sim/request.h"

/*
 * Ask the rules about a request whose resource and name are known, and do what they say.
 *
 * Returns  whether the request was dealt with; else go on, with request->fault, ->stale and ->page filled
 */
bool
sim_fault_request(struct sim_request *request, enum MHD_Result *ret_result);

/* request->stale RVs ago, but what can still be served. */
uint64_t
sim_fault_stale_rv(const struct sim_request *request);
/* Fill the status that a fault of kind STATUS, GONE or TOO_LARGE answers. rv: what the client asked for. */
void sim_fault_status(struct sim_server *server, const struct sim_fault *fault,
		      const struct api_resource *resource, const char *verb, const char *rv,
		      struct api_status *status);
/* Go back by so many RVs, as far as the history allows. */
void
sim_fault_restore(struct sim_server *server, uint64_t back);

#endif
