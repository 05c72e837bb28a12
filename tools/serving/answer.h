/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole answers: an object, a failure, and the words for what there is not. Each appends a body and returns
 * the type of its content.
 */
#ifndef TOOLS_SERVING_ANSWER_H
#define TOOLS_SERVING_ANSWER_H

#include "tools/serving/api_request.h"

/* request->status, in the client's first choice of syntax, but never in the shape of an object. */
const char *api_answer_status(const struct api_request *request, struct api_buf *body);

/*
 * An object in the shape that was asked for.
 *
 * rv  that it shows; 0: its own
 */
const char *api_answer_object(const struct api_request *request, struct api_object *object, uint64_t rv,
			      struct api_buf *body);

/*
 * 404 for a path that names no resource that is served. Of a group that is not built in upstream has other
 * words than a Status, for another server of its has those.
 */
const char *api_answer_no_resource(struct api_request *request, const struct api_registry *registry,
				   struct api_buf *body);

/* Fill the status: 405. Returns -EINVAL. */
int api_status_no_method(struct api_status *status);

/* The type of a list's or a watch's content in the request's shape. */
const char *api_answer_type(const struct api_request *request, bool watch);

#endif
