/* SPDX-License-Identifier: Apache-2.0 */
/* Reply: answers a request. Each answer is counted, written to the journal, and gets the request's fault. */
#ifndef TOOLS_INFORMER_SIM_REPLY_H
#define TOOLS_INFORMER_SIM_REPLY_H

#include "tools/informer-sim/request.h"

/* Answer; takes over the body. */
enum MHD_Result
sim_reply(struct sim_request *request, unsigned code, const char *content_type, struct api_buf *body);
/* Answer with request->api.status. */
enum MHD_Result
sim_reply_status(struct sim_request *request);
/* Answer with an object in the requested shape. */
enum MHD_Result
sim_reply_object(struct sim_request *request, unsigned code, struct api_object *object, uint64_t rv);
/* Answer with the caller's response; takes it over. */
enum MHD_Result sim_reply_response(struct sim_request *request, unsigned code, const char *content_type,
				   struct MHD_Response *response);

/*
 * Answer with a reader's bytes; `free_cls` frees `cls`, also on failure.
 *
 * size  of the whole body; MHD_SIZE_UNKNOWN if neither a fault nor gzip needs it
 * told  send the size as Content-Length; else send chunks
 */
enum MHD_Result sim_reply_reader(struct sim_request *request, unsigned code, const char *content_type,
				 uint64_t size, bool told, MHD_ContentReaderCallback reader, void *cls,
				 MHD_ContentReaderFreeCallback free_cls);

/* Whether the client accepts gzip; readers then need their size. */
bool
sim_reply_may_gzip(const struct sim_request *request);

#endif
