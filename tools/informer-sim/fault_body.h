/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of an answer's body: cut short, slow, frozen, with a byte that is wrong.
 */
#ifndef TOOLS_INFORMER_SIM_FAULT_BODY_H
#define TOOLS_INFORMER_SIM_FAULT_BODY_H

#include "tools/informer-sim/request.h"

/*
 * A response of what a reader gives, with request->fault done to it.
 *
 * size, told, cls, free_cls  as with sim_reply_reader()
 * Returns  the response, the caller's; NULL where there is none: then cls was freed
 */
struct MHD_Response *sim_fault_body(struct sim_request *request, uint64_t size, bool told,
				    MHD_ContentReaderCallback reader, void *cls,
				    MHD_ContentReaderFreeCallback free_cls);

#endif
