/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults as they are done: to a request that has just come, and to the body of its answer. watch_fault.c does
 * those of a watch.
 */
#ifndef TOOLS_INFORMER_SIM_FAULT_ACT_H
#define TOOLS_INFORMER_SIM_FAULT_ACT_H

#include "tools/informer-sim/sim_server.h"

/*
 * Ask the rules about a request whose resource and name are known, and do what they say.
 *
 * Returns  whether the request was dealt with; else go on, with request->fault, ->stale and ->page filled
 */
bool
sim_fault_request(struct sim_request *request, enum MHD_Result *ret_result);

/* As sim_reply_reader(), with request->fault done to the body. */
enum MHD_Result sim_fault_reply(struct sim_request *request, unsigned code, const char *content_type,
				uint64_t size, bool told, MHD_ContentReaderCallback reader, void *cls,
				MHD_ContentReaderFreeCallback free_cls);

/* request->stale RVs ago, but what can still be served. */
uint64_t
sim_fault_stale_rv(const struct sim_request *request);
/* Fill the status that a fault of kind STATUS, GONE or TOO_LARGE answers. rv: what the client asked for. */
void sim_fault_status(struct sim_server *server, const struct sim_fault *fault,
		      const struct sim_resource *resource, const char *verb, const char *rv,
		      struct sim_status *status);
/* Go back by so many RVs, as far as the history allows. */
void
sim_fault_restore(struct sim_server *server, uint64_t back);

/*
 * Sleep; ends early when the server stops or the client goes. ms 0: only then. Returns false in these
 * cases.
 */
bool
sim_fault_sleep(struct sim_server *server, int socket, unsigned ms);
/* Has the client gone? */
bool
sim_hung_up(int socket);

#endif
