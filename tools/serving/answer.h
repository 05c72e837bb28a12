/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole answers: complete bodies for an object, a failure, or an unknown resource. Each function appends a
 * body and returns its content type.
 */
#ifndef TOOLS_SERVING_ANSWER_H
#define TOOLS_SERVING_ANSWER_H

#include "tools/serving/api_request.h"

/* Append request->status, in the client's preferred syntax, always as a plain Status. */
const char *api_answer_status(const struct api_request *request, struct api_buf *body);

/*
 * Append an object in the requested shape.
 *
 * rv  the RV to show; 0: its own
 */
const char *api_answer_object(const struct api_request *request, struct api_object *object, uint64_t rv,
			      struct api_buf *body);

/*
 * Append a 404 for a path whose resource is not served. Like upstream, the body depends on the path: a Status
 * for built-in groups, plain text for others.
 */
const char *api_answer_no_resource(struct api_request *request, const struct api_registry *registry,
				   struct api_buf *body);

/* Fill the status with 405. Returns -EINVAL. */
int api_status_no_method(struct api_status *status);

/* Content type of a list or a watch in the request's shape. */
const char *api_answer_type(const struct api_request *request, bool watch);

#endif
