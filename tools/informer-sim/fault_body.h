/* SPDX-License-Identifier: Apache-2.0 */
/* Body faults: an answer's body that is cut short, slow, frozen, or has a wrong byte. */
#ifndef TOOLS_INFORMER_SIM_FAULT_BODY_H
#define TOOLS_INFORMER_SIM_FAULT_BODY_H

#include "tools/informer-sim/request.h"

/*
 * Make a response from a reader, with request->fault applied.
 *
 * size, told, cls, free_cls  as with sim_reply_reader()
 * Returns  the response, owned by the caller; NULL on failure: cls is then freed
 */
struct MHD_Response *sim_fault_body(struct sim_request *request, uint64_t size, bool told,
				    MHD_ContentReaderCallback reader, void *cls,
				    MHD_ContentReaderFreeCallback free_cls);

#endif
