/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. All are noted in the journal and counted, and carry the request's fault.
 */
#ifndef TOOLS_INFORMER_SIM_REPLY_H
#define TOOLS_INFORMER_SIM_REPLY_H

#include "tools/informer-sim/request.h"

/* Answer; the body is taken over. */
enum MHD_Result
sim_reply(struct sim_request *request, unsigned code, const char *content_type, struct api_buf *body);
/* Answer with request->api.status. */
enum MHD_Result
sim_reply_status(struct sim_request *request);
/* Answer with an object, in the shape that was asked for. */
enum MHD_Result
sim_reply_object(struct sim_request *request, unsigned code, struct api_object *object, uint64_t rv);
/* Answer with a response made by the caller, which is given up here. */
enum MHD_Result sim_reply_response(struct sim_request *request, unsigned code, const char *content_type,
				   struct MHD_Response *response);

/*
 * Answer with what a reader gives; `cls` is freed by `free_cls`, also on failure.
 *
 * size  of it all, or MHD_SIZE_UNKNOWN where neither a fault nor gzip needs it
 * told  send the size ahead, as Content-Length; else in chunks
 */
enum MHD_Result sim_reply_reader(struct sim_request *request, unsigned code, const char *content_type,
				 uint64_t size, bool told, MHD_ContentReaderCallback reader, void *cls,
				 MHD_ContentReaderFreeCallback free_cls);

/* Does the client take gzip? Then readers are asked for their size. */
bool
sim_reply_may_gzip(const struct sim_request *request);

#endif
