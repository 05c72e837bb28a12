/* SPDX-License-Identifier: Apache-2.0 */
/* Fault actions on a new request. fault_body.c has the faults of bodies, watch_fault.c those of watches. */
#ifndef TOOLS_INFORMER_SIM_FAULT_ACT_H
#define TOOLS_INFORMER_SIM_FAULT_ACT_H

#include "tools/informer-sim/request.h"

/*
 * Check the rules for a request whose resource and name are known, and act.
 *
 * Returns  true: the request is finished; false: continue, with request->fault, ->stale and ->page set
 */
bool
sim_fault_request(struct sim_request *request, enum MHD_Result *ret_result);

/* The RV that is request->stale RVs old, or the oldest that can be served. */
uint64_t
sim_fault_stale_rv(const struct sim_request *request);
/* Fill the status of a STATUS, GONE or TOO_LARGE fault. rv: the RV the client asked for. */
void sim_fault_status(struct sim_server *server, const struct sim_fault *fault,
		      const struct api_resource *resource, const char *verb, const char *rv,
		      struct api_status *status);
/* Restore the state `back` RVs ago, as far as the history reaches. */
void
sim_fault_restore(struct sim_server *server, uint64_t back);

#endif
